import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Names that differ in bytes only")
struct ExactNameTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test("are two tags, each with its facts and its commands")
    func tags() {
        let tags = [Self.composed, Self.decomposed].map { TagEntry(id: .known($0), serial: "0001") }
        #expect(tags[0].id != tags[1].id)
        let scene = Scene(tags: tags)
        #expect(scene.state.knownTags.count == 2)
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: tags[1].id)
        scene.send("tag/\(Self.composed)/led/set", #"{"state":"ON","ttl_ms":0}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
        scene.send("tag/\(Self.decomposed)/led/set", "on")
        #expect(scene.performed.count == 1)
        let unknown = Scene(tags: [tags[0]])
        #expect(unknown.state.tags.position(of: tags[1].id) == nil)
    }

    @Test("are two command ids")
    func ids() {
        let scene = Scene.connected()
        for id in [Self.composed, Self.decomposed] { scene.send("tag/003R/led/set", #"{"state":"ON","id":"\#(id)"}"#) }
        #expect(scene.performed.count == 2)
        scene.answer()
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"\#(Self.composed)"}"#)
        #expect(scene.performed.count == 2)
    }

    @Test("are two facts in the outbox")
    func facts() {
        var outbox = Outbox()
        let now = Scene.beginning.instant
        _ = outbox.connected(at: now)
        let deliveries = [Self.composed, Self.decomposed].flatMap {
            outbox.submit(.fact("t/\($0)", word: "x"), at: now)
        }
        #expect(deliveries.count == 2)
    }

    @Test("are two tags of other bridges")
    func peers() {
        let scene = Scene.connected()
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/zoo/info", #"{"tags":["\#(Self.composed)"]}"#)
        #expect(scene.send("tag/\(Self.composed)/led/set", "on") == [])
        scene.send("tag/\(Self.decomposed)/led/set", "on")
        #expect(scene.lastError?.code == "unknown_tag")
    }

    @Test(
        "a combining character behind a slash belongs to its level",
        arguments: [
            ("tag/003R/\u{301}led/set", "jacquard/tag/003R/\u{301}led/result", "unknown_command"),
            ("tag/\u{301}003R/led/set", "jacquard/tag/\u{301}003R/led/result", "unknown_tag"),
            ("bridge/attic/request/\u{301}scan", "jacquard/bridge/attic/response/\u{301}scan", "unknown_command"),
        ])
    func slash(topic: String, result: String, code: String) {
        let scene = Scene.connected()
        scene.send(topic, "on")
        #expect(scene.results.map(\.error?.code) == [code])
        #expect(scene.publications.last.map { Array($0.topic.utf8) } == Array(result.utf8))
    }

    @Test("a verb or a base topic with a combining character is not the bridge's")
    func others() {
        let scene = Scene.connected()
        for topic in ["tag/003R/led/\u{301}set", "tag/003R/led/set\u{301}", "\u{301}tag/003R/led/set"] {
            #expect(scene.send(topic, "on") == [])
        }
    }

    @Test("a combining character behind the slash of a discovery topic makes it another topic")
    func discovery() {
        let scene = Scene.announcing(tags: [.tag003R])
        scene.begin()
        let topics = ["homeassistant/sensor/jacquard_tag_003R/battery/\u{301}config", "homeassistant/\u{301}status"]
        for topic in topics { scene.receive(topic, #"{"migrate_discovery":true}"#, isRetained: true) }
        #expect(scene.wait(.seconds(1)).allSatisfy { !$0.contains("migrate_discovery") })
    }
}
