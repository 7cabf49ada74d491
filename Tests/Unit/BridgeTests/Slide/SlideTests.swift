import HomeAssistant
import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("The touch mode slide")
struct SlideTests {
    private static let topic = "jacquard/tag/003R/slide "
    private static let mode = "jacquard/tag/003R/touch_mode "

    /// What follows a topic in the lines.
    private static func values(_ lines: [String], of topic: String) -> [String] {
        lines.filter { $0.hasPrefix(topic) }.map { String($0.dropFirst(topic.count)) }
    }

    private static func phases(_ lines: [String]) -> [String] {
        values(lines, of: topic).map { line in
            SlideMachine.Phase.allCases.map(\.rawValue).first { line.contains(#""phase":"\#($0)""#) } ?? "none"
        }
    }

    private static func configured(isEnabled: Bool = true) -> BridgeConfiguration {
        var configuration = Scene.configuration()
        configuration.options.features.slide.isEnabled = isEnabled
        return configuration
    }

    /// A scene with a connected tag in a jacket.
    private static func scene(isEnabled: Bool = true) -> Scene {
        let scene = Scene.connected()
        scene.handle(.configurationChanged(configured(isEnabled: isEnabled), isBrokerConnected: true))
        scene.report(.gear(.jacket))
        scene.report(.touchMode(.gesture))
        return scene
    }

    /// The touch mode slide begins.
    private static func sliding() -> Scene {
        let scene = scene()
        scene.send("tag/003R/touch_mode/set", "slide")
        scene.report(.touchMode(.continuous))
        scene.answer()
        scene.performed = []
        return scene
    }

    /// Samples of a finger at a line, one every 40 ms.
    @discardableResult
    private static func touch(_ scene: Scene, at line: Int, count: Int = 4) -> [String] {
        (0..<count).flatMap { _ -> [String] in
            var lines = [UInt8](repeating: 0, count: 12)
            lines[line] = 90
            return scene.report(.touch(.sample(lines))) + scene.wait(.milliseconds(40))
        }
    }

    @Test("needs slide.enabled, and says what it costs")
    func disabled() {
        let scene = Self.scene(isEnabled: false)
        scene.send("tag/003R/touch_mode/set", "slide")
        scene.send("tag/003R/touch_mode/set", #"{"touch_mode":"slide"}"#)
        #expect(scene.performed.isEmpty)
        #expect(scene.results.map(\.error?.code) == ["not_permitted", "not_permitted"])
        #expect(scene.lastError?.hint?.hasPrefix("It empties the battery of the tag faster") == true)
        scene.send("tag/003R/touch_mode/set", "glide")
        #expect(scene.lastError?.text == #""payload" is "glide"; it may be gesture, continuous"#)
        let enabled = Self.scene()
        enabled.send("tag/003R/touch_mode/set", "glide")
        #expect(enabled.lastError?.text == #""payload" is "glide"; it may be gesture, continuous, slide"#)
    }

    @Test("is on when the gear streams, and its result says when it ends")
    func begins() {
        let scene = Self.scene()
        scene.send("tag/003R/touch_mode/set", #"{"touch_mode":"slide","id":"a"}"#)
        #expect(scene.performed == [.setTouchMode(.continuous)])
        #expect(Self.values(scene.report(.touchMode(.continuous)), of: Self.mode) == ["slide"])
        let lines = scene.answer()
        #expect(lines.contains { $0.contains(#""idle_min":10"#) && $0.contains("empties the battery") })
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("publishes slides instead of touches, and the other modes touches only")
    func publishes() {
        let scene = Self.sliding()
        let lines = Self.touch(scene, at: 3) + Self.touch(scene, at: 6) + scene.wait(.seconds(2))
        #expect(Self.phases(lines) == ["begin", "move", "hold", "end"])
        #expect(
            Self.values(lines, of: Self.topic).first
                == #"{"delta":0,"phase":"begin","position":27,"strength":70,"time":"2026-11-20T10:15:02.194Z"}"#)
        #expect(!lines.contains { $0.hasPrefix("jacquard/tag/003R/touch ") })
        scene.send("tag/003R/touch_mode/set", "continuous")
        #expect(Self.values(scene.report(.touchMode(.continuous)), of: Self.mode) == ["continuous"])
        scene.answer()
        let touches = Self.touch(scene, at: 3)
        #expect(Self.phases(touches).isEmpty && touches.count == 4)
    }

    @Test("ends ten minutes after the last touch, and repeats that if the gear refuses")
    func idle() {
        let scene = Self.sliding()
        scene.wait(.seconds(500))
        Self.touch(scene, at: 3)
        #expect(scene.wait(.seconds(590)).filter { $0.hasPrefix(Self.mode) }.isEmpty && scene.performed.isEmpty)
        scene.wait(.seconds(20))
        #expect(scene.performed == [.setTouchMode(.gesture)])
        scene.fail(.status(.badParameter))
        scene.wait(.seconds(60))
        #expect(scene.performed == [.setTouchMode(.gesture), .setTouchMode(.gesture)])
        #expect(Self.values(scene.report(.touchMode(.gesture)), of: Self.mode) == ["gesture"])
        scene.wait(.seconds(5_000))
        #expect(scene.performed.count == 2)
        Self.touch(scene, at: 3)
        #expect(scene.performed.count == 2)
    }

    @Test("follows a reload: another time, and its end also while a command waits or is under way")
    func reload() {
        let scene = Self.sliding()
        var configuration = Self.configured()
        configuration.options.features.slide.idleMinutes = 1
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.wait(.seconds(60))
        #expect(scene.performed == [.setTouchMode(.gesture)])
        let waiting = Scene()
        waiting.handle(.configurationChanged(Self.configured(), isBrokerConnected: true))
        waiting.send("tag/003R/touch_mode/set", #"{"touch_mode":"slide","ttl_ms":60000}"#)
        waiting.handle(.configurationChanged(Self.configured(isEnabled: false), isBrokerConnected: true))
        #expect(waiting.lastError?.code == "not_permitted")
        waiting.connect()
        #expect(waiting.performed.isEmpty)
        let sent = Self.scene()
        sent.send("tag/003R/touch_mode/set", "slide")
        sent.handle(.configurationChanged(Self.configured(isEnabled: false), isBrokerConnected: true))
        #expect(sent.lastError?.code == "not_permitted")
        #expect(sent.performed == [.setTouchMode(.continuous), .setTouchMode(.gesture)])
    }

    @Test("keeps a tag connected that is connected on demand")
    func onDemand() {
        let scene = Scene(tags: [TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)])
        scene.powerOn()
        scene.handle(.configurationChanged(Self.configured(), isBrokerConnected: true))
        scene.send("tag/003R/touch_mode/set", "slide")
        scene.connect()
        scene.report(.gear(.jacket))
        scene.report(.touchMode(.continuous))
        scene.answer()
        _ = scene.takeActions()
        scene.wait(.seconds(599))
        #expect(!scene.takeActions().contains(.disconnect(.tag003R)))
    }

    @Test("is switched on again after the link was lost, within the ten minutes")
    func reconnected() {
        let scene = Self.sliding()
        Self.touch(scene, at: 3)
        let error = TagConnectionError(.bluetoothConnectionError, "the link was lost")
        let lost = scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1, error: error)))
        #expect(Self.phases(lost) == ["end"])
        scene.connect()
        scene.report(.gear(.jacket))
        #expect(Self.values(scene.report(.touchMode(.gesture)), of: Self.mode) == ["gesture"])
        #expect(scene.performed == [.setTouchMode(.continuous)])
        #expect(Self.values(scene.report(.touchMode(.continuous)), of: Self.mode) == ["slide"])
        scene.disconnect()
        scene.wait(.seconds(700))
        scene.connect()
        scene.report(.touchMode(.gesture))
        #expect(scene.performed == [.setTouchMode(.continuous)], "the time is over")
    }

    @Test("is not switched on again after another bridge has connected the tag")
    func takenOver() {
        let scene = Self.sliding()
        scene.disconnect()
        scene.send("bridge/cellar/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        scene.send("bridge/cellar/state", "online")
        scene.send("bridge/cellar/info", #"{"tags":["003R"],"connected":[]}"#)
        scene.connect()
        scene.report(.gear(.jacket))
        #expect(Self.values(scene.report(.touchMode(.gesture)), of: Self.mode) == ["gesture"])
        #expect(scene.performed == [])
        scene.send("tag/003R/touch_mode/set", "slide")
        #expect(scene.performed == [.setTouchMode(.continuous)])
    }

    @Test("a change without a response becomes the mode when the gear confirms it later")
    func late() {
        let scene = Self.scene()
        scene.send("tag/003R/touch_mode/set", "slide")
        scene.fail(.timeout)
        #expect(scene.results.map(\.error?.code) == ["timeout"])
        #expect(Self.values(scene.report(.touchMode(.continuous)), of: Self.mode) == ["slide"])
    }

    @Test("a refused change leaves the mode as it was")
    func refused() {
        let scene = Self.scene()
        let sent = scene.send("tag/003R/touch_mode/set", "slide")
        let lines = sent + scene.fail(.status(.badParameter)) + Self.touch(scene, at: 3) + scene.wait(.seconds(10))
        #expect(Self.values(lines, of: Self.mode).isEmpty && Self.phases(lines).isEmpty)
        #expect(scene.results.last?.status == "error")
    }

    @Test("ends with another mode, with detached gear, with the bridge, with the tag, and with its key")
    func ends() {
        let commanded = Self.sliding()
        Self.touch(commanded, at: 3)
        commanded.send("tag/003R/touch_mode/set", "gesture")
        let confirmed = commanded.report(.touchMode(.gesture))
        #expect(Self.phases(confirmed) == ["end"] && Self.values(confirmed, of: Self.mode) == ["gesture"])
        commanded.answer()
        commanded.disconnect()
        commanded.connect()
        commanded.report(.touchMode(.gesture))
        #expect(commanded.performed == [.setTouchMode(.gesture)])

        let detached = Self.sliding()
        Self.touch(detached, at: 3)
        let lines = detached.report(.gear(nil))
        #expect(Self.phases(lines) == ["end"] && lines.contains("jacquard/tag/003R/touch_mode gesture"))
        detached.report(.gear(.jacket))
        detached.report(.touchMode(.gesture))
        detached.wait(.seconds(1_000))
        #expect(detached.performed.isEmpty)

        let stopped = Self.sliding()
        Self.touch(stopped, at: 3)
        #expect(Self.phases(stopped.handle(.stopping)) == ["end"])

        let removed = Self.sliding()
        Self.touch(removed, at: 3)
        #expect(Self.phases(removed.handle(.tagRemoved(.tag003R)) + removed.wait(.seconds(5))) == ["end"])

        let reloaded = Self.sliding()
        Self.touch(reloaded, at: 3)
        reloaded.handle(.configurationChanged(Self.configured(isEnabled: false), isBrokerConnected: true))
        #expect(reloaded.performed == [.setTouchMode(.gesture)])
        #expect(Self.phases(reloaded.report(.touchMode(.gesture))) == ["end"])
    }

    @Test("has an entity and a choice in Home Assistant only if it is enabled")
    func announced() {
        func announcement(_ isEnabled: Bool) -> [String] {
            var configuration = Self.configured(isEnabled: isEnabled)
            configuration.homeAssistant = HomeAssistantConfiguration()
            let scene = Scene()
            scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
            scene.report(.gear(.jacket))
            return scene.handle(.started) + scene.handle(.brokerConnected) + scene.wait(.seconds(60))
        }
        let off = announcement(false).filter { $0.hasPrefix("homeassistant/") }
        #expect(!off.isEmpty && !off.contains { $0.contains("slide") })
        let on = announcement(true).filter { $0.hasPrefix("homeassistant/") }
        #expect(on.contains { $0.contains(#""event_types":["begin","hold","end"]"#) })
        #expect(on.contains { $0.contains("Slide (gestures pause)") })
    }

    @Test("`monitor` has words for the mode and for slides")
    func sentences() {
        #expect(Slide.touchMode.clause == "reports slides; gestures pause")
        #expect(Slide.topic.sentence(about: ["phase": "move", "position": 41]) == "finger slides to 41")
    }
}
