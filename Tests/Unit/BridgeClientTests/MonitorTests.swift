import Bridge
import BrokerAccess
import EventLoop
import JSON
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("monitor")
struct MonitorTests {
    @Test("shows retained messages, then events, until it is interrupted")
    func live() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(
                broker, facts: [("bridge/attic/state", "online"), ("tag/0001/battery", #"{"level":87}"#)])
            let written = Written()
            let interruption = Interruption()
            let context = ClientContext.test(broker.port, written, isJSON: true, interruption: interruption)
            async let code = ClientAction.perform(MonitorCommand(tag: "0001"), context)
            try await until("the battery") { written.lines(.standardOutput).count == 2 }
            bridge.publish(("tag/0002/gesture", "{}"))
            bridge.publish(("tag/0001/gesture", #"{"event_type":"cover","seq":1}"#))
            try await until("the gesture") { written.lines(.standardOutput).count == 3 }
            interruption.fire()
            #expect(await code == .done)
            let records = written.lines(.standardOutput).map { JSONValue(payload: Array($0.utf8)) }
            #expect(records.map { $0["initial"] } == [true, true, false])
            #expect(records.last?["payload"]?["event_type"] == "cover")
            #expect(records.last?["topic"] == "jacquard/tag/0001/gesture")
            await bridge.stop()
        }
    }

    @Test("omits retained messages with --no-retained")
    func newOnly() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(
                broker, facts: [("bridge/attic/state", "online"), ("tag/0001/battery", #"{"level":87}"#)])
            let written = Written()
            let interruption = Interruption()
            let context = ClientContext.test(broker.port, written, isJSON: true, interruption: interruption)
            async let code = ClientAction.perform(MonitorCommand(tag: "0001", isNewOnly: true), context)
            // Until the first one is shown, the monitor may not have subscribed yet.
            try await until("the gesture") {
                bridge.publish(("tag/0001/gesture", "{}"))
                return !written.lines(.standardOutput).isEmpty
            }
            interruption.fire()
            #expect(await code == .done)
            let topics = written.lines(.standardOutput).map { JSONValue(payload: Array($0.utf8))["topic"] }
            #expect(Set(topics) == ["jacquard/tag/0001/gesture"])
            await bridge.stop()
        }
    }

    @Test("of a tag that no bridge has ends with an error")
    func unknownTag() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(
                broker, facts: [("bridge/attic/state", "online"), ("bridge/attic/info", #"{"tags":["0001","003R"]}"#)])
            let written = Written()
            let code = await ClientAction.perform(MonitorCommand(tag: "003r"), .test(broker.port, written))
            #expect(code == .failed)
            let text = #"There is no tag "003r" (did you mean 003R?); there are 0001, 003R"#
            #expect(written.lines(.standardError).contains("jacquard2mqtt: \(text)"))
            await bridge.stop()
        }
    }

    @Test("ends when its output is closed")
    func nobodyReads() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker)
            let written = Written(limit: 2)
            async let code = ClientAction.perform(MonitorCommand(tag: nil), .test(broker.port, written, isJSON: true))
            try await until("the state") { written.lines(.standardOutput).count == 1 }
            bridge.publish(("tag/0002/gesture", "{}"))
            #expect(await code == .done)
            await bridge.stop()
        }
    }

    @Test(
        "puts a message into one line",
        arguments: [
            (
                "tag/0001/gesture", #"{"event_type":"double_tap","gesture":1,"seq":1042}"#,
                "gesture double tap, number 1042 since the start"
            ),
            (
                "tag/0001/gesture", #"{"event_type":"unknown","gesture":9,"seq":2}"#,
                "unknown gesture 9, number 2 since the start"
            ),
            ("tag/0001/battery", #"{"level":87,"charging":true}"#, "battery is at 87 % and charging"),
            (
                "tag/0001/battery/forecast", #"{"empty":"2026-12-04T18:00:00.000Z"}"#,
                "battery will be empty at 2026-12-04T18:00:00.000Z"
            ),
            (
                "tag/0001/connection",
                #"{"state":"initializing","step":6,"of":14,"attempt":3,"error":{"code":"x","text":"Too far","hint":null}}"#,
                "is initializing 6/14; attempt 3. Too far"
            ),
            (
                "tag/0001/gear", #"{"attached":true,"vendor":"Levi's","product":"Jacket"}"#,
                "Levi's Jacket is attached"
            ),
            (
                "tag/0001/gear",
                #"{"attached":true,"product":null,"product_id":"00-00-00-02","vendor":null,"vendor_id":"00-00-00-01"}"#,
                "unknown gear 00-00-00-01 00-00-00-02 is attached"
            ),
            ("tag/0001/gear", #"{"attached":false}"#, "no gear is attached"),
            ("tag/0001/rssi", "-63", "signal strength is -63 dBm"),
            (
                "tag/0001/touch", #"{"seq":1,"proximity":12,"lines":[0,7,255]}"#,
                "touch: proximity 12, lines 0 7 255"
            ),
            ("tag/0001/touch_mode", "continuous", "streams touches; gestures pause"),
            ("tag/0001/led", #"{"state":"OFF"}"#, "LED is off"),
            (
                "tag/0001/led", #"{"state":"ON","color":{"r":255,"g":0,"b":1},"effect":"double_blink"}"#,
                "LED is on: red 255, green 0, blue 1, double blink"
            ),
            (
                "tag/0001/led/result", #"{"status":"error","error":{"code":"busy","text":"Full"}}"#,
                "led failed: Full (busy)"
            ),
            ("tag/0001/touch_mode/result", #"{"status":"ok","took_ms":41}"#, "touch mode: done after 41 ms"),
            ("tag/0001/led/result", #"{"status":"accepted"}"#, "led: accepted, the result follows"),
            ("tag/0001/led/set", "flash", "command led/set: flash"),
            ("tag/0001/battery/get", "", "command battery/get"),
            ("tag/0001/availability", "online", "can be reached by commands"),
            ("tag/0001/odd", "on\u{1B}[31mline", "odd: on\\u{1b}[31mline"),
        ] as [(String, String, String)])
    func line(topic: String, payload: String, words: String) throws {
        let line = try #require(Self.line(topic, payload))
        #expect(line.text.hasSuffix(" 0001         \(words)"))
        #expect(line.isGesture == (topic.hasSuffix("gesture")))
        #expect(line.text.hasPrefix(line.isGesture ? "* " : "  "))
    }

    @Test(
        "shows each message of this bridge once",
        arguments: [
            ("tag/0001/battery/level", "87"), ("tag/0001/battery/forecast", #"{"empty":null}"#),
            ("tag/0001/stats", "{}"), ("tag/0001/led", ""),
            ("bridge/attic/state", ""),
            ("bridge/attic/pairing", #"{"state":"idle"}"#), ("bridge/attic/found", #"{"count":1}"#),
            ("bridge/cellar/state", "online"), ("tag", "x"), ("tag/0001", "x"),
        ])
    func silence(topic: String, payload: String) {
        #expect(Self.line(topic, payload) == nil)
    }

    @Test(
        "shows messages of the bridge",
        arguments: [
            ("state", "online", "is online"),
            (
                "event", #"{"type":"pair_started","serial":"0001","time":"t","bridge":"attic"}"#,
                "pair started, serial 0001"
            ),
            ("health", #"{"status":"degraded","problems":[{"text":"Old"}]}"#, "health is degraded; Old"),
            ("scan", #"{"scanning":true}"#, "scans for tags"),
            ("adapter", #"[{"id":"hci0","state":"powered_on"}]"#, "hci0 is powered on"),
            ("adapter", "[]", "there is no Bluetooth adapter"),
            ("tags", #"{"connected":2,"known":3}"#, "2 of 3 tags are connected"),
            ("request/tags", "", "command tags"),
            ("response/tags", #"{"status":"ok","took_ms":0}"#, "tags: done after 0 ms"),
            (
                "advertisement", #"{"serial":"0001","address":"F0","rssi":-50,"known":true}"#,
                "receives the tag 0001 F0, -50 dBm, known"
            ),
        ])
    func bridge(topic: String, payload: String, words: String) throws {
        let line = try #require(Self.line("bridge/attic/" + topic, payload))
        #expect(line.text.hasSuffix(" bridge       \(words)"))
    }

    private static func line(_ topic: String, _ payload: String) -> MonitorLine? {
        let record = MonitorRecord(
            topic: "jacquard/" + topic, payload: Array(payload.utf8), isRetained: false, isInitial: false, time: 0)
        return MonitorLine(record, BridgeTopics(.test(1883)))
    }
}
