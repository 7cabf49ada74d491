import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Light of a tag")
struct LightTests {
    private func light(
        _ state: String, _ color: (Int, Int, Int) = (255, 255, 255), brightness: Int = 255, effect: String = "solid"
    ) -> String {
        #"jacquard/tag/003R/led {"brightness":\#(brightness),"color":{"b":\#(color.2),"g":\#(color.1),"r":\#(color.0)},"#
            + #""color_mode":"rgb","effect":"\#(effect)","state":"\#(state)"}"#
    }

    /// Sends a command, completes it, and returns the published state of the light.
    private func published(_ payload: String, in scene: Scene) -> String? {
        scene.send("tag/003R/led/set", payload)
        return scene.answer().first { $0.hasPrefix("jacquard/tag/003R/led ") }
    }

    @Test("shows the last command, with the sender's names")
    func words() {
        let scene = Scene.connected()
        #expect(
            published(#"{"state":"ON","color":{"r":10,"g":20,"b":30},"brightness":77,"effect":"blink"}"#, in: scene)
                == light("ON", (10, 20, 30), brightness: 77, effect: "blink"))
        #expect(
            published(##"{"color":"#ff0000","pattern":"breathing","duration_ms":2000}"##, in: scene)
                == light("ON", (255, 0, 0), effect: "breathing"))
        #expect(
            published(##"{"frames":[{"color":"#00ff00","duration_ms":100}]}"##, in: scene)
                == light("ON", (0, 255, 0), effect: "custom"))
        #expect(published("off", in: scene) == light("OFF", (0, 255, 0), effect: "custom"))
    }

    @Test("turns off when the pattern has ended")
    func darkness() {
        let scene = Scene.connected()
        #expect(published(#"{"state":"ON","flash":1}"#, in: scene) == light("ON"))
        #expect(scene.wait(.milliseconds(999)) == [])
        #expect(scene.wait(.milliseconds(1)) == [light("OFF")])
        #expect(scene.state.deadline == nil)
    }

