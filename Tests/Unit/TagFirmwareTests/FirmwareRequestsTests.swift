import JacquardProtocol
import TagFirmware
import Testing

/// Packets in and out as bytes; the requests are those of the protocol article's table.
@Suite("Firmware: requests to the tag")
struct FirmwareRequestsTests {
    @Test("answers hello with protocol 2 to 2, vendor, model and both numbers")
    func hello() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x01, 0x18, 0x01])
        let parts: [[UInt8]] = [
            [0x08, 0x01, 0x10, 0x00, 0x18, 0x00],  // id 1, status 0, component 0
            [0xA2, 0x06, 0x22, 0x08, 0x02, 0x10, 0x02],  // body 100: protocols
            [0x1A, 0x0B], Array("Google Inc.".utf8), [0x22, 0x03], Array("UJT".utf8),
            [0x30, 0xC8, 0xE1, 0xE0, 0x8B, 0x01, 0x38, 0xA0, 0xCF, 0xEF, 0xC1, 0x02],
        ]
        #expect(bench.responses == [Array(parts.joined())])
    }

    @Test("answers begin with an empty body")
    func begin() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x02, 0x18, 0x01, 0xAA, 0x06, 0x02, 0x08, 0x02])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xAA, 0x06, 0x00]])
    }

    @Test("refuses another protocol version")
    func wrongVersion() throws {
        var bench = try Bench()
        #expect(try bench.request(.begin(protocolVersion: 1)).status == .badParameter)
    }

    @Test("returns device information in two fragments, as a real tag does")
    func deviceInformation() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x04, 0x18, 0x01, 0x20, 0x00, 0xBA, 0x06, 0x02, 0x08, 0x00])
        let uuid = Array("0-07-9324FLHBK0003R-1903".utf8)
        let parts: [[UInt8]] = [
            [0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xBA, 0x06, 0x46],
            [0x0A, 0x0B], Array("Google Inc.".utf8), [0x12, 0x03], Array("UJT".utf8), [0x18, 0x04], [0x22, 0x18], uuid,
            [0x28, 0x01, 0x30, 0x60, 0x38, 0x00],  // firmware 1.96.0
            [0x40, 0x01, 0x48, 0x00, 0x50, 0x00],  // bootloader 1.0.0
            [0x58, 0xC8, 0xE1, 0xE0, 0x8B, 0x01, 0x60, 0xA0, 0xCF, 0xEF, 0xC1, 0x02],
        ]
        #expect(bench.responses == [Array(parts.joined())])
    }

    @Test("returns the requested parts of the battery")
    func battery() throws {
        var bench = try Bench()
        try bench.send([0x08, 0x00, 0x10, 0x17, 0x18, 0x01, 0xCA, 0x07, 0x04, 0x08, 0x01, 0x10, 0x01])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x00, 0xCA, 0x07, 0x04, 0x08, 0x57, 0x10, 0x02]])
        let levelOnly = BatteryStatusRequest(readsLevel: true, readsChargingStatus: false)
        let answer = try bench.request(
            Request(domain: .base, opcode: .batteryStatus, body: .batteryStatus(levelOnly)))
        #expect(
            answer.body
                == .batteryStatus(
                    {
                        var body = BatteryStatusReport(); body.level = 87; return body
                    }()))
    }

    @Test("plays a pattern on its LED and reports the command")
    func led() throws {
        var bench = try Bench()
        try bench.send([
            0x08, 0x00, 0x10, 0x11, 0x18, 0x01, 0x20, 0x00, 0xB2, 0x07, 0x1B, 0x10, 0x01, 0x1A, 0x0C, 0x0A, 0x07,
            0x08, 0xFF, 0x01, 0x10, 0x00, 0x18, 0x00, 0x10, 0xD0, 0x0F, 0x28, 0xD0, 0x0F, 0x30, 0x64, 0x40, 0x00,
            0x48, 0x00, 0x50, 0x00,
        ])
        let red = LEDPattern.Color(red: 255, green: 0, blue: 0)
        #expect(bench.others == [.effect(.led(.predefined(.solid, color: red, durationMilliseconds: 2000), on: .tag))])
        #expect(bench.responses == [[0x08, 0x01, 0x10, 0x00, 0x18, 0x00]])
    }

    @Test(
        "refuses a pattern out of range with status 2 and plays nothing", arguments: [0, 8, 4_000_000_000] as [UInt32])
    func badLED(kind: UInt32) throws {
        var bench = try Bench()
        var pattern = LEDPatternRequest(.haltAll)
        pattern.patternType = kind
        let answer = try bench.request(Request(domain: .base, opcode: .ledPattern, body: .ledPattern(pattern)))
        #expect(answer.status == .badParameter)
        #expect(bench.others.isEmpty)
    }

    @Test(
        "answers unknown requests with status 1",
        arguments: [(0, 0), (0, 14), (0, 28), (1, 1), (8, 2), (9, 1), (200, 1)] as [(UInt32, UInt32)])
    func unknown(domain: UInt32, opcode: UInt32) throws {
        var bench = try Bench(gear: "jacket")
        let answer = try bench.request(
            Request(domain: Domain(rawValue: domain), opcode: Opcode(rawValue: opcode)))
        #expect(answer.status == .unsupported)
        #expect(answer.id == 1)
    }

    @Test(
        "answers a request without its body with status 2", arguments: [2, 4, 10, 11, 17, 23, 24, 25] as [UInt32])
    func missingBody(opcode: UInt32) throws {
        var bench = try Bench()
        #expect(
            try bench.request(Request(domain: .base, opcode: Opcode(rawValue: opcode))).status == .badParameter)
    }

    @Test(
        "ignores bytes that are no request",
        arguments: [[0xFF], [0x08, 0x00], [0x08, 0x00, 0x10, 0x01]] as [[UInt8]])
    func noRequest(packet: [UInt8]) throws {
        var bench = try Bench()
        try bench.send(packet)
        #expect(bench.responses.isEmpty)
    }

    @Test(
        "accepts requests on the command characteristic only, also after invalid bytes",
        arguments: TagCharacteristic.allCases)
    func hostileValues(channel: TagCharacteristic) throws {
        var bench = try Bench(gear: "jacket")
        let (configuration, gear) = (bench.firmware.configuration, bench.firmware.gear?.componentID)
        for seed in 0..<4096 {
            let value = (0..<seed % 64).map { UInt8(truncatingIfNeeded: ($0 &* 37 &+ seed) &* seed >> 3) }
            let actions = bench.firmware.write(value, on: channel, at: bench.now)
            #expect(actions.isEmpty || channel == .command, "\(value)")
            guard seed % 64 == 63 else { continue }
            let id = UInt32(seed % 254 + 1)
            bench.forget()
            for fragment in try Fragmenter.fragments(of: Request.hello().encoded(id: id)) {
                bench.take(bench.firmware.write(fragment, on: channel, at: bench.now))
            }
            let ids = try bench.responses.map { try Response.decode($0[...]).id }
            #expect(ids == (channel == .command ? [id] : []), "after \(value)")
        }
        #expect(bench.firmware.configuration == configuration)
        #expect(bench.firmware.gear?.componentID == gear)
    }

    @Test("sends no notification without a subscription")
    func notSubscribed() throws {
        var bench = try Bench()
        bench.firmware.subscribed(.response, isOn: false)
        try bench.send(Request.hello().encoded(id: 1))
        #expect(bench.responses.isEmpty)
    }

    @Test("limits fragments to a small MTU, and to 61 bytes", arguments: [(23, 20), (64, 61), (517, 61)])
    func fragmentLength(mtu: Int, longest: Int) throws {
        var bench = try Bench(mtu: mtu)
        let packet = Request.deviceInformationOfTag().encoded(id: 9)
        var lengths: [Int] = []
        for fragment in try Fragmenter.fragments(of: packet) {
            for case .notify(let value, _) in bench.firmware.write(fragment, on: .command, at: bench.now) {
                lengths.append(value.count)
            }
        }
        #expect(lengths.max() == longest)
    }
}
