import HomeAssistant
import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Finding a tag")
struct FindTests {
    private static let topic = "jacquard/tag/003R/find"

    private static func states(_ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix(topic + " ") }.map { String($0.dropFirst(topic.count + 1)) }
    }

    /// The commands since the last call, by what they play.
    private static func played(_ scene: Scene) -> [String] {
        defer { scene.performed = [] }
        return scene.performed.map { command in
            switch command {
            case .playLEDPattern(.haltAll, let target): "halt \(target)"
            case .playLEDPattern(let pattern, let target): "blink \(target) \(pattern.durationMilliseconds)"
            case .playHaptic(.stop): "still"
            case .playHaptic(let pattern): "vibrate \(UInt16(pattern.repeatNMinusOne) + 1)"
            default: "other"
            }
        }
    }

    /// A scene whose tag blinks.
    private static func searching(_ payload: String = "start") -> Scene {
        let scene = Scene.connected()
        scene.report(.gear(.jacket))
        scene.send("tag/003R/find/set", payload)
        scene.answer()
        _ = played(scene)
        return scene
    }

    @Test("is not on MQTT before it is used")
    func unused() {
        let scene = Scene.connected()
        let lines = scene.handle(.started) + scene.report(.gesture(.doubleTap)) + scene.wait(.seconds(500))
        #expect(Self.states(lines).isEmpty)
        scene.handle(.tagRemoved(.tag003R))
        #expect(!scene.wait(.seconds(2)).contains(Self.topic + " "))
    }

    @Test("begins with the tag's LED, whose response is the result, and then the gear")
    func start() {
        let scene = Scene.connected()
        scene.report(.gear(.jacket))
        let sent = scene.send("tag/003R/find/set", #"{"find":"start","id":"a"}"#)
        #expect(Self.played(scene) == ["blink tag 10000"])
        #expect(LEDPattern.finding(for: .seconds(10)).frames.map(\.lengthMilliseconds) == [250, 250], "twice a second")
        #expect(Self.states(sent).isEmpty && scene.results.isEmpty)
        let lines = scene.answer()
        #expect(Self.states(lines) == ["on"])
        #expect(scene.results.map(\.status) == ["ok"])
        #expect(Self.played(scene) == ["vibrate 10"], "a jacket has no LED of its own")
    }

    @Test("repeats its rounds until the time is over")
    func rounds() {
        let scene = Self.searching(#"{"find":"start","for_s":25}"#)
        #expect(Self.states(scene.wait(.seconds(24))).isEmpty)
        #expect(Self.played(scene) == ["blink tag 10000", "vibrate 10", "blink tag 5000", "vibrate 5"])
        #expect(Self.states(scene.wait(.seconds(1))) == ["off"])
        #expect(Self.states(scene.wait(.seconds(100))).isEmpty)
        #expect(Self.played(scene).isEmpty)
    }

    private static func isLit(_ lines: [String]) -> Bool? {
        lines.last { $0.hasPrefix("jacquard/tag/003R/led ") }?.contains(#""state":"ON""#)
    }

    @Test("lights the LED, as its fact says, which remembers what was played before")
    func light() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":1000}"#)
        scene.answer()
        scene.wait(.seconds(2))
        scene.send("tag/003R/find/set", #"{"find":"start","for_s":25}"#)
        let start = scene.answer()
        #expect(Self.isLit(start) == true)
        #expect(start.contains { $0.contains(#""effect":"custom""#) && $0.contains(#""b":255,"g":255,"r":255"#) })
        #expect(Self.isLit(scene.wait(.seconds(3))) == nil)
        scene.send("tag/003R/led/set", "off")
        #expect(Self.isLit(scene.answer()) == false)
        #expect(Self.isLit(scene.wait(.seconds(10))) == true, "the next round")
        let end = scene.wait(.seconds(12))
        #expect(Self.isLit(end) == false)
        #expect(end.contains { $0.contains(#""b":0,"g":0,"r":255"#) })
    }

    @Test("leaves the LED on for the rest of a round after the link was lost, and off after a gesture")
    func lightEnds() {
        let scene = Self.searching()
        scene.wait(.seconds(4))
        scene.disconnect()
        #expect(Self.isLit(scene.wait(.seconds(5))) == nil)
        #expect(Self.isLit(scene.wait(.seconds(1))) == false)
        let other = Self.searching()
        #expect(Self.isLit(other.report(.gesture(.brushIn))) == false)
        #expect(Self.isLit(Self.searching().handle(.stopping)) == false)
    }

    @Test("ends with a gesture, which is published as usual")
    func gesture() {
        let scene = Self.searching()
        let lines = scene.report(.gesture(.brushIn))
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/003R/gesture ") && $0.contains("brush_in") })
        #expect(Self.states(lines) == ["off"])
        #expect(Self.played(scene) == ["halt tag", "still"])
        #expect(Self.states(scene.report(.gesture(.brushIn)) + scene.wait(.seconds(100))).isEmpty)
    }

    @Test("ends with stop, at once and also while a start waits or is under way")
    func stop() {
        let scene = Self.searching()
        #expect(Self.states(scene.send("tag/003R/find/set", "stop")) == ["off"])
        #expect(scene.results.last?.status == "ok")
        #expect(Self.played(scene) == ["halt tag", "still"])
        #expect(Self.states(scene.send("tag/003R/find/set", "stop")).isEmpty)
        #expect(scene.results.count == 3)
        scene.send("tag/003R/find/set", #"{"find":"start","id":"late"}"#)
        scene.send("tag/003R/find/set", "stop")
        #expect(scene.results.suffix(2).map(\.status) == ["ok", "error"])
        #expect(scene.lastError?.code == "not_permitted")
        #expect(Self.played(scene) == ["blink tag 10000", "halt tag", "still"], "the tag has begun to blink")
        #expect(Self.states(scene.answer()).isEmpty, "the response to the cancelled start")
        let asleep = Scene()
        asleep.send("tag/003R/find/set", "start")
        asleep.send("tag/003R/find/set", "stop")
        #expect(asleep.results.map(\.status) == ["ok", "error"])
        asleep.connect()
        #expect(asleep.performed.isEmpty)
    }

    @Test("is stored with its first use, so that a killed bridge leaves no topic behind")
    func stored() {
        let scene = Scene.connected()
        scene.send("tag/003R/find/set", "start")
        _ = scene.takeActions()
        scene.answer()
        let isStored = scene.actions.contains { if case .remember = $0 { true } else { false } }
        #expect(isStored)
    }

    @Test("keeps a tag connected that is connected on demand")
    func onDemand() {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)])
        scene.powerOn()
        scene.send("tag/003R/find/set", "start")
        scene.connect()
        scene.answer()
        _ = scene.takeActions()
        scene.wait(.seconds(59))
        #expect(!scene.takeActions().contains(.disconnect(.tag003R)))
        scene.wait(.seconds(40))
        #expect(scene.takeActions().contains(.disconnect(.tag003R)))
    }

    @Test("ends with the link, the bridge and the tag, with one off for each")
    func ends() {
        let lost = Self.searching()
        let error = TagConnectionError(.bluetoothConnectionError, "the link was lost")
        let lines = lost.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1, error: error)))
        #expect(Self.states(lines + lost.wait(.seconds(100))) == ["off"])
        #expect(Self.played(lost).isEmpty)
        #expect(Self.states(Self.searching().handle(.stopping)) == ["off"])
        let removed = Self.searching()
        let end = removed.handle(.tagRemoved(.tag003R)) + removed.wait(.seconds(100))
        #expect(Self.states(end) == ["off", ""])
    }

    @Test("waits for a tag that sleeps, and expires with ttl_ms")
    func asleep() {
        let scene = Scene()
        scene.send("tag/003R/find/set", #"{"find":"start","ttl_ms":60000}"#)
        scene.wait(.seconds(50))
        scene.connect()
        #expect(Self.states(scene.answer()) == ["on"])
        let late = Scene()
        late.send("tag/003R/find/set", #"{"find":"start","ttl_ms":60000}"#)
        late.wait(.seconds(60))
        #expect(late.lastError?.code == "expired")
    }

    @Test("takes the LED from another pattern, as its fact says")
    func otherPattern() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", "red")
        scene.answer()
        scene.send("tag/003R/find/set", "start")
        let light = scene.answer().last { $0.hasPrefix("jacquard/tag/003R/led ") }
        #expect(light?.contains(#""effect":"custom","state":"ON""#) == true)
    }

    @Test("continues for another time with another start")
    func again() {
        let scene = Self.searching(#"{"find":"start","for_s":20}"#)
        scene.wait(.seconds(15))
        scene.send("tag/003R/find/set", #"{"find":"start","for_s":20}"#)
        #expect(Self.states(scene.answer()).isEmpty)
        #expect(Self.states(scene.wait(.seconds(19))).isEmpty)
        #expect(Self.states(scene.wait(.seconds(1))) == ["off"])
    }

    @Test("rejects other values, with those that are allowed")
    func invalid() {
        let scene = Scene.connected()
        for (payload, text) in [
            ("", #""find" is missing; it may be start, stop"#), ("now", #""payload" is "now"; it may be start, stop"#),
            (#"{"find":"start","for_s":4}"#, #""for_s" is 4; it may be 5 to 300"#),
            (#"{"for_s":10}"#, #""find" is missing; it may be start, stop"#),
        ] {
            scene.send("tag/003R/find/set", payload)
            #expect(scene.lastError?.code == "invalid_argument")
            #expect(scene.lastError?.text == text)
        }
        #expect(scene.performed.isEmpty)
    }

    @Test("is off from the start while Home Assistant discovery is on, and after the first use")
    func discovery() {
        let scene = Scene.announcing()
        #expect(Self.states(scene.handle(.started)) == ["off"])
        let record = TagRecord(id: .tag003R, serial: "003R", features: ["find": true])
        #expect(Self.states(Scene(records: [record]).handle(.started)) == ["off"])
    }

    @Test("a search that has failed without a known effect has lit the LED, which is switched off")
    func uncertain() {
        let scene = Scene.connected()
        scene.send("tag/003R/find/set", "start")
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .playLEDPattern(.haltAll, on: .tag))
    }

    @Test("stop passes the limit of commands")
    func stopAtLimit() {
        let scene = Scene.connected()
        var configuration = Scene.configuration()
        configuration.options.commandsPerTag = 1
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.send("tag/003R/led/set", "on")
        scene.send("tag/003R/find/set", "start")
        #expect(scene.lastError?.code == "busy")
        scene.send("tag/003R/find/set", "stop")
        #expect(scene.results.last?.status == "ok")
    }

    @Test("may be begun by automations, is recorded with its results, and leaves no topic behind")
    func declarations() {
        #expect(AccessTable.automationCommands.contains("find/set"))
        #expect(Set(RecordedEvent.Kind.all.map(\.name)).isSuperset(of: ["find", "find/result"]))
        #expect(TagTopicTable.all(Scene().state.topics.tag(.tag003R)).contains("jacquard/tag/003R/find"))
    }
}
