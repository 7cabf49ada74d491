import Bluetooth
import Testing
import Time

@testable import ESPHome

@Suite("A proxy as a central")
struct ProxyRadioTests {
    private static let lost: Int32 = 0x08
    private let one = RadioBench.address(1)
    private let two = RadioBench.address(2)

    @Test("reports its adapter, the known bonds and its state when the proxy serves it")
    func opening() {
        var radio = ProxyRadio(name: "loft", bonds: [one])
        var info = SessionBench.info
        info.bluetoothAddress = "AA:BB:CC:DD:EE:01"
        radio.opened(info, at: Instant(sinceBoot: .zero))
        let adapter = Adapter(
            id: "loft", address: BluetoothAddress("AA:BB:CC:DD:EE:01"), state: .poweredOn, isDiscovering: true,
            connectedCount: 0)
        #expect(radio.takeEffects().events == [.adaptersChanged([adapter]), .bonds([one]), .stateChanged(.poweredOn)])
    }

    @Test("uses the bonds of its controller, whatever name and address the proxy had before")
    func identity() throws {
        let (first, second) = ("AA:BB:CC:DD:EE:01", "AA:BB:CC:DD:EE:02")
        let controller = try #require(BluetoothAddress(first))
        func bonds(_ radio: inout ProxyRadio, of controller: String) -> [CentralEvent] {
            var info = SessionBench.info
            info.bluetoothAddress = controller
            radio.opened(info, at: Instant(sinceBoot: .zero))
            defer { radio.closed(.resetting, BluetoothError(.connectionFailed, text: "")) }
            return radio.takeEffects().events.filter { if case .bonds = $0 { true } else { false } }
        }
        var swapped = ProxyRadio(name: "loft", bonds: [one], bondsByController: [controller: [two]])
        #expect(bonds(&swapped, of: first) == [.bonds([two])])
        #expect(bonds(&swapped, of: second) == [.bonds([])], "another proxy")
        #expect(bonds(&swapped, of: first) == [.bonds([two])])
        var former = ProxyRadio(name: "loft", bonds: [one])
        #expect(bonds(&former, of: "") == [.bonds([one])])
        #expect(bonds(&former, of: first) == [.bonds([one])], "a file without addresses")
    }

    // MARK: Scanning

    @Test("reports devices of the scanned service, completed by their scan responses")
    func scanning() {
        var bench = RadioBench()
        bench.advertise(1)
        #expect(bench.heard == [])
        bench.ask(.scan(RadioBench.service))
        #expect(bench.take() == ["scanning true"])
        let response = [4, 0x09] + Array("Tag".utf8) + [4, 0xFF, 0xE0, 0, 9]
        let alone = RawAdvertisement(address: 77, rssi: -40, addressType: 0, data: response)
        bench.receive(.advertisements([alone]))
        #expect(bench.heard == [])
        bench.advertise(1)
        bench.receive(
            .advertisements([
                RawAdvertisement(address: RadioBench.number(1), rssi: 127, addressType: 1, data: response)
            ]))
        #expect(bench.heard.map(\.rssi) == [-60, nil])
        #expect(bench.heard.last?.name == "Tag")
        #expect(bench.heard.last?.manufacturerData == [0xE0: [9]])
        bench.ask(.scan(nil))
        #expect(bench.take() == ["scanning false"])
        bench.advertise(1)
        #expect(bench.heard.count == 2)
    }

    @Test("reports watched devices without a scan, and says whether they are bonded")
    func watching() {
        var bench = RadioBench(bonds: [one])
        bench.ask(.watch(RadioBench.service))
        bench.advertise(1)
        bench.advertise(2)
        #expect(bench.heard.map(\.isPaired) == [true, false])
        #expect(bench.take() == [])
    }

