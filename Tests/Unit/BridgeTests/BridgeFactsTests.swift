import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("The bridge itself")
struct BridgeFactsTests {
    @Test("subscribes to commands and to other bridges")
    func subscriptions() {
        let subscriptions = Scene().state.subscriptions
        #expect(
            subscriptions.map(\.filter) == [
                "jacquard/tag/+/+/set", "jacquard/tag/+/+/get", "jacquard/tag/+/+/+/set", "jacquard/tag/+/+/+/get",
                "jacquard/bridge/attic/request/+",
                "jacquard/bridge/+/info", "jacquard/bridge/+/state", "jacquard/tag/+/info",
            ])
        #expect(subscriptions.allSatisfy { $0.qos == .atLeastOnce })
    }

    @Test("has a retained will: offline")
    func will() {
        let will = Scene().state.will
        #expect(will.line == "jacquard/bridge/attic/state offline")
        #expect(will.message.isRetained)
        #expect(will.message.qos == .atLeastOnce)
    }

    @Test("accepts a base topic of several levels")
    func baseTopic() {
        let configuration = BridgeConfiguration(
            baseTopic: "home/up", instance: "attic", version: "0.1.0", tags: [.tag003R])
        var state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: Scene.beginning)
        #expect(state.will.topic == "home/up/bridge/attic/state")
        let message = MQTTMessage(topic: "home/up/tag/003R/led/set", payload: [])
        #expect(state.handle(.message(message), at: Scene.beginning).count == 1)
        let other = MQTTMessage(topic: "home/tag/003R/led/set", payload: [])
        #expect(state.handle(.message(other), at: Scene.beginning).isEmpty)
    }

    @Test("ignores a second entry of a tag")
    func doubleTag() {
        #expect(Scene(tags: [.tag003R, .tag003R]).state.tags.count == 1)
    }

    @Test("publishes the versions of BlueZ and MQTT")
    func versions() {
        let scene = Scene()
        scene.handle(.bluezVersion("5.66"))
        #expect(
            scene.handle(.brokerProtocol(5)) == [
                #"jacquard/bridge/attic/info {"bluez":"5.66","boot":"9f3c","connected":[],"contract":1,"instance":"attic","#
                    + #""mqtt":5,"started":"2026-11-20T10:15:02.114Z","tags":["003R"],"version":"0.1.0"}"#
            ])
    }

    @Test("reports the node of a broker with several nodes")
    func node() {
        let scene = Scene()
        #expect(
            scene.handle(.brokerProtocol(4, node: "[::1]:1883")) == [
                #"jacquard/bridge/attic/info {"bluez":null,"boot":"9f3c","connected":[],"contract":1,"instance":"attic","#
                    + #""mqtt":4,"node":"[::1]:1883","started":"2026-11-20T10:15:02.114Z","tags":["003R"],"#
                    + #""version":"0.1.0"}"#
            ])
    }

    @Test("publishes the adapters, sorted")
    func adapters() {
        let scene = Scene()
        let list = [
            AdapterFacts(id: "hci1", address: nil, state: .poweredOn, isDiscovering: true),
            AdapterFacts(id: "hci0", address: "F0:00:00:00:00:01", state: .poweredOn, connectedCount: 2),
        ]
        #expect(
            scene.handle(.adapters(list)) == [
                "jacquard/bridge/attic/adapter "
                    + #"[{"address":"F0:00:00:00:00:01","connected":2,"discovering":false,"id":"hci0","#
                    + #""state":"powered_on"},{"address":null,"connected":0,"discovering":true,"id":"hci1","#
                    + #""state":"powered_on"}]"#
            ])
    }

    @Test(
        "names the states of an adapter",
        arguments: zip(
            AdapterFacts.State.allCases,
            ["unknown", "resetting", "unsupported", "unauthorized", "powered_off", "powered_on"]))
    func adapterStates(state: AdapterFacts.State, word: String) {
        #expect(state.rawValue == word)
    }

    @Test("has the status failed without a ready adapter, and ok with one")
    func failed() {
        let scene = Scene()
        let off = AdapterFacts(id: "hci0", address: nil, state: .poweredOff)
        let health = #"""
            jacquard/bridge/attic/health {"broker_reconnects":0,"dropped":0,"problems":[\#
            {"code":"adapter_not_ready","since":"2026-11-20T10:15:02.114Z",\#
            "text":"Bluetooth adapter hci0 is powered off"},\#
            {"code":"no_adapter","since":"2026-11-20T10:15:02.114Z",\#
            "text":"No Bluetooth adapter is ready: no tag can be reached"}],\#
            "queue":0,"rss_kb":null,"status":"failed","uptime_s":0}
            """#
        #expect(scene.handle(.adapters([off])).last == health)
        let on = AdapterFacts(id: "hci0", address: nil, state: .poweredOn)
        #expect(scene.handle(.adapters([on])).last?.contains(#""status":"ok""#) == true)
        #expect(scene.handle(.adapters([on])).count == 1)
    }

    @Test("has a problem while a tag has bad firmware")
    func badFirmware() throws {
        var component = Component.tag
        component.version = FirmwareVersion(1, 1, 0)
        let scene = Scene.connected()
        let lines = scene.report(.information(component))
        let health = #"""
            jacquard/bridge/attic/health {"broker_reconnects":0,"dropped":0,"problems":[\#
            {"code":"bad_firmware","since":"2026-11-20T10:15:02.114Z",\#
            "text":"Tag 003R has firmware 1.1.0, which is known to be bad"}],\#
            "queue":0,"rss_kb":null,"status":"degraded","uptime_s":0}
            """#
        #expect(lines.last == health)
        #expect(scene.report(.information(.tag)).last?.contains(#""problems":[]"#) == true)
    }

    @Test("publishes the measurements of the process")
    func measurement() {
        let scene = Scene()
        scene.now = scene.now + .seconds(12)
        let measurement = HealthMeasurement(residentKilobytes: 9_120, queued: 1, dropped: 2, brokerReconnects: 3)
        #expect(
            scene.handle(.measured(measurement)) == [
                #"jacquard/bridge/attic/health {"broker_reconnects":3,"dropped":2,"problems":[],"queue":1,"#
                    + #""rss_kb":9120,"status":"ok","uptime_s":12}"#
            ])
    }

    @Test(
        "accepts ids that are one topic level",
        arguments: [
            ("003R", true), ("Left sleeve", true), ("ä", true), ("", false), ("a/b", false), ("+", false),
            ("a#", false), ("a\u{0}", false), (String(repeating: "x", count: 64), true),
            (String(repeating: "x", count: 65), false),
        ])
    func ids(text: String, isGood: Bool) {
        #expect((TagID(text) != nil) == isGood)
    }
}
