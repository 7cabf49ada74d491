import Testing

@testable import Bridge

@Suite("Levels of a topic")
struct TopicLevelsTests {
    @Test(
        "are the texts between the slashes below the prefix",
        arguments: [
            ("j/tag/a/led/set", "j", ["tag", "a", "led", "set"]), ("j/x/tag/a", "j/x", ["tag", "a"]), ("j/", "j", [""]),
            ("j//a/", "j", ["", "a", ""]), ("j/e\u{301}/\u{301}", "j", ["e\u{301}", "\u{301}"]),
        ])
    func texts(topic: String, prefix: String, expected: [String]) throws {
        let levels = try #require(TopicLevels(topic, below: prefix))
        #expect((0..<levels.count).map { Array(levels[$0].utf8) } == expected.map { Array($0.utf8) })
    }

    @Test(
        "do not exist above or beside the prefix, and are at most five",
        arguments: [
            ("j", "j"), ("jx/a", "j"), ("i/a", "j"), ("", "j"), ("j/x", "j/x"), ("j/a/b/c/d/e/f", "j"),
            ("j//////", "j"),
        ])
    func none(topic: String, prefix: String) {
        #expect(TopicLevels(topic, below: prefix) == nil)
    }

    @Test("are compared with words, and give the parts of the topic")
    func parts() throws {
        let levels = try #require(TopicLevels("j/tag/a/led/set", below: "j"))
        #expect(levels.has("tag", at: 0) && levels.has("set", at: 3))
        #expect(!levels.has("tags", at: 0) && !levels.has("ta", at: 0) && !levels.has("get", at: 3))
        #expect(levels.copy(2..<4) == "led/set" && levels.copy(1..<2) == "a")
        #expect(levels.topic(through: 2, and: "/result") == "j/tag/a/led/result")
    }
}
