import HomeAssistant
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Signals")
struct SignalTests {
    private static func scene(_ signals: [Signal] = [], reflexes: [Reflex] = []) -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration(reflexes: reflexes)
        configuration.options.signals = signals
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: Scene.beginning)
        scene.connect()
        scene.report(.gear(.jacket))
        return scene
    }

    @Test("play the LED of the tag, and then the motor of the gear")
    func doorbell() {
        let scene = Self.scene()
        scene.send("tag/003R/notify/set", "doorbell")
        guard case .playLEDPattern(let pattern, .tag)? = scene.performed.first else {
            Issue.record("no light")
            return
        }
        #expect(pattern.kind == .doubleBlink && pattern.durationMilliseconds == 4_000)
        let lines = scene.answer()
        #expect(lines.contains { $0.hasPrefix("jacquard/tag/003R/led ") && $0.contains(#""state":"ON""#) })
        guard case .playHaptic(let haptic)? = scene.performed.last else {
            Issue.record("no vibration")
            return
        }
        #expect(haptic.onMilliseconds == 1_000 && haptic.repeatNMinusOne == 1)
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("need no gear, unless they only vibrate")
    func noGear() {
        let scene = Scene.connected()
        scene.send("tag/003R/notify/set", #"{"signal":"doorbell"}"#)
        scene.answer()
        #expect(scene.performed.count == 1 && scene.results.last?.status == "ok")
        let silent = Self.scene([Signal(name: "buzz", haptic: "short", plays: 3)])
        silent.send("tag/003R/notify/set", "buzz")
        #expect(silent.performed.count == 1)
        silent.answer()
        #expect(silent.performed.count == 1 && silent.results.last?.status == "ok")
    }

    @Test("that are configured replace built-in ones, and are listed in errors")
    func configured() {
        let scene = Self.scene([
            Signal(name: "doorbell", color: "blue"), Signal(name: "tea", color: "#00ff80", pattern: "breathing"),
        ])
        scene.send("tag/003R/notify/set", "doorbell")
        scene.send("tag/003R/notify/set", "tea")
        #expect(scene.performed.count == 2)
        scene.send("tag/003R/notify/set", "coffee")
        #expect(scene.lastError?.code == "invalid_argument")
        let names = "default, success, failure, warning, alarm, doorbell, tea"
        #expect(scene.lastError?.text == #""payload" is "coffee"; it may be "# + names)
        scene.send("tag/003R/notify/set", #"{"signal":"coffee"}"#)
        #expect(scene.lastError?.text == #""signal" is "coffee"; it may be "# + names)
        scene.send("tag/003R/notify/set", "")
        #expect(scene.lastError?.text == #""signal" is missing; it may be "# + names)
    }

    @Test("of a message are the named one; another text is refused with the names, and nothing is played")
    func message() {
        let scene = Self.scene([Signal(name: "tea", color: "green")])
        for message in ["doorbell", "alarm", "tea", "default"] {
            scene.performed = []
            scene.send("tag/003R/notify/set", #"{"message":"\#(message)"}"#)
            #expect(scene.performed.count == 1, "\(message)")
            scene.answer()
        }
        #expect(scene.results.allSatisfy { $0.status == "ok" })
        scene.performed = []
        let names = "default, doorbell, success, failure, warning, alarm, tea"
        for message in ["The post is here", "siren", "Doorbell", ""] {
            scene.send("tag/003R/notify/set", #"{"message":"\#(message)"}"#)
            #expect(scene.lastError?.code == "invalid_argument", "\(message)")
            #expect(scene.lastError?.text == #""message" is "\#(message)"; it may be "# + names)
        }
        scene.send("tag/003R/notify/set", #"{"message":1}"#)
        #expect(scene.lastError?.text == #""message" is 1; it may be "# + names)
        #expect(scene.performed.isEmpty)
    }

    @Test("can be given by reflexes, and to groups")
    func reflexes() throws {
        let scene = Self.scene(
            [Signal(name: "tea", color: "red")],
            reflexes: [Reflex(on: .event("double_tap"), request: try ReflexRequest("notify tea"))])
        scene.report(.gesture(.doubleTap))
        #expect(scene.performed.count == 1)
        let unknown = Self.scene(
            reflexes: [Reflex(on: .event("double_tap"), request: try ReflexRequest("notify tea"))])
        unknown.handle(.brokerConnected)
        unknown.report(.gesture(.doubleTap))
        #expect(unknown.performed.isEmpty)
        #expect(
            ReflexRequest.problem(with: "notify") == #"is refused: "signal" is missing; it may be "#
                + Signal.builtIn.map(\.name).joined(separator: ", "))
        let group = Scene(groups: ["hall": [.tag003R]])
        group.connect()
        group.send("group/hall/notify/set", "alarm")
        #expect(group.performed.count == 1)
    }

    @Test("that exist without configuration are valid")
    func builtIn() {
        let scene = Scene.connected()
        for signal in Signal.builtIn { scene.send("tag/003R/notify/set", signal.name) }
        #expect(scene.performed.count == Signal.builtIn.count)
    }

    @Test("are a notify entity of Home Assistant in the device form only")
    func homeAssistant() {
        let device = Scene.announced(.device).components()["notify"]
        #expect(device?["platform"]?.text == "notify")
        #expect(device?["command_topic"]?.text == "jacquard/tag/003R/notify/set")
        #expect(!Scene.announced(.single).announcements.contains { $0.topic.contains("/notify/") })
    }
}
