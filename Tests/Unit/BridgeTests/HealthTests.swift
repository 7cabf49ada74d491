import JacquardProtocol
import Testing

@testable import Bridge

@Suite("G/health and G/event")
struct HealthTests {
    private func adapter(_ state: AdapterFacts.State, isSilent: Bool = false) -> AdapterFacts {
        AdapterFacts(id: "hci0", address: nil, state: state, isSilent: isSilent)
    }

    private func health(_ scene: Scene) -> String {
        scene.publications.last { $0.topic == "jacquard/bridge/attic/health" }?.text ?? ""
    }

    @Test("an adapter that goes and comes has an event each, the first list none")
    func adapters() {
        var scene = Scene()
        #expect(scene.note(scene.state.adapters([adapter(.poweredOn)], at: scene.now)).count == 1)
        let off = scene.note(scene.state.adapters([adapter(.poweredOff)], at: scene.now))
        #expect(off[1].contains(#""text":"Bluetooth adapter hci0 is powered off""#))
        #expect(off[1].contains(#""type":"adapter_lost""#))
        let on = scene.note(scene.state.adapters([adapter(.poweredOn)], at: scene.now))
        #expect(on[1].contains(#""type":"adapter_back""#))
        let gone = scene.note(scene.state.adapters([], at: scene.now))
        #expect(gone[1].contains(#""text":"Bluetooth adapter hci0 is gone""#))
    }

    @Test("what the broker refuses is a problem until the next connection")
    func refusals() {
        var scene = Scene()
        scene.note(scene.state.brokerRefused(subscription: "jacquard/tag/+/+/set", at: scene.now))
        #expect(health(scene).contains(#""code":"broker_refuses""#))
        #expect(health(scene).contains("the subscription jacquard/tag/+/+/set"))
        #expect(health(scene).contains(#""status":"degraded""#))
        scene.note(scene.state.brokerConnected(at: scene.now))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("a refused subscription lasts as long as the connection, whatever else is refused")
    func deafness() {
        var scene = Scene()
        for number in 0..<20 {
            scene.note(scene.state.brokerRefused(messageTo: "\(number)", "not_authorized", at: scene.now))
        }
        scene.note(scene.state.brokerRefused(subscription: "jacquard/tag/+/+/set", at: scene.now))
        scene.wait(.seconds(700))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)
        scene.note(scene.state.measured(measurement, at: scene.now))
        #expect(health(scene).contains("the subscription jacquard/tag/+/+/set"))
        #expect(!health(scene).contains("refuses messages"))
    }

