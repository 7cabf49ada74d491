import FoundationEssentials
import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Gestures")
struct GestureTests {
    @Test(
        "have a name and keep their number",
        arguments: [
            (1, "double_tap"), (2, "brush_in"), (3, "brush_out"), (7, "cover"), (13, "brush_up"), (14, "brush_down"),
            (0, "unknown"), (4, "unknown"), (UInt32.max, "unknown"),
        ] as [(UInt32, String)])
    func names(number: UInt32, name: String) {
        let scene = Scene.connected()
        #expect(
            scene.report(.gesture(Gesture(rawValue: number))).first
                == #"jacquard/tag/003R/gesture {"boot":"9f3c","bridge":"attic","event_type":"\#(name)","#
                + #""gesture":\#(number),"seq":1,"time":"2026-11-20T10:15:02.114Z"}"#)
    }

    @Test("are events of QoS 1 with a lifetime of five seconds")
    func kind() throws {
        let scene = Scene.connected()
        scene.report(.gesture(.doubleTap))
        let gesture = try #require(scene.publications.first { $0.topic == "jacquard/tag/003R/gesture" })
        #expect(gesture.kind == .event(lifetime: .seconds(5)))
        #expect(gesture.message.messageExpirySeconds == 5)
        #expect(gesture.message.qos == .atLeastOnce)
        #expect(!gesture.message.isRetained)
    }

    @Test("are counted per tag")
    func sequence() {
        let other = TagEntry(id: .known("0001"), serial: "0001")
        let scene = Scene(tags: [.tag003R, other])
        scene.report(.gesture(.brushIn))
        scene.report(.gesture(.brushIn))
        #expect(scene.report(.gesture(.brushIn), of: other.id).first?.contains(#""seq":1,"#) == true)
        #expect(scene.report(.gesture(.brushIn)).first?.contains(#""seq":3,"#) == true)
    }

    @Test("go on with the number of a tag that was removed and added again: the start of the bridge is the same")
    func numberAfterReturn() {
        let scene = Scene(tags: [.tag003R])
        scene.powerOn()
        scene.report(.gesture(.brushIn))
        scene.report(.gesture(.brushIn))
        scene.handle(.tagRemoved(TagEntry.tag003R.id))
        scene.wait(.seconds(2))
        scene.handle(.tagAdded(.tag003R, record: nil))
        #expect(scene.report(.gesture(.brushIn)).first?.contains(#""seq":3,"#) == true)
    }

    @Test("of tags that were removed are remembered by number, those of the last 64 tags")
    func manyRemoved() {
        let scene = Scene(tags: [])
        func gesture(of number: Int) -> Bool {
            let entry = TagEntry(id: .known("t\(number)"), serial: "t\(number)")
            scene.handle(.tagAdded(entry))
            defer {
                scene.handle(.tagRemoved(entry.id))
                scene.wait(.seconds(2))
            }
            return scene.report(.gesture(.brushIn), of: entry.id).contains { $0.contains(#""seq":1,"#) }
        }
        #expect((0...64).allSatisfy(gesture))
        #expect(gesture(of: 0) && !gesture(of: 64))
    }

    @Test("are summarized at most once a second, the first time at once")
    func stats() {
        let scene = Scene.connected()
        func stats(_ gestures: String, last: Int, time: String) -> String {
            #"jacquard/tag/003R/stats {"boot":"9f3c","expired":0,"gestures":{\#(gestures)},"last_seq":\#(last),"#
                + #""lost_fragments":0,"reconnects":0,"time":"2026-11-20T10:15:\#(time)Z"}"#
        }
        #expect(scene.report(.gesture(.doubleTap)).last == stats(#""double_tap":1"#, last: 1, time: "02.114"))
        #expect(scene.report(.gesture(.doubleTap)).count == 1)
        #expect(scene.report(.gesture(.shortCover)).count == 1)
        #expect(scene.wait(.seconds(3)) == [stats(#""cover":1,"double_tap":2"#, last: 3, time: "03.114")])
        #expect(scene.state.deadline == nil)
    }

    @Test("of several tags are summarized in the same moment, a tenth of a second later at most")
    func sharedStats() {
        let others = ["0001", "0002", "0003"].map { TagEntry(id: .known($0), serial: $0) }
        let scene = Scene(tags: others)
        for (index, tag) in others.enumerated() {
            scene.report(.gesture(.brushIn), of: tag.id)
            scene.report(.gesture(.brushIn), of: tag.id)
            scene.wait(.milliseconds(index == 0 ? 1 : 33))
        }
        // The first one waits until 1.0 s, the others until 1.1 s after the beginning.
        scene.wait(.milliseconds(1_000 - 67))
        let first = scene.publications.count
        #expect(scene.state.deadline == (Scene.beginning + .milliseconds(1_100)).instant)
        #expect(scene.wait(.milliseconds(99)).isEmpty)
        #expect(scene.wait(.milliseconds(1)).count == 2)
        #expect(scene.publications.count == first + 2)
        #expect(scene.state.deadline == nil)
    }

    @Test("that expired, and lost fragments, are in the statistics")
    func losses() {
        let scene = Scene.connected()
        scene.handle(.messagesLost(.init(events: ["jacquard/tag/003R/gesture": 4, "other": 9])))
        #expect(scene.publications.first { $0.topic.hasSuffix("stats") }?.text.contains(#""expired":4,"#) == true)
        scene.report(.fragmentsLost)
        scene.wait(.seconds(1))
        #expect(scene.publications.last?.text.contains(#""lost_fragments":1,"#) == true)
    }

    @Test(
        "have the bytes of JSONText",
        arguments: [
            ("9f3c", "attic", 1, 1, 1_795_169_702_114), ("", "b-2", 99, .max, 0),
            (#"q"\/"#, "ä\u{1}", .max, 10, 1_795_169_702_999), ("9f3c", "attic", 14, 100, -1),
        ] as [(String, String, UInt32, UInt64, Int64)])
    func encoder(boot: String, bridge: String, number: UInt32, sequence: UInt64, time: Int64) {
        let now = Timestamp(instant: Scene.beginning.instant, unixMilliseconds: time)
        let name = GestureName(Gesture(rawValue: number))
        let document = JSONText.objectBytes { object in
            object.add("boot", boot)
            object.add("bridge", bridge)
            object.add("event_type", name.rawValue)
            object.add("gesture", number)
            object.add("seq", sequence)
            object.add("time", now)
        }
        var encoder = GestureEncoder(boot: boot, bridge: bridge, lifetime: .seconds(5))
        let bytes = encoder.payload(name, number: number, sequence: sequence, at: now)
        #expect(bytes == document)
    }
}