    @Test("reports the end of the scan if the scanner fails, but not its pauses")
    func scannerState() {
        var bench = RadioBench()
        bench.ask(.scan(RadioBench.service))
        _ = bench.take()
        for state in [ScannerState.stopping, .idle, .starting, .running] { bench.receive(.scannerState(state)) }
        #expect(bench.take() == [])
        bench.receive(.scannerState(.failed))
        bench.receive(.scannerState(.running))
        #expect(bench.take() == ["scanning false", "scanning true"])
    }

    @Test("keeps a bounded number of received devices, and drops the oldest")
    func bounds() {
        var bench = RadioBench()
        bench.ask(.watch(RadioBench.service))
        for device in 1...200 {
            bench.advertise(UInt64(device))
            bench.pass(.milliseconds(1))
        }
        #expect(bench.radio.received.count == ProxyRadio.mostReceived)
        #expect(bench.radio.received[RadioBench.address(72)] == nil)
        #expect(bench.radio.received[RadioBench.address(73)] != nil)
    }

    // MARK: Connecting

    @Test("connects a device when it is received, with the type of its address, one at a time")
    func connecting() {
        var bench = RadioBench()
        bench.ask(.connect(one))
        bench.ask(.connect(two))
        bench.ask(.connect(one))
        #expect(bench.take() == [])
        bench.advertise(2)
        bench.advertise(1)
        #expect(bench.take() == ["> connect 2 type 1"])
        bench.receive(.connection(RadioBench.number(2), isConnected: true, mtu: 0, error: 0))
        #expect(bench.take() == ["> connect 1 type 1", "connected 2"])
        #expect(bench.adapters.first?.connectedCount == 1)
        bench.receive(.connection(RadioBench.number(1), isConnected: true, mtu: 247, error: 0))
        bench.receive(.connection(RadioBench.number(2), isConnected: true, mtu: 600, error: 0))
        #expect(bench.take() == ["connected 1", "mtu 1 247", "mtu 2 517"])
    }

    @Test("waits for an advertisement that is not older than 10 s")
    func memory() {
        var bench = RadioBench()
        bench.ask(.watch(RadioBench.service))
        bench.advertise(1)
        bench.pass(.milliseconds(10_001))
        bench.ask(.connect(one))
        #expect(bench.take() == [])
        bench.advertise(1)
        #expect(bench.take() == ["> connect 1 type 1"])
    }

