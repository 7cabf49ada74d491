import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Chords on the topic of gestures")
struct ChordTests {
    private static let other = TagEntry(id: "0001", serial: "0001")

    private static func chord(isExclusive: Bool = false, tags: [TagID]? = nil) -> Chord {
        Chord(
            name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(800), isExclusive: isExclusive,
            tags: tags)
    }

    /// A bridge with two tags and chords, whose statistics were published.
    private static func scene(_ chords: Chord...) -> Scene {
        let scene = Scene(tags: [.tag003R, other], chords: chords)
        scene.connect()
        return scene
    }

    private static func events(_ lines: [String]) -> [String] { lines.filter { $0.contains("/gesture ") } }

    private static func gesture(_ tag: String, _ name: String, _ number: Int, _ sequence: Int, _ time: String) -> String
    {
        #"jacquard/tag/\#(tag)/gesture {"boot":"9f3c","bridge":"attic","event_type":"\#(name)","gesture":\#(number),"#
            + #""seq":\#(sequence),"time":"2026-11-20T10:15:\#(time)Z"}"#
    }

    private static func chord(_ tag: String, of: String, _ sequence: Int, _ time: String) -> String {
        #"jacquard/tag/\#(tag)/gesture {"boot":"9f3c","bridge":"attic","event_type":"tap_in","gesture":null,"#
            + #""of":[\#(of)],"seq":\#(sequence),"time":"2026-11-20T10:15:\#(time)Z"}"#
    }

    @Test("have a document of their own, with the lifetime of gestures")
    func document() throws {
        let scene = Self.scene(Self.chord())
        #expect(
            Self.events(scene.report(.gesture(.doubleTap))) == [Self.gesture("003R", "double_tap", 1, 1, "02.114")])
        scene.wait(.milliseconds(800))
        #expect(
            Self.events(scene.report(.gesture(.brushIn)))
                == [Self.gesture("003R", "brush_in", 2, 2, "02.914"), Self.chord("003R", of: "1,2", 3, "02.914")])
        let publication = try #require(scene.publications.last { $0.topic == "jacquard/tag/003R/gesture" })
        #expect(publication.kind == .event(lifetime: .seconds(5)))
        #expect(publication.message.messageExpirySeconds == 5)
        #expect(publication.message.qos == .atLeastOnce)
    }

    @Test("are counted in the statistics with the gestures")
    func statistics() throws {
        let scene = Self.scene(Self.chord())
        scene.report(.gesture(.doubleTap))
        scene.report(.gesture(.brushIn))
        scene.wait(.seconds(2))
        let stats = try #require(scene.publications.last { $0.topic.hasSuffix("/stats") })
        #expect(stats.text.contains(#""gestures":{"brush_in":1,"double_tap":1,"tap_in":1},"last_seq":3,"#))
    }

    @Test("of two tags don't affect each other")
    func twoTags() {
        let scene = Self.scene(Self.chord())
        scene.report(.gesture(.doubleTap))
        #expect(Self.events(scene.report(.gesture(.brushIn), of: Self.other.id)).count == 1)
        scene.report(.gesture(.doubleTap), of: Self.other.id)
        #expect(
            Self.events(scene.report(.gesture(.brushIn))).last == Self.chord("003R", of: "1,2", 3, "02.114"))
        #expect(
            Self.events(scene.report(.gesture(.brushIn), of: Self.other.id)).last
                == Self.chord("0001", of: "2,3", 4, "02.114"))
    }

    @Test("apply to the listed tags only")
    func listedTags() {
        let scene = Self.scene(Self.chord(tags: ["0001"]))
        for id in [TagID.tag003R, Self.other.id] {
            scene.report(.gesture(.doubleTap), of: id)
            #expect(Self.events(scene.report(.gesture(.brushIn), of: id)).count == (id == .tag003R ? 1 : 2))
        }
    }

    @Test("that are exclusive publish a gesture a millisecond after their time, with its own time")
    func exclusive() {
        let scene = Self.scene(Self.chord(isExclusive: true))
        #expect(Self.events(scene.report(.gesture(.doubleTap))) == [])
        #expect(Self.events(scene.wait(.milliseconds(800))) == [])
        #expect(Self.events(scene.wait(.milliseconds(1))) == [Self.gesture("003R", "double_tap", 1, 1, "02.114")])
        scene.wait(.seconds(5))
        #expect(scene.state.deadline == nil)
    }

    @Test("that are exclusive replace their gestures, which still count")
    func absorbed() throws {
        let scene = Self.scene(Self.chord(isExclusive: true))
        scene.report(.gesture(.doubleTap))
        #expect(Self.events(scene.report(.gesture(.brushIn))) == [Self.chord("003R", of: "1,2", 3, "02.114")])
        #expect(Self.events(scene.wait(.seconds(5))) == [])
        let stats = try #require(scene.publications.last { $0.topic.hasSuffix("/stats") })
        #expect(stats.text.contains(#""brush_in":1,"double_tap":1,"tap_in":1},"last_seq":3,"#))
    }

    @Test("release what they hold back before the bridge stops, a tag is removed or the chords change")
    func released() {
        let changed = BridgeEvent.configurationChanged(
            Scene.configuration(tags: [.tag003R, Self.other]), isBrokerConnected: true)
        for event in [.stopping, .tagRemoved(.tag003R), changed] {
            let scene = Self.scene(Self.chord(isExclusive: true))
            scene.report(.gesture(.doubleTap))
            #expect(scene.handle(event).first == Self.gesture("003R", "double_tap", 1, 1, "02.114"), "\(event)")
        }
    }

    @Test("are listed in the info of the tags that can make them, also after a reload")
    func listed() throws {
        let own = Chord(name: "own", of: [.doubleTap, .brushIn], within: .seconds(1), tags: [.tag003R])
        let scene = Scene(tags: [.tag003R, Self.other], chords: [Self.chord(), own])
        func lists(_ publications: [Publication]) -> [String] {
            publications.filter { $0.topic.hasSuffix("/info") && $0.topic.contains("/tag/") }.map { publication in
                let list = publication.text.firstMatch(of: #/"chords":\[(.*?)\]/#)?.1 ?? "none"
                return "\(publication.topic.split(separator: "/")[2]) \(list)"
            }
        }
        scene.handle(.started)
        #expect(lists(scene.publications) == [#"003R "tap_in","own""#, #"0001 "tap_in""#])
        scene.publications = []
        let new = Scene.configuration(tags: [.tag003R, Self.other], chords: [Self.chord()])
        scene.handle(.configurationChanged(new, isBrokerConnected: true))
        #expect(lists(scene.publications) == [#"003R "tap_in""#])
        scene.publications = []
        let entry = TagEntry(id: "0002", serial: "0002")
        scene.handle(.tagAdded(entry, record: nil))
        #expect(lists(scene.publications) == [#"0002 "tap_in""#])
    }

    @Test("go on through a reload that leaves them as they are, and begin again with changed ones")
    func reload() {
        for (chords, isComplete) in [([Self.chord()], true), ([Self.chord(), Self.chord(isExclusive: true)], false)] {
            let scene = Self.scene(Self.chord())
            scene.report(.gesture(.doubleTap))
            let new = Scene.configuration(tags: [.tag003R, Self.other], ledOn: .seconds(3), chords: chords)
            scene.handle(.configurationChanged(new, isBrokerConnected: true))
            #expect(Self.events(scene.report(.gesture(.brushIn))).count == (isComplete ? 2 : 1))
        }
    }
}