    @Test("a refused message is a problem for ten minutes since the last time, however many there were before")
    func refusedMessages() {
        var scene = Scene()
        for number in 10..<40 {
            scene.note(scene.state.brokerRefused(messageTo: "\(number)", "not_authorized", at: scene.now))
        }
        scene.wait(.seconds(500))
        scene.note(scene.state.brokerRefused(messageTo: "10", "not_authorized", at: scene.now))
        scene.wait(.seconds(500))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)
        scene.note(scene.state.measured(measurement, at: scene.now))
        #expect(health(scene).contains("such as to 10 (not_authorized): `jacquard2mqtt doctor`"))
        scene.note(scene.state.brokerRefused(messageTo: "50", "not_authorized", at: scene.now))
        #expect(health(scene).contains("such as to 10 "), "the first of them")
        scene.wait(.seconds(101))
        scene.note(scene.state.measured(measurement, at: scene.now))
        #expect(health(scene).contains("such as to 50 "))
    }

    @Test(
        "a broker that acknowledges nothing from one minute to the next has failed",
        arguments: [
            (
                HealthMeasurement(residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 7, brokerReconnects: 0),
                true
            ),
            (
                HealthMeasurement(residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 8, brokerReconnects: 0),
                false
            ),
            (
                HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, acknowledged: 7, brokerReconnects: 0),
                false
            ),
            (
                HealthMeasurement(residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 7, brokerReconnects: 1),
                false
            ),
            (
                HealthMeasurement(
                    residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 7, isBrokerConnected: false,
                    brokerReconnects: 0), false
            ),
        ])
    func stalled(second: HealthMeasurement, isStalled: Bool) {
        var scene = Scene()
        let first = HealthMeasurement(
            residentKilobytes: 1, queued: 2, dropped: 0, acknowledged: 7, brokerReconnects: 0)
        scene.note(scene.state.measured(first, at: scene.now))
        scene.wait(.seconds(30))
        scene.note(scene.state.measured(second, at: scene.now))
        #expect(!health(scene).contains("broker_stalled"), "half a minute says nothing")
        scene.wait(.seconds(25))
        scene.note(scene.state.measured(second, at: scene.now))
        #expect(health(scene).contains(#""code":"broker_stalled""#) == isStalled)
        #expect(health(scene).contains(#""status":"failed""#) == isStalled)
        let third = HealthMeasurement(residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 9, brokerReconnects: 0)
        scene.note(scene.state.measured(third, at: scene.now))
        #expect(!health(scene).contains("broker_stalled"), "it is over with the first that is acknowledged")
    }

    @Test("a Bluetooth service that may not be used is the one problem, says what to do, and has failed")
    func unauthorized() {
        var scene = Scene()
        scene.note(scene.state.adapters([adapter(.unauthorized)], at: scene.now))
        #expect(health(scene).contains(#""status":"failed""#))
        #expect(health(scene).contains(#""code":"not_permitted""#))
        #expect(health(scene).contains("jacquard2mqtt doctor"))
        #expect(!health(scene).contains("no_adapter") && !health(scene).contains("adapter_not_ready"))
        scene.note(scene.state.adapters([adapter(.poweredOn)], at: scene.now))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("a scan that hears nothing for long is a problem")
    func silentScan() {
        var scene = Scene()
        scene.note(scene.state.adapters([adapter(.poweredOn, isSilent: true)], at: scene.now))
        #expect(health(scene).contains(#""code":"scan_silent""#))
        scene.note(scene.state.adapters([adapter(.poweredOn)], at: scene.now))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test(
        "a tag that will not come by itself is a problem, one that is away is none",
        arguments: TagConnectionError.Code.allCases)
    func tags(code: TagConnectionError.Code) {
        let unusable: Set<TagConnectionError.Code> = [
            .serviceDiscoveryError, .characteristicDiscoveryError, .bluetoothNotificationUpdateError,
            .unconnectableTag, .jacquardInitializationError, .malformedResponseError,
        ]
        let own: [TagConnectionError.Code] = [.peerRemovedPairingInfo, .inUse, .subscriptionStuck]
        let word = own.contains(code) ? code.word : unusable.contains(code) ? "tag_unusable" : nil
        var scene = Scene()
        let error = TagConnectionError(code, "Broken")
        scene.tell(.connection(TagConnection(state: .preparingToConnect, attempt: 2, error: error)))
        #expect(health(scene).contains(#""status":"degraded""#) == (word != nil))
        if let word { #expect(health(scene).contains(#""code":"\#(word)""#)) }
        #expect(!code.hint.isEmpty)
        scene.tell(.connection(TagConnection(state: .connecting(step: 0), attempt: 2)))
        #expect(health(scene).contains(#""status":"degraded""#) == (word != nil))
        scene.connect()
        #expect(!health(scene).contains(#""status":"degraded""#))
    }

    @Test("lost results, and commands that were not taken, are a problem each")
    func lostResults() {
        var scene = Scene()
        scene.note(scene.state.lost(.init(results: 2, commands: 7), at: scene.now))
        #expect(health(scene).contains("2 results were lost since the start"))
        #expect(health(scene).contains("7 commands were not taken since the start"))
        #expect(health(scene).contains(#""status":"degraded""#))
    }

    @Test("a message that closes connections is a problem for ten minutes, also on the next connection")
    func closingMessage() {
        var scene = Scene()
        let topic = String(repeating: "a/", count: 5_000)
        scene.note(scene.state.lost(.init(refused: 1, closing: [topic]), at: scene.now))
        scene.note(scene.state.brokerConnected(at: scene.now))
        #expect(health(scene).contains("closes the connection when it receives a message to a/a/"))
        #expect(health(scene).contains(#""code":"broker_refuses""#))
        #expect(health(scene).utf8.count < 1_000)
        scene.wait(.seconds(601))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 1, brokerReconnects: 0)
        scene.note(scene.state.measured(measurement, at: scene.now))
        #expect(health(scene).contains(#""problems":[]"#))
    }

    @Test("lost events are counted, and a problem for ten minutes; the problem keeps its time")
    func drops() {
        var scene = Scene()
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 5, brokerReconnects: 0)
        scene.note(scene.state.lost(.init(events: ["x": 2]), at: scene.now))
        scene.wait(.seconds(60))
        scene.note(scene.state.lost(.init(events: ["x": 3]), at: scene.now))
        #expect(
            health(scene).contains(
                #"{"code":"events_dropped","since":"2026-11-20T10:15:02.114Z","#
                    + #""text":"5 events were lost since the start: the broker was away too long"}"#))
        scene.wait(.seconds(600))
        scene.note(scene.state.measured(measurement, at: scene.now))
        #expect(health(scene).contains(#""problems":[]"#))
    }
}
