import HomeAssistant
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("G/health and G/event")
struct HealthTests {
    private func adapter(_ state: AdapterFacts.State) -> AdapterFacts {
        AdapterFacts(id: "hci0", address: nil, state: state)
    }

    private func health(_ scene: Scene) -> String {
        scene.publications.last { $0.topic == "jacquard/bridge/attic/health" }?.text ?? ""
    }

    @Test("publishes an event when an adapter is lost and when it is back, and none for the first list")
    func adapters() {
        let scene = Scene()
        #expect(scene.handle(.adapters([adapter(.poweredOn)])).count == 1)
        let off = scene.handle(.adapters([adapter(.poweredOff)]))
        #expect(off[1].contains(#""text":"Bluetooth adapter hci0 is powered off""#))
        #expect(off[1].contains(#""type":"adapter_lost""#))
        let on = scene.handle(.adapters([adapter(.poweredOn)]))
        #expect(on[1].contains(#""type":"adapter_back""#))
        let gone = scene.handle(.adapters([]))
        #expect(gone[1].contains(#""text":"Bluetooth adapter hci0 is gone""#))
    }

    @Test("a damaged record of the state file is a problem until its tag is known again")
    func damagedRecord() {
        let records = (1...10).map {
            DamagedState.Record(name: "tag\($0)", serial: "000\($0)", reason: "held is missing")
        }
        let damage = DamagedState(keptAs: "/state/tags.json.damaged", records: records)
        let scene = Scene(earlier: EarlierRuns(areTagsKnown: false, damage: damage))
        scene.handle(.started)
        #expect(health(scene).ranges(of: #""code":"state_damaged""#).count == 8)
        let text = "The record of tag tag1 was damaged (held is missing): pair the tag again. "
        #expect(health(scene).contains(text + "The damaged file is kept as /state/tags.json.damaged"))
        for record in records {
            scene.handle(.tagAdded(TagEntry(id: .known(record.name), serial: record.serial ?? ""), record: nil))
        }
        #expect(health(scene).contains(#""problems":[]"#))
    }

    @Test("a state file without any valid record is a problem")
    func damagedFile() {
        let damage = DamagedState(keptAs: "/state/tags.json.damaged", records: [])
        let scene = Scene(earlier: EarlierRuns(areTagsKnown: false, damage: damage))
        scene.handle(.started)
        #expect(health(scene).contains("The file of known tags was damaged: pair again tags that are missing"))
    }

    @Test("a refused subscription is no problem any more when it is granted")
    func granted() {
        let scene = Scene()
        scene.handle(.subscriptionRefused(filter: "jacquard/tag/+/+/set"))
        #expect(health(scene).contains(#""status":"degraded""#))
        scene.handle(.subscriptionGranted(filter: "jacquard/tag/+/+/set"))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("a refused subscription or message is a problem until the next connection")
    func refusals() {
        let scene = Scene()
        scene.handle(.subscriptionRefused(filter: "jacquard/tag/+/+/set"))
        #expect(health(scene).contains(#""code":"broker_refuses""#))
        #expect(health(scene).contains("the subscription jacquard/tag/+/+/set"))
        #expect(health(scene).contains(#""status":"degraded""#))
        scene.handle(.brokerConnected)
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("a refused subscription is a problem for the whole connection, also when messages are refused")
    func deafness() {
        let scene = Scene()
        for number in 0..<20 {
            scene.handle(.messageRefused(topic: "\(number)", reason: "not_authorized"))
        }
        scene.handle(.subscriptionRefused(filter: "jacquard/tag/+/+/set"))
        scene.wait(.seconds(700))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)
        scene.handle(.measured(measurement))
        #expect(health(scene).contains("the subscription jacquard/tag/+/+/set"))
        #expect(!health(scene).contains("refuses messages"))
    }

    @Test("a refused message is a problem until ten minutes after the last refusal")
    func refusedMessages() {
        let scene = Scene()
        for number in 10..<40 {
            scene.handle(.messageRefused(topic: "\(number)", reason: "not_authorized"))
        }
        scene.wait(.seconds(500))
        scene.handle(.messageRefused(topic: "10", reason: "not_authorized"))
        scene.wait(.seconds(500))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)
        scene.handle(.measured(measurement))
        #expect(health(scene).contains("such as to 10 (not_authorized): `jacquard2mqtt doctor`"))
        scene.handle(.messageRefused(topic: "50", reason: "not_authorized"))
        #expect(health(scene).contains("such as to 10 "), "the first of them")
        scene.wait(.seconds(101))
        scene.handle(.measured(measurement))
        #expect(health(scene).contains("such as to 50 "))
    }

