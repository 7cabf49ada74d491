import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Reflexes")
struct ReflexTests {
    private static let other = TagEntry(id: "0001", serial: "0001")
    private static let result = "jacquard/tag/003R/reflex/result"

    private static func request(_ text: String) throws -> ReflexRequest { try ReflexRequest(text) }

    /// A bridge with two connected tags and reflexes.
    private static func scene(_ reflexes: Reflex..., chords: [Chord] = []) -> Scene {
        let scene = Scene(tags: [.tag003R, other], chords: chords, reflexes: reflexes)
        scene.connect()
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: other.id)
        scene.handle(.brokerConnected)
        return scene
    }

    /// The commands given by an event: to which tag, and whether before others.
    private static func given(_ actions: [BridgeAction]) -> [String] {
        let names: [TagHandle: TagID] = [.tag003R: .tag003R, 2: other.id]
        return actions.compactMap { action in
            guard case .perform(let command, let tag, _, let isFirst) = action else { return nil }
            let name = if case .playHaptic = command { "haptic" } else { "led" }
            return "\(names[tag]?.text ?? "") \(name)\(isFirst ? " first" : "")"
        }
    }

    private static func tap(cooldown: Duration = .zero, from: Set<TagID> = [], to: TagID? = nil) throws -> Reflex {
        Reflex(on: .event("double_tap"), from: from, to: to, request: try request("led flash"), cooldown: cooldown)
    }

    @Test("give their command at once, before the gesture is published, at the head of the tag's queue")
    func gesture() throws {
        let scene = Self.scene(try Self.tap())
        let actions = scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)
        #expect(Self.given(Array(actions.prefix(1))) == ["003R led first"])
        guard case .publish(let publication) = actions[1] else { return #expect(Bool(false), "no gesture") }
        #expect(publication.topic == "jacquard/tag/003R/gesture")
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .gesture(.brushIn)), at: scene.now)) == [])
    }

    @Test("have a result on a topic of their own, none without a broker, and change the light")
    func result() throws {
        let scene = Self.scene(try Self.tap())
        scene.report(.gesture(.doubleTap))
        scene.now = scene.now + .milliseconds(4)
        let lines = scene.answer()
        let result = #"""
            \#(Self.result) {"bridge":"attic","data":{},"error":null,"final":true,"id":"double_tap","status":"ok",\#
            "time":"2026-11-20T10:15:02.118Z","took_ms":4}
            """#
        #expect(lines.first == result)
        #expect(lines.contains { $0.hasPrefix(#"jacquard/tag/003R/led {"brightness":255,"#) })
        let publication = try #require(scene.publications.last { $0.topic == Self.result })
        #expect(publication.kind == .event(lifetime: .seconds(5)))
        #expect(publication.message.qos == .atLeastOnce)
        scene.report(.gesture(.doubleTap))
        #expect(scene.fail(.timeout).contains { $0.hasPrefix(Self.result) && $0.contains(#""code":"timeout""#) })
        scene.handle(.brokerDisconnected)
        scene.report(.gesture(.doubleTap))
        #expect(!scene.answer().contains { $0.hasPrefix(Self.result) })
    }

    @Test("of the listed tags only, to another tag, and to one that is not connected or unknown")
    func tags() throws {
        let scene = Self.scene(try Self.tap(from: ["0001"], to: .tag003R))
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)) == [])
        #expect(
            Self.given(scene.state.handle(.tag(2, .gesture(.doubleTap)), at: scene.now)) == ["003R led first"])
        scene.disconnect()
        let lines = scene.report(.gesture(.doubleTap), of: "0001")
        #expect(lines.contains { $0.hasPrefix(Self.result) && $0.contains(#""code":"tag_offline""#) })
        let unknown = Self.scene(try Self.tap(to: "gone"))
        let refused = unknown.report(.gesture(.doubleTap))
        #expect(refused.contains { $0.hasPrefix("jacquard/tag/gone/reflex/result") && $0.contains("unknown_tag") })
    }

    @Test("of a tag that the user has disconnected, or that the configuration never connects, are rejected")
    func held() throws {
        let scene = Self.scene(try Self.tap(to: .tag003R))
        scene.send("tag/003R/connection/set", "disconnect")
        let lines = scene.report(.gesture(.doubleTap), of: "0001")
        #expect(lines.contains { $0.hasPrefix(Self.result) && $0.contains(#""code":"not_permitted""#) })
    }

    @Test("pause for their cool-down, for each tag, to the millisecond")
    func cooldown() throws {
        let scene = Self.scene(try Self.tap(cooldown: .milliseconds(300)))
        func count(_ scene: Scene, _ tag: TagHandle) -> Int {
            Self.given(scene.state.handle(.tag(tag, .gesture(.doubleTap)), at: scene.now)).count
        }
        #expect(count(scene, .tag003R) == 1)
        #expect(count(scene, 2) == 1)
        scene.now = scene.now + .milliseconds(299)
        #expect(count(scene, .tag003R) == 0)
        scene.now = scene.now + .milliseconds(1)
        #expect(count(scene, .tag003R) == 1)
    }

    @Test("of a tag that is forgotten and added again do not pause any more")
    func forgotten() throws {
        let scene = Self.scene(try Self.tap(cooldown: .seconds(3_600)))
        scene.report(.gesture(.doubleTap))
        scene.handle(.tagRemoved(.tag003R))
        scene.handle(.tagAdded(.tag003R))
        scene.connect()
        let tag = scene.state.handle(of: .tag003R) ?? .none
        #expect(Self.given(scene.state.handle(.tag(tag, .gesture(.doubleTap)), at: scene.now)).count == 1)
    }

    @Test("on a chord follow the chord, and those on a gesture in an exclusive chord follow what is published")
    func chord() throws {
        let chord = Chord(
            name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(800), isExclusive: true)
        let onChord = Reflex(on: .event("tap_in"), request: try Self.request("haptic short"))
        let scene = Self.scene(try Self.tap(), onChord, chords: [chord])
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)) == [])
        #expect(
            Self.given(scene.state.handle(.tag(.tag003R, .gesture(.brushIn)), at: scene.now)) == ["003R haptic first"])
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)) == [])
        scene.now = scene.now + .milliseconds(801)
        #expect(Self.given(scene.state.handle(.deadlineReached, at: scene.now)) == ["003R led first"])
    }

    @Test("on gear follow a change, not the first report after the start and no repetition")
    func gear() throws {
        let scene = Self.scene(
            Reflex(on: .gear(isAttached: true), request: try Self.request("haptic short"), cooldown: .zero),
            Reflex(on: .gear(isAttached: false), request: try Self.request("led red"), cooldown: .zero))
        let reports: [(Component?, [String])] = [
            (.jacket, []), (.jacket, []), (nil, ["003R led first"]), (nil, []), (.jacket, ["003R haptic first"]),
            (.jacket, []),
        ]
        for (gear, expected) in reports {
            #expect(Self.given(scene.state.handle(.tag(.tag003R, .gear(gear)), at: scene.now)) == expected)
        }
    }

    @Test("on a battery level follow each crossing once")
    func battery() throws {
        let scene = Self.scene(
            Reflex(on: .batteryBelow(15), request: try Self.request("led red"), cooldown: .zero))
        let reports: [(UInt32, Int)] = [
            (16, 0), (15, 0), (14, 1), (14, 0), (10, 0), (15, 0), (14, 1), (100, 0), (3, 1),
        ]
        for (level, expected) in reports {
            let battery = BatteryStatus(level: level, isCharging: false)
            #expect(
                Self.given(scene.state.handle(.tag(.tag003R, .battery(battery)), at: scene.now)).count == expected,
                "\(level)")
        }
        // The first report of a tag.
        let low = BatteryStatus(level: 3, isCharging: false)
        #expect(Self.given(scene.state.handle(.tag(2, .battery(low)), at: scene.now)).count == 1)
    }

    @Test("on a battery level don't follow a restart")
    func batteryAfterRestart() throws {
        let record = TagRecord(
            id: .tag003R, serial: "003R",
            battery: TagRecord.Battery(level: 14, isCharging: false, unixMilliseconds: 0))
        let scene = Scene(
            records: [record], reflexes: [Reflex(on: .batteryBelow(15), request: try Self.request("led red"))])
        scene.connect()
        let low = BatteryStatus(level: 13, isCharging: false)
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .battery(low)), at: scene.now)) == [])
    }

    @Test("on the broker go to all connected tags, once for each outage, and not before the first connection")
    func broker() throws {
        let reflexes = [
            Reflex(on: .broker(isConnected: false), request: try Self.request("led red"), cooldown: .zero),
            Reflex(on: .broker(isConnected: true), to: "0001", request: try Self.request("led green"), cooldown: .zero),
        ]
        let scene = Scene(tags: [.tag003R, Self.other], reflexes: reflexes)
        scene.connect()
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: "0001")
        let steps: [(BridgeEvent, [String])] = [
            (.brokerDisconnected, []), (.brokerConnected, []),
            (.brokerDisconnected, ["003R led first", "0001 led first"]), (.brokerDisconnected, []),
            (.brokerConnected, ["0001 led first"]), (.brokerConnected, []),
        ]
        for (event, expected) in steps {
            #expect(Self.given(scene.state.handle(event, at: scene.now)) == expected, "\(event)")
        }
    }

    @Test("are changed by a reload")
    func reload() throws {
        let scene = Self.scene(try Self.tap())
        let new = Scene.configuration(tags: [.tag003R, Self.other], reflexes: [try Self.tap(to: "0001")])
        scene.handle(.configurationChanged(new, isBrokerConnected: true))
        #expect(
            Self.given(scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)) == ["0001 led first"])
        scene.handle(.configurationChanged(Scene.configuration(), isBrokerConnected: true))
        #expect(Self.given(scene.state.handle(.tag(.tag003R, .gesture(.doubleTap)), at: scene.now)) == [])
    }

    @Test("take no room from the commands of users, and have room for four")
    func bounds() throws {
        let scene = Scene(commandsPerTag: 2, reflexes: [try Self.tap()])
        scene.connect()
        scene.handle(.brokerConnected)
        for number in 1...6 {
            let lines = scene.report(.gesture(.doubleTap))
            let isBusy = lines.contains { $0.hasPrefix(Self.result) && $0.contains(#""code":"busy""#) }
            #expect(isBusy == (number > 4), "\(number)")
        }
        #expect(scene.send("tag/003R/led/set", "flash") == [])
        #expect(scene.send("tag/003R/led/set", "flash") == [])
        #expect(scene.send("tag/003R/led/set", "flash").contains { $0.contains(#""code":"busy""#) })
        #expect(scene.performed.count == 6)
    }

    @Test("have the commands of MQTT, and refuse others with the reason")
    func requests() throws {
        for text in [
            "led flash", "led off", "led RED", "led #ff8000", #"led {"color":"red","pattern":"breathing"}"#,
            "haptic short", #"haptic {"pattern":"sine_increase","on_ms":50}"#, "  led flash ",
        ] {
            #expect(throws: Never.self) { try ReflexRequest(text) }
        }
        let refused = [
            ("", "does not begin with led, haptic or notify"),
            ("name Sleeve", "does not begin with led, haptic or notify"),
            ("led", "is refused: The command contains no action"),
            ("led {", "is refused: The payload \"{\" is not JSON"),
            ("led flasch", "is refused: \"payload\" is \"flasch\"; it may be on, off, flash, a colour"),
            ("haptic", "is refused: \"pattern\" is missing"), ("haptic long long", "is refused: The payload"),
        ]
        for (text, expected) in refused {
            let error = #expect(throws: ReflexRequest.Problem.self) { try ReflexRequest(text) }
            #expect(error?.text.hasPrefix(expected) == true, "\(text): \(error?.text ?? "")")
        }
    }
}
