import MQTT
import Testing

@Suite("Topic filter")
struct MQTTTopicFilterTests {
    @Test(
        "matches as section 4.7 of the specification says",
        arguments: [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/b", "a", false),
            ("a/b", "a/b/c", false),
            ("a/+", "a/b", true),
            ("a/+", "a", false),
            ("a/+", "a/", true),
            ("a/+", "a/b/c", false),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("a/+/c", "a/b/c", true),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("a/#", "ab", false),
            ("#", "a/b", true),
            ("+/b/#", "a/b", true),
            ("+/b/#", "a/c", false),
            ("#", "$SYS/uptime", false),
            ("+/uptime", "$SYS/uptime", false),
            ("$SYS/#", "$SYS/uptime", true),
            ("jacquard/tag/+/led/set", "jacquard/tag/003R/led/set", true),
            ("Ä/+", "Ä/ö", true),
        ] as [(String, String, Bool)])
    func matches(filter: String, topic: String, expected: Bool) throws {
        #expect(try MQTTTopicFilter(filter).matches(topic) == expected)
    }

    @Test(
        "rejects invalid filters",
        arguments: ["", "a/#/b", "#/a", "a#", "a/b#", "a+", "+a/b", "a\0b", String(repeating: "a", count: 65_536)])
    func refuses(text: String) {
        let error = #expect(throws: MQTTError.self) { try MQTTTopicFilter(text) }
        #expect(error?.code == .invalidMessage)
    }

    @Test("is written as it was read")
    func description() throws {
        #expect(try MQTTTopicFilter("a/+/#").description == "a/+/#")
    }
}