    @Test("plays for the duration of the last command")
    func restart() {
        let scene = Scene.connected()
        _ = published(#"{"state":"ON"}"#, in: scene)
        scene.wait(.seconds(9))
        _ = published(#"{"state":"ON"}"#, in: scene)
        #expect(scene.wait(.seconds(9)) == [])
        #expect(scene.wait(.seconds(1)) == [light("OFF")])
    }

    @Test("uses the last colour, brightness and effect for an \"on\" without keys")
    func memory() {
        let scene = Scene.connected()
        _ = published(#"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":100,"effect":"pulse"}"#, in: scene)
        _ = published("off", in: scene)
        #expect(published("on", in: scene) == light("ON", (255, 0, 0), brightness: 100, effect: "pulse"))
        #expect(
            published(#"{"state":"ON","brightness":50}"#, in: scene)
                == light("ON", (255, 0, 0), brightness: 50, effect: "pulse"))
        #expect(
            scene.performed.last
                == .playLEDPattern(
                    .predefined(
                        .pulsing, color: .init(red: 50, green: 0, blue: 0), durationMilliseconds: 10_000), on: .tag))
    }

    @Test("is white, full and solid for a flash without keys")
    func flash() {
        let scene = Scene.connected()
        _ = published(#"{"state":"ON","color":{"r":255,"g":0,"b":0},"effect":"pulse"}"#, in: scene)
        #expect(published("flash", in: scene) == light("ON"))
    }

    @Test("is solid when it is turned on again after frames")
    func afterFrames() {
        let scene = Scene.connected()
        _ = published(##"{"frames":[{"color":"#00ff00","duration_ms":100}]}"##, in: scene)
        #expect(published("on", in: scene) == light("ON", (0, 255, 0)))
    }

    @Test("uses the values of a pending command")
    func underWay() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"state":"ON","color":{"r":255,"g":0,"b":0}}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","brightness":51}"#)
        #expect(
            scene.performed.last
                == .playLEDPattern(
                    .predefined(
                        .solid, color: .init(red: 51, green: 0, blue: 0), durationMilliseconds: 10_000), on: .tag))
    }

    /// The record of the tag that a bridge stores when it stops, and no record before.
    private func stopped(_ scene: Scene) -> TagRecord? {
        func stored() -> [TagRecord] {
            scene.takeActions().compactMap { if case .remember(let record) = $0 { record } else { nil } }
        }
        #expect(stored().allSatisfy { $0.light == nil })
        scene.handle(.stopping)
        return stored().last
    }

    @Test("plays on after a restart of the bridge, until its end")
    func playsOn() throws {
        let scene = Scene.connected()
        _ = published(##"{"color":"#0a141e","brightness":77,"effect":"blink","duration_ms":60000}"##, in: scene)
        scene.wait(.seconds(20))
        let record = try #require(stopped(scene))
        #expect(record.light?.endUnixMilliseconds == (Scene.beginning + .seconds(60)).unixMilliseconds)
        var later = record
        later.light?.endUnixMilliseconds = (Scene.beginning + .seconds(40)).unixMilliseconds
        let next = Scene(records: [later])
        let facts = next.handle(.started)
        #expect(facts.contains(light("ON", (10, 20, 30), brightness: 77, effect: "blink")))
        next.connect()
        #expect(
            published(#"{"state":"ON","brightness":50}"#, in: next)
                == light("ON", (10, 20, 30), brightness: 50, effect: "blink"))
        let other = Scene(records: [later])
        other.handle(.started)
        other.connect()
        #expect(other.wait(.seconds(39)).filter { $0.contains("/led ") } == [])
        #expect(other.wait(.seconds(1)) == [light("OFF", (10, 20, 30), brightness: 77, effect: "blink")])
        #expect(other.performed == [])
        // The record says so only while no bridge runs.
        let stored = other.takeActions().compactMap { if case .remember(let record) = $0 { record } else { nil } }
        #expect(stored.last?.light == nil && !stored.isEmpty)
    }

    @Test("is off after a restart if its pattern has ended meanwhile, or if it was off", arguments: [true, false])
    func ended(isOn: Bool) throws {
        let scene = Scene.connected()
        _ = published(#"{"color":"red","duration_ms":60000}"#, in: scene)
        if !isOn { _ = published("off", in: scene) }
        let record = stopped(scene)
        #expect((record?.light != nil) == isOn)
        var over = record ?? TagRecord(id: TagEntry.tag003R.id, serial: TagEntry.tag003R.serial)
        over.light?.endUnixMilliseconds = Scene.beginning.unixMilliseconds
        let next = Scene(records: [over])
        #expect(next.handle(.started).contains { $0.contains("/led ") && $0.contains(#""state":"OFF""#) })
    }

    @Test("keeps its state when a command fails")
    func failure() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", ##"{"color":"#ff0000"}"##)
        #expect(scene.fail(.timeout).filter { $0.hasPrefix("jacquard/tag/003R/led ") } == [])
        #expect(published("on", in: scene) == light("ON"))
    }

    @Test("stops when a running pattern is toggled, and starts again when a stopped one is")
    func toggle() {
        let payload = ##"{"color":"#ff0000","pattern":"solid","duration_ms":1000,"play":"toggle"}"##
        let scene = Scene.connected()
        #expect(published(payload, in: scene) == light("ON", (255, 0, 0)))
        #expect(published(payload, in: scene) == light("OFF", (255, 0, 0)))
        #expect(published(payload, in: scene) == light("ON", (255, 0, 0)))
        scene.wait(.seconds(1))
        #expect(published(payload, in: scene) == light("ON", (255, 0, 0)))
        #expect(
            published(##"{"color":"#0000ff","pattern":"solid","duration_ms":1000,"play":"toggle"}"##, in: scene)
                == light("ON", (0, 0, 255)))
    }

    @Test("is not published again for a repeated command")
    func repeated() {
        let scene = Scene.connected()
        #expect(published("#ff0000", in: scene) == light("ON", (255, 0, 0)))
        #expect(published("#ff0000", in: scene) == nil)
        #expect(published("off", in: scene) == light("OFF", (255, 0, 0)))
        #expect(published("off", in: scene) == nil)
    }

    @Test("is the tag's own: the LED of gear has a separate state that is not published")
    func gear() {
        let scene = Scene.connected()
        #expect(published(##"{"color":"#ff0000","component":"gear"}"##, in: scene) == nil)
        #expect(published(#"{"state":"ON"}"#, in: scene) == light("ON"))
        _ = published(#"{"state":"ON","component":"gear"}"#, in: scene)
        #expect(
            scene.performed.last
                == .playLEDPattern(
                    .predefined(
                        .solid, color: .init(red: 255, green: 0, blue: 0), durationMilliseconds: 10_000), on: .gear))
    }

    @Test("turns off in time although another tag is added meanwhile")
    func addedTag() {
        let scene = Scene.connected()
        _ = published(#"{"state":"ON","flash":1}"#, in: scene)
        scene.handle(.tagAdded(TagEntry(id: .known("0004"), serial: "0004")))
        #expect(scene.wait(.seconds(1)).contains(light("OFF")))
    }
}
