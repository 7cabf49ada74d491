import Bluetooth
import Testing
import Time

@testable import ESPHome

@Suite("Access to a device through a proxy")
struct ProxyAccessTests {
    private let one = RadioBench.address(1)
    private let number = RadioBench.number(1)

    // MARK: Services

    @Test("the services are requested once per link, and searched for each request")
    func services() {
        var bench = RadioBench()
        bench.link(1)
        let other = RadioBench.uuid("00001800-0000-1000-8000-00805f9b34fb")
        bench.ask(.discover(RadioBench.service, characteristics: [RadioBench.value], of: one))
        bench.ask(.discover(other, characteristics: [], of: one))
        bench.receive(.services(number, [ProxyMessageTests.jacquard]))
        #expect(bench.take() == ["> services 1"])
        bench.receive(.servicesDone(number))
        #expect(bench.take() == ["discovered 1 1", "discoveryFailed 1 serviceMissing"])
        bench.ask(.discover(RadioBench.service, characteristics: [other], of: one))
        #expect(bench.take() == ["discoveryFailed 1 characteristicMissing"])
    }

    @Test("services that are refused or not sent in time end the discovery")
    func noServices() {
        var bench = RadioBench()
        bench.link(1)
        bench.ask(.discover(RadioBench.service, characteristics: [], of: one))
        bench.receive(.failed(number, handle: 0, error: 0x101))
        #expect(bench.take() == ["> services 1", "discoveryFailed 1 other"])
        bench.ask(.discover(RadioBench.service, characteristics: [], of: one))
        bench.pass(.seconds(30))
        #expect(bench.take() == ["> services 1", "discoveryFailed 1 timeout"])
        bench.receive(.servicesDone(number))
        #expect(bench.take() == [])
    }

    @Test("a device with too many characteristics keeps a bounded number")
    func manyServices() {
        var bench = RadioBench()
        bench.link(1)
        bench.ask(.discover(RadioBench.service, characteristics: [], of: one))
        let characteristic = ProxyMessageTests.jacquard.characteristics[0]
        let large = ProxyService(
            id: ProxyMessageTests.jacquard.id, handle: 1,
            characteristics: [ProxyService.Characteristic](repeating: characteristic, count: 250))
        for _ in 0..<20 { bench.receive(.services(number, [large])) }
        guard case .requested(_, let services) = bench.radio.links[one]?.table else {
            Issue.record("no table")
            return
        }
        #expect(services.count == 4)
    }

    // MARK: Subscriptions