    @Test(
        "a broker that acknowledges nothing for a minute is stalled",
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
        let scene = Scene()
        let first = HealthMeasurement(
            residentKilobytes: 1, queued: 2, dropped: 0, acknowledged: 7, brokerReconnects: 0)
        scene.handle(.measured(first))
        scene.wait(.seconds(30))
        scene.handle(.measured(second))
        #expect(!health(scene).contains("broker_stalled"), "half a minute says nothing")
        scene.wait(.seconds(25))
        scene.handle(.measured(second))
        #expect(health(scene).contains(#""code":"broker_stalled""#) == isStalled)
        #expect(health(scene).contains(#""status":"failed""#) == isStalled)
        let third = HealthMeasurement(residentKilobytes: 1, queued: 3, dropped: 0, acknowledged: 9, brokerReconnects: 0)
        scene.handle(.measured(third))
        #expect(!health(scene).contains("broker_stalled"), "it is over with the first that is acknowledged")
    }

    @Test("a denied Bluetooth service is the only problem, has a remedy, and sets the status to failed")
    func unauthorized() {
        let scene = Scene()
        let cause = Cause(
            .notPermitted, .bluetoothPolicy, "the bus says no", effect: "No tag can be reached",
            remedies: ["jacquard2mqtt doctor"])
        scene.handle(.bluetoothFault(cause))
        scene.handle(.adapters([adapter(.unauthorized)]))
        #expect(health(scene).contains(#""status":"failed""#))
        #expect(health(scene).contains(#""code":"not_permitted""#))
        #expect(health(scene).contains("jacquard2mqtt doctor"))
        #expect(!health(scene).contains("no_adapter") && !health(scene).contains("adapter_not_ready"))
        scene.handle(.bluetoothFault(nil))
        scene.handle(.adapters([adapter(.poweredOn)]))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test(
        "a tag that cannot reconnect without help is a problem, an absent one is not",
        arguments: TagConnectionError.Code.allCases)
    func tags(code: TagConnectionError.Code) {
        let unusable: Set<TagConnectionError.Code> = [
            .serviceDiscoveryError, .characteristicDiscoveryError, .bluetoothNotificationUpdateError,
            .unconnectableTag, .jacquardInitializationError, .malformedResponseError,
        ]
        let own: [TagConnectionError.Code] = [.peerRemovedPairingInfo, .inUse, .subscriptionStuck]
        let word = own.contains(code) ? code.word : unusable.contains(code) ? "tag_unusable" : nil
        let scene = Scene()
        let error = TagConnectionError(code, "Broken")
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 2, error: error)))
        #expect(health(scene).contains(#""status":"degraded""#) == (word != nil))
        if let word { #expect(health(scene).contains(#""code":"\#(word)""#)) }
        #expect(!code.hint.isEmpty)
        scene.report(.connection(TagConnection(state: .connecting(step: 0), attempt: 2)))
        #expect(health(scene).contains(#""status":"degraded""#) == (word != nil))
        scene.connect()
        #expect(!health(scene).contains(#""status":"degraded""#))
    }

    @Test("a lost bond is no problem once the tag is tried again, because another program has made a new one")
    func newBond() {
        let scene = Scene()
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 2, error: error)))
        #expect(health(scene).contains("peer_removed_pairing_info"))
        let lines = scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        #expect(health(scene).contains(#""status":"ok""#))
        #expect(!lines.contains { $0.contains("bond") })
    }

    @Test("a tag whose id another one has is a problem that names both, until that one is removed")
    func takenID() {
        let scene = Scene(
            tags: [TagEntry(id: "0002", serial: "0001")], records: [TagRecord(id: "0002", serial: "0002")])
        scene.handle(.started)
        #expect(health(scene).contains(#""code":"id_taken""#))
        #expect(
            health(scene).contains(
                "The tag with the serial 0002 has no topics: its id 0002 is that of the tag with the serial 0001"))
        scene.handle(.tagRemoved("0002"))
        #expect(!health(scene).contains("id_taken"))
        let reloaded = Scene()
        reloaded.handle(.started)
        reloaded.handle(.tagAdded(TagEntry(id: .tag003R, serial: "0007")))
        #expect(health(reloaded).contains("that of the tag with the serial 003R"))
    }

    @Test("an id that another tag had before keeps none of that one's topics")
    func reassignedID() {
        let scene = Scene(earlier: EarlierRuns(reassignedIDs: [.tag003R]))
        let lines = scene.handle(.started)
        for topic in ["modules", "battery/level", "presence"] + Features.topics.facts(while: { _ in true }) {
            #expect(lines.contains("jacquard/tag/003R/\(topic) "))
        }
        #expect(!lines.contains("jacquard/tag/003R/info "))
        #expect(!Scene().handle(.started).contains("jacquard/tag/003R/modules "))
    }

    @Test("files that cannot be written and a duplicate serial are a problem each, in the order of their begin")
    func codes() {
        let scene = Scene()
        scene.handle(.duplicateSerial("003R", addresses: ["F0:01", "F0:02"]))
        scene.wait(.seconds(1))
        let files = [UnwritableFile(.state, "/s", reason: "full"), UnwritableFile(.metrics, "/m", reason: "full")]
        scene.handle(
            .measured(
                HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0, unwritable: files)))
        let codes = health(scene).matches(of: #/"code":"(\w+)"/#).map(\.1)
        #expect(codes == ["duplicate_serial", "state_not_saved", "metrics_not_written"])
        #expect(health(scene).contains(#""status":"degraded""#))
    }

    @Test(
        "a single loss is a problem",
        arguments: [
            (Outbox.Losses(events: ["x": 1]), "1 event was lost"), (Outbox.Losses(results: 1), "1 result was lost"),
            (Outbox.Losses(commands: 1), "1 command was rejected"),
        ])
    func singleLoss(losses: Outbox.Losses, text: String) {
        let scene = Scene()
        scene.handle(.messagesLost(losses))
        #expect(health(scene).contains(text))
    }

    @Test("lost results and rejected commands are one problem each")
    func lostResults() {
        let scene = Scene()
        scene.handle(.messagesLost(.init(results: 2, commands: 7)))
        #expect(health(scene).contains("2 results were lost since the start"))
        #expect(health(scene).contains("7 commands were rejected since the start"))
        #expect(health(scene).contains(#""status":"degraded""#))
    }

    @Test("a message that closes connections is a problem for ten minutes, also on the next connection")
    func closingMessage() {
        let scene = Scene()
        let topic = String(repeating: "a/", count: 5_000)
        scene.handle(.messagesLost(.init(refused: 1, closing: [topic])))
        scene.handle(.brokerConnected)
        #expect(health(scene).contains("closes the connection when it receives a message to a/a/"))
        #expect(health(scene).contains(#""code":"broker_refuses""#))
        #expect(health(scene).utf8.count < 1_000)
        scene.wait(.seconds(601))
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 1, brokerReconnects: 0)
        scene.handle(.measured(measurement))
        #expect(health(scene).contains(#""problems":[]"#))
    }

    @Test(
        "an announcement above the broker's limit is a problem until the next connection, with both sizes and the remedy"
    )
    func oversized() {
        for form in HomeAssistantConfiguration.Form.allCases {
            let scene = Scene()
            var configuration = Scene.configuration()
            configuration.homeAssistant = HomeAssistantConfiguration(form: form)
            scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
            let topic = "homeassistant/device/jacquard_attic/config"
            let size = MessageSize(bytes: 7_312, limit: 5_000)
            scene.handle(.messageRefused(topic: topic, reason: "packet_too_large", size: size))
            #expect(health(scene).contains("takes at most 5000 bytes, and the message to \(topic) has 7312"))
            #expect(health(scene).contains("home_assistant: {form: single}") == (form == .device))
            #expect(health(scene).contains("max_packet_size"))
            scene.wait(.seconds(3_600))
            _ = scene.handle(
                .measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 0)))
            #expect(health(scene).contains("at most 5000 bytes"))
            scene.handle(.brokerConnected)
            #expect(health(scene).contains(#""status":"ok""#))
        }
    }

    @Test("an announcement that has ended several connections stays a problem, with its size and the other form")
    func abandoned() {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.homeAssistant = HomeAssistantConfiguration()
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        let topic = "homeassistant/device/jacquard_attic/config"
        scene.handle(.messagesLost(.init(refused: 1, closing: [topic]), bytes: [topic: 7_312]))
        #expect(health(scene).contains("receives a message to \(topic) (7312 bytes)"))
        #expect(health(scene).contains("home_assistant: {form: single}"))
        scene.wait(.seconds(3_600))
        scene.handle(
            .measured(
                HealthMeasurement(
                    residentKilobytes: 1, queued: 0, dropped: 1, brokerReconnects: 2,
                    abandoned: [.init(topic: topic, bytes: 7_312)])))
        #expect(health(scene).contains("receives a message to \(topic) (7312 bytes)"))
        scene.handle(
            .measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 1, brokerReconnects: 2)))
        #expect(health(scene).contains(#""status":"ok""#))
    }

    @Test("the number of dropped messages is that of the loss, not of the last measurement")
    func dropsSinceMeasurement() {
        let scene = Scene()
        scene.handle(.measured(HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 3, brokerReconnects: 1)))
        scene.handle(.messagesLost(.init(events: ["x": 2, "y": 1], totalDropped: 9)))
        #expect(health(scene).contains(#""broker_reconnects":1,"dropped":9,"#))
    }

    @Test("lost events are counted, and are a problem for ten minutes with a constant start time")
    func drops() {
        let scene = Scene()
        let measurement = HealthMeasurement(residentKilobytes: 1, queued: 0, dropped: 5, brokerReconnects: 0)
        scene.handle(.messagesLost(.init(events: ["x": 2])))
        scene.wait(.seconds(60))
        scene.handle(.messagesLost(.init(events: ["x": 3])))
        #expect(
            health(scene).contains(
                #"{"code":"events_dropped","since":"2026-11-20T10:15:02.114Z","#
                    + #""text":"5 events were lost since the start: the broker was disconnected too long"}"#))
        scene.wait(.seconds(600))
        scene.handle(.measured(measurement))
        #expect(health(scene).contains(#""problems":[]"#))
    }
}