    @Test("a device waits while the proxy has no free link")
    func slots() {
        var bench = RadioBench(free: 0)
        bench.ask(.connect(one))
        bench.advertise(1)
        bench.pass(.seconds(9))
        #expect(bench.take() == [])
        #expect(bench.radio.freeLinks == 0)
        bench.receive(.connectionsFree(free: 1, limit: 3, allocated: [5, 6]))
        #expect(bench.take() == ["> connect 1 type 1"])
        // The proxy has another opinion.
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: 0))
        #expect(bench.take() == ["disconnected 1 busy"])
    }

    @Test("an attempt ends after 25 s, or after 10 s if another device waits, and then the next begins")
    func attempts() {
        var bench = RadioBench()
        bench.ask(.connect(one))
        bench.advertise(1)
        bench.pass(.seconds(24))
        #expect(bench.take() == ["> connect 1 type 1"])
        bench.pass(.seconds(1))
        #expect(bench.take() == ["> disconnect 1"])
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: 0x16))
        #expect(bench.take() == ["disconnected 1 timeout"])
        bench.ask(.connect(one))
        bench.ask(.connect(two))
        bench.advertise(1)
        bench.pass(.seconds(9))
        bench.advertise(2)
        bench.pass(.seconds(1))
        #expect(bench.take() == ["> connect 1 type 1", "> disconnect 1", "> connect 2 type 1"])
        // No response: the attempt counts as ended after 5 s.
        bench.pass(.seconds(5))
        #expect(bench.take() == ["disconnected 1 timeout"])
    }

    @Test("a device that could not be connected is reported with the reason")
    func refused() {
        var bench = RadioBench()
        for (error, code) in [(0x3E, "connectionFailed"), (0x05, "authenticationFailed"), (133, "connectionFailed")] {
            bench.ask(.connect(one))
            bench.advertise(1)
            bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: Int32(error)))
            #expect(bench.take() == ["> connect 1 type 1", "disconnected 1 \(code)"])
        }
    }

    @Test("the end of a link is reported once, and a new attempt waits until the proxy has cleaned up")
    func ends() {
        var bench = RadioBench()
        bench.link(1)
        bench.receive(.connectionsFree(free: 2, limit: 3, allocated: [RadioBench.number(1)]))
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: Self.lost))
        #expect(bench.take() == ["disconnected 1 connectionFailed"])
        bench.ask(.connect(one))
        bench.advertise(1)
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: Self.lost))
        #expect(bench.take() == [])
        bench.receive(.connectionsFree(free: 3, limit: 3, allocated: []))
        #expect(bench.take() == ["> connect 1 type 1"])
    }

    @Test("a proxy that does not report its clean-up delays the next attempt by 5 s at most")
    func cleanUp() {
        var bench = RadioBench()
        bench.link(1)
        bench.receive(.connectionsFree(free: 2, limit: 3, allocated: [RadioBench.number(1)]))
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: Self.lost))
        bench.ask(.connect(one))
        bench.advertise(1)
        _ = bench.take()
        bench.pass(.seconds(5))
        #expect(bench.take() == ["> connect 1 type 1"])
    }

    @Test("a requested end has no error, in every state")
    func disconnecting() {
        var bench = RadioBench()
        bench.ask(.disconnect(one))
        #expect(bench.take() == [])
        bench.ask(.connect(one))
        bench.ask(.disconnect(one))
        #expect(bench.take() == ["disconnected 1 -"])
        bench.ask(.connect(one))
        bench.advertise(1)
        bench.ask(.disconnect(one))
        bench.ask(.connect(one))
        // The proxy was about to succeed.
        bench.receive(.connection(RadioBench.number(1), isConnected: true, mtu: 247, error: 0))
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: 0x16))
        #expect(bench.take() == ["> connect 1 type 1", "> disconnect 1", "disconnected 1 -"])
        bench.link(1)
        bench.ask(.disconnect(one))
        bench.receive(.connection(RadioBench.number(1), isConnected: false, mtu: 0, error: 0x16))
        #expect(bench.take() == ["> disconnect 1", "disconnected 1 -"])
    }

    @Test("a link that nobody has requested is ended")
    func unexpected() {
        var bench = RadioBench()
        bench.receive(.connection(RadioBench.number(4), isConnected: true, mtu: 247, error: 0))
        #expect(bench.take() == ["> disconnect 4"])
        bench.receive(.connection(RadioBench.number(4), isConnected: false, mtu: 0, error: 0x16))
        #expect(bench.take() == [])
    }

    @Test("all links and attempts end when the proxy is lost, before its state changes")
    func radioLost() {
        var bench = RadioBench()
        bench.ask(.scan(RadioBench.service))
        bench.open(1)
        bench.ask(.connect(two))
        bench.ask(.forget(RadioBench.address(3)))
        _ = bench.take()
        bench.close()
        #expect(
            bench.take() == [
                "disconnected 1 connectionFailed", "disconnected 2 connectionFailed", "forgotten 3 connectionFailed",
                "state resetting", "scanning false",
            ])
        #expect(bench.adapters.first?.state == .resetting)
        #expect(bench.radio.freeLinks == nil)
        // A request of this time waits for the proxy.
        bench.ask(.connect(one))
        bench.close()
        #expect(bench.take() == [])
        bench.radio.opened(SessionBench.info, at: bench.now)
        bench.advertise(1)
        #expect(bench.take() == ["> connect 1 type 1", "bonds []", "state poweredOn", "scanning true"])
    }
}
