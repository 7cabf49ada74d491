import HomeAssistant
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("The topic of presence")
struct PresenceFactsTests {
    private static let topic = "jacquard/tag/003R/presence"

    private static func scene(
        isEnabled: Bool = true, records: [TagRecord] = []
    ) -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.options.presence.isEnabled = isEnabled
        scene.state = BridgeState(
            configuration: configuration, records: records, boot: "9f3c", startedAt: Scene.beginning)
        return scene
    }

    /// The states that were published, in order.
    private static func states(_ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(topic + " ") }.compactMap { line in
            Presence.State.allCases.first { line.hasSuffix(#""state":"\#($0.rawValue)"}"#) }?.rawValue
        }
    }

    private static func lost(_ end: LinkEnd?) -> TagEvent {
        let error = TagConnectionError(.bluetoothConnectionError, "the link was lost", linkEnd: end)
        return .connection(TagConnection(state: .preparingToConnect, attempt: 1, error: error))
    }

    @Test("and everything about it is missing while it is off")
    func off() {
        let scene = Self.scene(isEnabled: false)
        var lines = scene.handle(.started)
        scene.connect()
        lines += scene.report(Self.lost(.remote)) + scene.wait(.seconds(1_000))
        #expect(!lines.contains { $0.contains("presence") || $0.contains("ended") })
        #expect(lines.contains { $0.contains("the link was lost") })
        let isStored = scene.actions.contains {
            if case .remember(let record) = $0 { record.presence != nil } else { false }
        }
        #expect(!isStored)
    }

    @Test("is inferred after a restart, whether it was before or not", arguments: [true, false])
    func inferredBefore(isInferred: Bool) {
        let scene = Self.scene()
        _ = scene.handle(.started)
        scene.connect()
        if isInferred { scene.wait(Presence.idle) }
        scene.report(Self.lost(isInferred ? nil : .remote))
        let records = scene.takeActions().compactMap { action -> TagRecord? in
            if case .remember(let record) = action { record } else { nil }
        }
        let other = Self.scene(records: records.suffix(1))
        #expect(
            other.handle(.started).contains {
                $0.hasPrefix(Self.topic + #" {"inferred":true,"#) && $0.hasSuffix(#""state":"asleep"}"#)
            })
    }

    @Test("has its keys in order, and follows the link")
    func life() {
        let scene = Self.scene()
        let start = scene.handle(.started)
        #expect(
            start.contains(
                Self.topic + #" {"inferred":true,"radio":null,"since":"2026-11-20T10:15:02.114Z","state":"unknown"}"#))
        #expect(start.contains { $0.hasPrefix("jacquard/tag/003R/connection") && $0.contains(#""ended":null"#) })
        let up = scene.report(.connection(TagConnection(state: .connecting(step: 0), attempt: 1)))
        #expect(Self.states(up) == ["here"])
        scene.connect()
        let lost = scene.report(Self.lost(.timeout))
        #expect(Self.states(lost).isEmpty)
        #expect(lost.contains { $0.contains(#""ended":"timeout""#) && $0.contains("the link was lost") })
        #expect(Self.states(scene.wait(.seconds(119))).isEmpty)
        #expect(Self.states(scene.wait(.seconds(1))) == ["gone"])
        #expect(Self.states(scene.handle(.sighting(.tag003R, TagSighting(rssi: -60)))) == ["here"])
    }

    @Test("of a tag that falls asleep has no error, and is no failure")
    func sleep() {
        let scene = Self.scene()
        scene.handle(.started)
        scene.connect()
        let lines = scene.report(Self.lost(.remote))
        #expect(Self.states(lines) == ["asleep"])
        let connection = lines.last { $0.hasPrefix("jacquard/tag/003R/connection") }
        #expect(connection?.contains(#""ended":"remote""#) == true)
        #expect(connection?.contains(#""error":null"#) == true)
        #expect(!lines.contains { $0.contains("/health") })
        // The session goes on trying.
        let lost = TagConnectionError(.bluetoothConnectionError, "the link was lost")
        let timeout = TagConnectionError(.connectionTimeout, "No link")
        var later: [String] = []
        for (attempt, error) in [lost, timeout, timeout].enumerated() {
            later += scene.report(
                .connection(TagConnection(state: .preparingToConnect, attempt: attempt + 1, error: error)))
            later += scene.wait(.seconds(60))
        }
        #expect(!later.contains { $0.contains("the link was lost") || $0.contains("No link") })
        #expect(!later.contains { $0.contains(#""attempt":3"#) || $0.contains("/health") })
    }

    @Test("names the radio of a bridge with several")
    func radio() {
        let scene = Self.scene()
        scene.handle(.started)
        let lines = scene.handle(.sighting(.tag003R, TagSighting(rssi: -60, radio: "hall")))
        #expect(lines.last { $0.hasPrefix(Self.topic) }?.contains(#""radio":"hall""#) == true)
        scene.connect()
        let moved = scene.handle(.sighting(.tag003R, TagSighting(radio: "loft")))
        #expect(moved.last { $0.hasPrefix(Self.topic) }?.contains(#""radio":"loft""#) == true)
    }

    @Test("is withheld while another bridge is connected to the tag")
    func shared() {
        let scene = Self.scene(isEnabled: false)
        scene.handle(.started)
        scene.handle(.brokerConnected)
        scene.receive("jacquard/bridge/cellar/state", "online", isRetained: true)
        scene.receive(
            "jacquard/bridge/cellar/info", #"{"connected":["003R"],"instance":"cellar","tags":["003R"]}"#,
            isRetained: true)
        scene.receive("jacquard/bridge/\(Scene.configuration().instance)/state", "online")
        _ = scene.takeActions()
        var on = Scene.configuration()
        on.options.presence.isEnabled = true
        scene.handle(.configurationChanged(on, isBrokerConnected: true))
        let actions = scene.actions
        let withheld = actions.firstIndex(of: .withhold([Self.topic]))
        let published = actions.firstIndex {
            if case .publish(let publication) = $0 { publication.topic == Self.topic } else { false }
        }
        #expect(withheld.map { index in published.map { index < $0 } ?? true } == true)
    }

    @Test("follows sleep/set, an idle time, and the gestures that end it")
    func idle() {
        let scene = Self.scene()
        scene.handle(.started)
        scene.connect()
        scene.send("tag/003R/sleep/set", "")
        scene.answer()
        #expect(Self.states(scene.report(Self.lost(nil))) == ["asleep"])
        scene.connect()
        scene.wait(.seconds(590))
        #expect(Self.states(scene.report(Self.lost(nil))) == ["asleep"])
        #expect(scene.publications.last { $0.topic == Self.topic }?.text.contains(#""inferred":true"#) == true)
        scene.connect()
        scene.wait(.seconds(590))
        scene.report(.gesture(.doubleTap))
        scene.wait(.seconds(5))
        #expect(Self.states(scene.report(Self.lost(nil))).isEmpty)
        #expect(Self.states(scene.wait(.seconds(120))) == ["gone"])
    }

    @Test("keeps its state while Bluetooth is off, at a clean stop, and after a restart")
    func outages() {
        let scene = Self.scene()
        scene.handle(.started)
        scene.powerOn()
        scene.connect()
        let error = TagConnectionError(.bluetoothPowerOff, "the adapter is switched off")
        let off =
            scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1, error: error)))
            + scene.handle(.bluetooth(.poweredOff)) + scene.wait(.seconds(5_000)) + scene.powerOn()
            + scene.wait(.seconds(5_000))
        #expect(Self.states(off) == ["here", "asleep"])
        #expect(Self.states(scene.handle(.stopping)).isEmpty)
        let stored = scene.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }
        #expect(stored.last?.presence?.state == "asleep")
        let here = stored.filter { $0.presence?.state == "here" }
        let restarted = Self.scene(records: here.suffix(1))
        #expect(Self.states(restarted.handle(.started)) == ["here"])
        #expect(Self.states(restarted.wait(.seconds(500))) == ["asleep"])
    }

    @Test("is withdrawn when the tag is forgotten, when it is switched off, and by the next run without it")
    func withdrawal() {
        let scene = Self.scene()
        scene.handle(.started)
        scene.connect()
        #expect(scene.publications.contains { $0.topic == Self.topic })
        let off = scene.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        #expect(!off.contains(Self.topic + " "))
        #expect(scene.wait(.seconds(1)).filter { $0.hasPrefix(Self.topic) } == [Self.topic + " "])
        var on = Scene.configuration()
        on.options.presence = PresenceOptions(isEnabled: true, awayAfter: .seconds(30))
        #expect(Self.states(scene.handle(.configurationChanged(on, isBrokerConnected: true))) == ["here"])
        // Switched off and on within a second: the topic stays.
        scene.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        #expect(Self.states(scene.handle(.configurationChanged(on, isBrokerConnected: true))) == ["here"])
        #expect(!scene.wait(.seconds(2)).contains(Self.topic + " "))
        scene.handle(.tagRemoved(.tag003R))
        #expect(scene.wait(.seconds(2)).contains(Self.topic + " "))
        let record = TagRecord(
            id: .tag003R, serial: "003R", presence: TagRecord.Presence(state: "gone", unixMilliseconds: 0))
        let without = Self.scene(isEnabled: false, records: [record])
        #expect(without.handle(.started).contains(Self.topic + " "))
        func forgotten() -> Bool {
            without.actions.contains { if case .remember(let record) = $0 { record.presence == nil } else { false } }
        }
        #expect(!forgotten(), "the broker has not received it")
        without.handle(.brokerConnected)
        let remembered = without.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }
        #expect(remembered.last.map { $0.presence == nil } == true)
    }

    @Test(
        "is withdrawn after its entities: Home Assistant would evaluate their templates with an empty message",
        arguments: HomeAssistantConfiguration.Form.allCases)
    func order(form: HomeAssistantConfiguration.Form) {
        let scene = Scene.announced(form)
        let before = scene.state.configuration
        var on = before
        on.options.presence.isEnabled = true
        scene.handle(.configurationChanged(on, isBrokerConnected: true))
        let off = scene.handle(.configurationChanged(before, isBrokerConnected: true))
        #expect(off.contains { $0.hasPrefix("homeassistant/") } && !off.contains(Self.topic + " "))
        #expect(!scene.wait(.milliseconds(990)).contains(Self.topic + " "))
        #expect(scene.wait(.milliseconds(10)).contains(Self.topic + " "))
    }

    @Test("of an earlier run is withdrawn a second after the first announcement, and kept in the file until then")
    func earlier() {
        let record = TagRecord(
            id: .tag003R, serial: "003R", presence: TagRecord.Presence(state: "gone", unixMilliseconds: 0),
            hasRadios: true)
        let scene = Scene()
        let configuration = Scene.announced().state.configuration
        scene.state = BridgeState(
            configuration: configuration, records: [record], boot: "9f3c", startedAt: Scene.beginning)
        let radios = "jacquard/tag/003R/radios "
        var lines = scene.handle(.started)
        scene.connect()
        lines += scene.handle(.brokerConnected) + scene.wait(.milliseconds(1_900))
        #expect(lines.contains { $0.hasPrefix("homeassistant/device/jacquard_tag_003R") })
        #expect(!lines.contains(Self.topic + " ") && !lines.contains(radios))
        func stored() -> TagRecord? {
            scene.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }.last
        }
        #expect(stored().map { $0.presence != nil && $0.hasRadios } != false)
        let later = scene.wait(.seconds(2))
        #expect(later.contains(Self.topic + " ") && later.contains(radios))
        #expect(stored().map { $0.presence == nil && !$0.hasRadios } == true)
        #expect(!scene.wait(.seconds(60)).contains(radios))
    }

    @Test("is announced to Home Assistant as a tracker and a sensor, only while it is on")
    func homeAssistant() {
        for form in HomeAssistantConfiguration.Form.allCases {
            let scene = Scene.announced(form)
            #expect(!scene.publications.contains { $0.line.contains("device_tracker") })
            var on = scene.state.configuration
            on.options.presence.isEnabled = true
            let lines = scene.handle(.configurationChanged(on, isBrokerConnected: true))
            let announced = lines.filter { $0.hasPrefix("homeassistant/") }
            #expect(announced.contains { $0.contains(#""source_type":"bluetooth_le""#) })
            on.options.presence.isEnabled = false
            let removed = scene.handle(.configurationChanged(on, isBrokerConnected: true))
            switch form {
            case .device:
                #expect(removed.contains { $0.contains(#""tracker":{"platform":"device_tracker"}"#) })
            case .single:
                #expect(removed.contains("homeassistant/device_tracker/jacquard_tag_003R/tracker/config "))
            }
        }
    }
}
