import Testing

@testable import Bridge

@Suite("Several bridges on one base topic")
struct NeighboursTests {
    private func scene(_ neighbour: String, tags: String, state: String = "online") -> Scene {
        var scene = Scene.connected()
        scene.send("bridge/\(neighbour)/info", #"{"tags":[\#(tags)],"contract":1}"#)
        scene.send("bridge/\(neighbour)/state", state)
        return scene
    }

    private func answers(_ scene: Scene, for tag: String) -> Bool {
        var scene = scene
        return !scene.send("tag/\(tag)/sing/set", "x").isEmpty
    }

    @Test("a command for another bridge's tag is left to that one")
    func othersTag() {
        #expect(!answers(scene("zoo", tags: #""0001""#), for: "0001"))
        #expect(answers(scene("zoo", tags: #""0001""#), for: "003R"))
    }

    @Test("a bridge that is offline leaves its tags to the others")
    func offline() {
        #expect(answers(scene("zoo", tags: #""0001""#, state: "offline"), for: "0001"))
        var scene = scene("zoo", tags: #""0001""#)
        scene.send("bridge/zoo/state", "")
        #expect(answers(scene, for: "0001"))
    }

    @Test("the first by name answers for a tag that nobody has")
    func nobodysTag() {
        #expect(answers(scene("zoo", tags: ""), for: "0001"))
        #expect(!answers(scene("aaa", tags: ""), for: "0001"))
    }

    @Test("an own tag is answered for whatever others say")
    func ownTag() {
        #expect(answers(scene("aaa", tags: #""003R""#), for: "003R"))
    }

    @Test("what a bridge says of itself or what cannot be read means nothing")
    func nonsense() {
        #expect(answers(scene("attic", tags: #""0001""#), for: "0001"))
        var scene = scene("zoo", tags: #""0001""#)
        scene.send("bridge/zoo/info", "{")
        #expect(answers(scene, for: "0001"))
    }
}
