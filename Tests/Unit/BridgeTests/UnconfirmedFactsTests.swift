import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("A fact that a lost response leaves unknown")
struct UnconfirmedFactsTests {
    private static func text(_ scene: Scene, _ topic: String) -> String? {
        scene.publications.last { $0.topic == "jacquard/tag/003R/" + topic }?.text
    }

    private static func isOn(_ scene: Scene) -> Bool? { text(scene, "led")?.contains(#""state":"ON""#) }

    /// A tag whose LED has been requested to light for a minute, without an answer.
    private static func lit(_ error: TagCommandError = .timeout) -> Scene {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":60000}"#)
        scene.fail(error)
        scene.performed = []
        return scene
    }

    @Test(
        "is set again: the LED lights for the rest of the time",
        arguments: [TagCommandError.timeout, .malformedResponse])
    func light(error: TagCommandError) throws {
        let scene = Self.lit(error)
        scene.wait(.seconds(1))
        let command = try #require(scene.performed.first)
        guard case .playLEDPattern(let pattern, on: .tag) = command else { throw error }
        #expect(pattern.durationMilliseconds == 59_000)
        scene.answer()
        #expect(Self.isOn(scene) == true)
        scene.wait(.seconds(58))
        #expect(Self.isOn(scene) == true)
        scene.wait(.seconds(1))
        #expect(Self.isOn(scene) == false)
        scene.wait(.seconds(100))
        #expect(scene.performed.count == 1)
    }

    @Test(
        "is set again: a pattern that is playing already plays on, unless it was to be toggled",
        arguments: [true, false])
    func repeated(isToggled: Bool) throws {
        let scene = Scene.connected()
        let play = isToggled ? "toggle" : "play"
        for isAnswered in [true, false] {
            scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":60000,"play":"\#(play)"}"#)
            if isAnswered { scene.answer() } else { scene.fail(.timeout) }
        }
        scene.performed = []
        scene.wait(.seconds(1))
        guard case .playLEDPattern(let pattern, on: .tag)? = scene.performed.first else {
            Issue.record("\(scene.performed)")
            return
        }
        #expect(pattern.haltsAll == isToggled)
    }

    @Test("is not known by a refusal: it is set again until the tag responds")
    func refused() {
        let scene = Self.lit()
        scene.send("tag/003R/led/set", "off")
        scene.fail(.status(.invalidState))
        scene.wait(.seconds(1))
        #expect(scene.performed.count == 2)
        scene.fail(.status(.invalidState))
        scene.wait(.seconds(2) - .milliseconds(1))
        #expect(scene.performed.count == 2)
        scene.wait(.milliseconds(1))
        #expect(scene.performed.count == 3)
        scene.fail(.timeout)
        scene.wait(.seconds(4))
        scene.answer()
        #expect(Self.isOn(scene) == true)
        scene.wait(.seconds(100))
        #expect(scene.performed.count == 4)
    }

    @Test("is known by a later command that the tag confirms")
    func confirmed() {
        let scene = Self.lit()
        scene.send("tag/003R/led/set", "off")
        scene.answer()
        scene.wait(.seconds(100))
        #expect(scene.performed == [.playLEDPattern(.haltAll, on: .tag)])
    }

    @Test("is known by the time: after its pattern, the LED is off")
    func over() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"flash":0.5}"#)
        scene.fail(.timeout)
        scene.send("tag/003R/led/set", "off")
        scene.fail(.timeout)
        scene.wait(.seconds(100))
        #expect(scene.performed.count == 2)
    }

    @Test("waits for the commands of the tag, and for its link")
    func waits() {
        let scene = Self.lit()
        scene.send("tag/003R/haptic/set", "short")
        scene.wait(.seconds(3))
        #expect(scene.performed.count == 1)
        scene.fail(.linkLost)
        scene.disconnect()
        scene.wait(.seconds(10))
        #expect(scene.performed.count == 1)
        scene.connect()
        scene.wait(.zero)
        #expect(scene.performed.count == 2)
    }