    @Test("a subscription lets the proxy pass on values, and writes the descriptor 0x2902 itself")
    func subscribing() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.ask(.subscribe(RadioBench.value, of: one))
        #expect(bench.take() == ["> notify 1 18 true"])
        bench.receive(.notifySet(number, handle: 18))
        #expect(bench.take() == ["> descriptor 1 19 [1, 0]"])
        bench.receive(.value(number, handle: 18, [1, 2]))
        bench.receive(.written(number, handle: 19))
        #expect(bench.take() == ["notified 1 [1, 2]", "subscribed 1", "subscribed 1"])
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.receive(.value(number, handle: 17, [3]))
        #expect(bench.take() == ["subscribed 1"])
    }

    @Test("a refused subscription is reported with the reason, and can be repeated")
    func refusedSubscription() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.receive(.failed(number, handle: 18, error: 3))
        #expect(bench.take() == ["> notify 1 18 true", "subscribeFailed 1 notPermitted"])
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.pass(.seconds(10))
        #expect(bench.take() == ["> notify 1 18 true", "subscribeFailed 1 timeout"])
        bench.ask(.subscribe(RadioBench.service, of: one))
        #expect(bench.take() == ["subscribeFailed 1 characteristicMissing"])
    }

    // MARK: Writes

    @Test("accesses of a device are sent one after another")
    func order() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.receive(.notifySet(number, handle: 18))
        // The response to the write has the same handle as the characteristic, and is not that of `notify`.
        bench.receive(.written(number, handle: 18))
        bench.receive(.written(number, handle: 19))
        #expect(
            bench.take() == [
                "> notify 1 18 true", "> descriptor 1 19 [1, 0]", "> write 1 18 request [7]", "subscribed 1",
            ])
        bench.receive(.notifySet(number, handle: 18))
        #expect(bench.take() == [])
        bench.receive(.written(number, handle: 18))
        bench.receive(.written(number, handle: 18))
        #expect(bench.take() == ["written 1"])
    }

    @Test("a write without response counts as accepted when the proxy responds, or after 300 ms")
    func withoutResponse() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.write([7], to: RadioBench.value, of: one, .withoutResponse))
        bench.receive(.written(number, handle: 18))
        #expect(bench.take() == ["> write 1 18 command [7]", "written 1"])
        bench.ask(.write([8], to: RadioBench.value, of: one, .withoutResponse))
        bench.pass(.milliseconds(299))
        #expect(bench.take() == ["> write 1 18 command [8]"])
        bench.pass(.milliseconds(1))
        #expect(bench.take() == ["written 1"])
    }

    @Test("a write that the proxy cannot take now is repeated for 5 s", arguments: [0x84, 0x8F, 0x94] as [Int32])
    func busy(error: Int32) {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.receive(.failed(number, handle: 18, error: error))
        bench.pass(.milliseconds(50))
        bench.receive(.written(number, handle: 18))
        #expect(bench.take() == ["> write 1 18 request [7]", "> write 1 18 request [7]", "written 1"])
        bench.ask(.write([8], to: RadioBench.value, of: one, .withResponse))
        for _ in 0..<100 {
            bench.receive(.failed(number, handle: 18, error: error))
            bench.pass(.milliseconds(50))
        }
        bench.receive(.failed(number, handle: 18, error: error))
        #expect(bench.take().last == "writeFailed 1 busy")
    }

    @Test("errors are written as ESPHome writes them: its own are negative")
    func numbers() {
        #expect(BluetoothError(accessError: -1).text == "the access failed, error -1")
        #expect(BluetoothError(accessError: 0x85).text == "the access failed, error 0x85")
        #expect(BluetoothError(linkError: -2).text == "the link ended, reason -2")
    }

    @Test(
        "the end of a link has the same words as with BlueZ",
        arguments: [(0x08, .timeout), (0x13, .remote), (0x15, .remote), (0x16, .local)]
            as [(Int32, BluetoothError.DisconnectReason)])
    func ends(reason: Int32, end: BluetoothError.DisconnectReason) {
        let error = BluetoothError(linkError: reason)
        #expect(error.code == .connectionFailed)
        #expect(error.end == end)
        #expect(error.text == end.text)
    }

    @Test("a write ends with its error, or after 10 s, or with its link")
    func failures() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.receive(.failed(number, handle: 18, error: 3))
        #expect(bench.take() == ["> write 1 18 request [7]", "writeFailed 1 notPermitted"])
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.pass(.seconds(10))
        #expect(bench.take() == ["> write 1 18 request [7]", "writeFailed 1 timeout"])
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.receive(.connection(number, isConnected: false, mtu: 0, error: 0x13))
        bench.receive(.written(number, handle: 18))
        bench.pass(.seconds(29))
        #expect(bench.take() == ["> write 1 18 request [7]", "disconnected 1 connectionFailed"])
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        #expect(bench.take() == ["writeFailed 1 characteristicMissing"])
    }

    @Test("while a link ends, nothing else of it is due")
    func ending() {
        var bench = RadioBench()
        bench.link(1)
        bench.pass(.seconds(1))
        bench.ask(.discover(RadioBench.service, characteristics: [], of: one))
        bench.ask(.pair(one))
        bench.pass(.seconds(29))
        bench.ask(.disconnect(one))
        #expect(bench.radio.deadline == bench.now + .seconds(5))
        bench.pass(.seconds(5))
        #expect(bench.take() == ["> services 1", "> pair 1", "> disconnect 1", "disconnected 1 -"])
    }

    // MARK: Bonds

    @Test("a pairing request is sent by request only, and not if there is a bond")
    func pairing() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.pair(one))
        #expect(bench.take() == ["> pair 1"])
        bench.receive(.paired(number, isPaired: true, error: 0))
        #expect(bench.take() == ["bonds [1]", "paired 1"])
        bench.ask(.pair(one))
        #expect(bench.take() == ["paired 1"])
        bench.receive(.connection(number, isConnected: false, mtu: 0, error: 8))
        bench.link(1)
        bench.ask(.pair(one))
        #expect(bench.take() == ["paired 1"])
        // The encryption of each link is reported, too.
        bench.receive(.paired(number, isPaired: true, error: 0))
        #expect(bench.take() == [])
    }

    @Test("a failed pairing is reported, also after 60 s and without a link")
    func pairingFails() {
        var bench = RadioBench()
        bench.ask(.pair(one))
        #expect(bench.take() == ["pairFailed 1 notFound"])
        bench.link(1)
        bench.ask(.pair(one))
        bench.receive(.paired(number, isPaired: false, error: 97))
        #expect(bench.take() == ["> pair 1", "pairFailed 1 authenticationFailed"])
        bench.ask(.pair(one))
        bench.pass(.seconds(60))
        #expect(bench.take() == ["> pair 1", "pairFailed 1 timeout"])
    }

    @Test("an access that is refused before the encryption is complete is repeated after it")
    func securing() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.subscribe(RadioBench.value, of: one))
        bench.receive(.failed(number, handle: 18, error: 5))
        #expect(bench.take() == ["> notify 1 18 true"])
        bench.receive(.paired(number, isPaired: true, error: 0))
        #expect(bench.take() == ["> notify 1 18 true", "bonds [1]", "paired 1"])
        bench.receive(.failed(number, handle: 18, error: 5))
        #expect(bench.take() == ["subscribeFailed 1 authenticationFailed"])
    }

    @Test("a device that requires a bond is reported so after 5 s, without a pairing request")
    func requiresBond() {
        var bench = RadioBench()
        bench.open(1)
        bench.ask(.write([7], to: RadioBench.value, of: one, .withResponse))
        bench.receive(.failed(number, handle: 18, error: 15))
        bench.pass(.seconds(5))
        #expect(bench.take() == ["> write 1 18 request [7]", "writeFailed 1 authenticationFailed"])
    }

    @Test("a device that refuses its bond has lost it: the next error says so, and the bond is forgotten")
    func lostBond() {
        var bench = RadioBench(bonds: [one])
        bench.link(1)
        bench.receive(.paired(number, isPaired: false, error: 0x66))
        #expect(bench.take() == ["bonds []"])
        bench.receive(.connection(number, isConnected: false, mtu: 0, error: 0x13))
        #expect(bench.take() == ["disconnected 1 authenticationFailed"])
    }

    @Test("forgetting ends the link, removes the bond, and has one result for each request")
    func forgetting() {
        var bench = RadioBench(bonds: [one])
        bench.link(1)
        bench.ask(.forget(one))
        bench.ask(.forget(one))
        #expect(bench.take() == ["> disconnect 1", "> unpair 1"])
        bench.receive(.connection(number, isConnected: false, mtu: 0, error: 0x16))
        // ESPHome 2026.6 sends the other message.
        bench.receive(.paired(number, isPaired: true, error: 0))
        #expect(bench.take() == ["disconnected 1 -", "bonds []", "forgotten 1 -", "forgotten 1 -"])
        bench.ask(.forget(one))
        bench.receive(.unpaired(number, isRemoved: false, error: 1))
        #expect(bench.take() == ["> unpair 1", "forgotten 1 -"])
        bench.ask(.forget(one))
        bench.pass(.seconds(5))
        #expect(bench.take() == ["> unpair 1", "forgotten 1 timeout"])
        bench.close()
        bench.ask(.forget(one))
        #expect(bench.take() == ["state resetting", "forgotten 1 poweredOff"])
    }
}
