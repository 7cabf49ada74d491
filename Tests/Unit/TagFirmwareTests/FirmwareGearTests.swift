import JacquardProtocol
import TagFirmware
import Testing

@Suite("Firmware: gear")
struct FirmwareGearTests {
    @Test("returns device information of gear for the gear's number")
    func deviceInformation() throws {
        var bench = try Bench(gear: "jacket")
        try bench.send([0x08, 0x08, 0x10, 0x04, 0x18, 0x01, 0x20, 0x65, 0xBA, 0x06, 0x02, 0x08, 0x65])
        let answer = try Response.decode(try #require(bench.responses.first)[...])
        #expect(answer.componentID == 101)
        guard case .deviceInfo(let body) = answer.body else {
            Issue.record("no device information")
            return
        }
        #expect(body.vendor == "Levi's")
        #expect(body.firmware == FirmwareVersion(1, 2, 3))
        #expect(body.uuid == "jacket-003R")
    }

    @Test("switches between gestures and touches, and returns both streams")
    func touchMode() throws {
        var bench = try Bench(gear: "jacket")
        try bench.send([0x08, 0x08, 0x10, 0x07, 0x18, 0x01, 0x20, 0x65, 0xDA, 0x38, 0x04, 0x08, 0x00, 0x10, 0x01])
        #expect(
            Array(try #require(bench.responses.first).prefix(13)) == [
                0x08, 0x01, 0x10, 0x00, 0x18, 0x65, 0xDA, 0x38, 0x26, 0x08, 0x00, 0x10, 0x01,
            ])
        #expect(bench.others == [.effect(.touchMode(.continuous))])
        #expect(bench.firmware.gear?.touchMode == .continuous)
    }

    @Test("plays on the gear's LED and motor")
    func play() throws {
        var bench = try Bench(gear: "backpack")
        // 200 ms on, 100 ms off, sine up, 60 %, three plays
        try bench.send([
            0x08, 0x08, 0x10, 0x06, 0x18, 0x01, 0x20, 0x65, 0xD2, 0x38, 0x0D, 0x0A, 0x0B, 0x08, 0xC8, 0x01, 0x10,
            0x64, 0x18, 0x01, 0x20, 0x3C, 0x28, 0x02,
        ])
        let haptic = HapticPattern(
            symbol: .sineIncrease, onMilliseconds: 200, offMilliseconds: 100, maxAmplitudePercent: 60,
            repeatNMinusOne: 2)
        #expect(bench.others == [.effect(.haptic(haptic))])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x65, 0xD2, 0x38, 0x00]])
        let led = LEDPattern.predefined(.pulsing, color: .white, durationMilliseconds: 500)
        #expect(try bench.request(.playLED(led, onGear: 101)).status == .ok)
        #expect(bench.others.last == .effect(.led(led, on: .gear)))
    }

    @Test("rejects unsupported requests to gear with status 1")
    func capabilities() throws {
        var jacket = try Bench(gear: "jacket")
        #expect(try jacket.request(.playLED(.haltAll, onGear: 101)).status == .unsupported)
        var unknown = try Bench(gear: "unknown")
        #expect(try unknown.request(.playHaptic(.stop, component: 101)).status == .unsupported)
    }

    @Test("rejects values out of range, or for other gear, with status 2")
    func badParameters() throws {
        var bench = try Bench(gear: "jacket")
        var haptic = HapticRequest(.stop)
        haptic.symbol?.maxAmplitudePercent = 101
        let request = Request(domain: .gear, opcode: .gearHaptic, componentID: 101, body: .haptic(haptic))
        #expect(try bench.request(request).status == .badParameter)
        #expect(try bench.request(.playHaptic(.stop, component: 7)).status == .badParameter)
        #expect(bench.others.isEmpty)
    }

    @Test("rejects requests with status 7 without gear")
    func nothingAttached() throws {
        var bench = try Bench()
        #expect(try bench.request(.touchMode(.gesture, component: 101)).status == .invalidState)
    }

    @Test("names the catalogue's gear, and one that the catalogue lacks")
    func words() {
        let words = Set(SimulatedGear.all.map(\.word))
        #expect(words == ["jacket", "backpack", "konnect-i", "patch-a0", "patch-b0", "unknown"])
        #expect(SimulatedGear(word: "jacket")?.product.product.name == "Trucker Jacket")
        #expect(SimulatedGear(word: "hat") == nil)
    }
}