    @Test("is switched off if it was to go off, or a signal that has failed lit it")
    func off() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":60000}"#)
        scene.answer()
        scene.send("tag/003R/led/set", "off")
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        scene.answer()
        #expect(Self.isOn(scene) == false)
        #expect(scene.performed.suffix(2).allSatisfy { $0 == .playLEDPattern(.haltAll, on: .tag) })
        let other = Scene.connected()
        other.send("tag/003R/notify/set", "alarm")
        other.fail(.timeout)
        other.wait(.seconds(1))
        #expect(other.performed.last == .playLEDPattern(.haltAll, on: .tag))
    }

    @Test("is switched off: an LED that a process that was killed has left alone")
    func killed() {
        let scene = Scene(earlier: EarlierRuns(linkedTags: [.tag003R]))
        scene.handle(.started)
        scene.wait(.seconds(3600))
        #expect(scene.performed == [])
        scene.connect()
        scene.wait(.zero)
        #expect(scene.performed == [.playLEDPattern(.haltAll, on: .tag)])
        scene.answer()
        scene.disconnect()
        scene.connect()
        scene.wait(.seconds(100))
        #expect(scene.performed.count == 1)
    }

    @Test("is not switched off: an LED that a command has lit, or that plays on from before a restart")
    func lit() {
        let scene = Scene(earlier: EarlierRuns(linkedTags: [.tag003R]))
        scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":60000}"#)
        scene.connect()
        scene.answer()
        scene.wait(.seconds(50))
        #expect(scene.performed.count == 1)
        #expect(Self.isOn(scene) == true)
        let light = TagRecord.Light(
            red: 255, green: 0, blue: 0, brightness: 255, effect: "solid",
            endUnixMilliseconds: (Scene.beginning + .seconds(60)).unixMilliseconds)
        let record = TagRecord(id: .tag003R, serial: TagEntry.tag003R.serial, light: light)
        let other = Scene(records: [record], earlier: EarlierRuns(linkedTags: [.tag003R]))
        other.connect()
        other.wait(.seconds(50))
        #expect(other.performed == [])
    }

    @Test("is read: the name, also after a refusal, and the former name may be set meanwhile")
    func name() {
        let scene = Scene.connected()
        scene.handle(.sighting(.tag003R, TagSighting(name: "Old")))
        scene.send("tag/003R/name/set", "New")
        scene.fail(.timeout)
        scene.send("tag/003R/name/set", "Old")
        #expect(scene.performed.suffix(1) == [.rename("Old")])
        scene.fail(.status(.invalidState))
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .readName)
        scene.fail(.timeout)
        scene.wait(.seconds(2))
        scene.answer(.name("New"))
        #expect(Self.text(scene, "info")?.contains(#""tag_name":"New""#) == true)
        scene.wait(.seconds(100))
        #expect(scene.performed.filter { $0 == .readName }.count == 2)
    }

    @Test("is read: the name stays while the tag advertises the former one, until the end of the link")
    func nameBeforeItIsAdvertised() {
        let scene = Scene.connected()
        let old = BridgeEvent.sighting(.tag003R, TagSighting(name: "Old"))
        scene.handle(old)
        scene.send("tag/003R/name/set", "New")
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        scene.answer(.name("New"))
        // The same once more on this link.
        scene.send("tag/003R/name/set", "Newer")
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        scene.answer(.name("Newer"))
        for (isConnected, name) in [(true, "Newer"), (false, "Old")] {
            if !isConnected { scene.disconnect() }
            scene.handle(old)
            #expect(Self.text(scene, "info")?.contains(#""tag_name":"\#(name)""#) == true)
        }
    }

    @Test("is read: another name is advertised on the next link, or after a command that the tag confirms")
    func nameOfNextLink() {
        for isRenamed in [true, false] {
            let scene = Scene.connected()
            scene.send("tag/003R/name/set", "New")
            scene.fail(.timeout)
            scene.wait(.seconds(1))
            scene.answer(.name("New"))
            if isRenamed {
                scene.send("tag/003R/name/set", "Newer")
                scene.answer()
            } else {
                scene.disconnect()
                scene.connect()
            }
            scene.handle(.sighting(.tag003R, TagSighting(name: "Newest")))
            #expect(Self.text(scene, "info")?.contains(#""tag_name":"Newest""#) == true)
        }
    }

    @Test("is read: the modules")
    func modules() {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/set", #"{"module":"IMUModule","action":"deactivate"}"#)
        scene.fail(.timeout)
        scene.wait(.seconds(1))
        #expect(scene.performed.last == .listModules)
        scene.answer(.modules([.motion]))
        #expect(Self.text(scene, "modules")?.contains("IMUModule") == true)
        scene.wait(.seconds(100))
        #expect(scene.performed.count == 2)
    }
}
