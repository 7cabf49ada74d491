import Testing

@testable import Text

@Suite("Rules for values")
struct ScalarRuleTests {
    private enum Level: String, CaseIterable {
        case error, warning
    }

    @Test("a whole number is accepted inside its range", arguments: [("1", 1), ("10", 10), ("007", 7)])
    func integer(text: String, value: Int) throws {
        #expect(try ScalarRule.integer(1...10).parse(text) == value)
    }

    @Test(
        "anything else is rejected with a reason",
        arguments: [
            ("", "is not a whole number"), ("1.0", "is not a whole number"), ("-", "is not a whole number"),
            ("11", "is out of range"), ("99999999999999999999", "is out of range"),
        ])
    func notInteger(text: String, reason: String) {
        #expect(throws: Rejection(reason)) { try ScalarRule.integer(1...10).parse(text) }
    }

    @Test(
        "seconds have up to three decimals",
        arguments: [("1", 1000), ("0.25", 250), ("1.005", 1005)])
    func seconds(text: String, milliseconds: Int) throws {
        #expect(try ScalarRule.seconds(milliseconds: 100...2000).parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "other numbers of seconds are rejected",
        arguments: [
            ("0.0001", "has more than three decimals"), ("3", "is out of range"), ("1,5", "is not a number"),
            (".5", "is not a number"),
        ])
    func notSeconds(text: String, reason: String) {
        #expect(throws: Rejection(reason)) { try ScalarRule.seconds(milliseconds: 100...2000).parse(text) }
    }

    @Test("a misspelled word is rejected with the closest allowed word")
    func choice() throws {
        let rule = ScalarRule<Level>.choice
        #expect(try rule.parse("warning") == .warning)
        #expect(rule.allowed == "error, warning")
        #expect(throws: Rejection("is not one of these (did you mean warning?)")) { try rule.parse("waning") }
        #expect(throws: Rejection("is not one of these")) { try ScalarRule.choice(of: ["a", "b"]).parse("loud") }
    }

    @Test("a hidden rule never repeats the value")
    func hidden() {
        let rule = ScalarRule<String>.text(bytes: 4)
        #expect(rule.problem(with: "hunter2", Rejection("is too long")) == "\"hunter2\" is too long")
        #expect(rule.hidden().problem(with: "hunter2", Rejection("is too long")) == "the value is too long")
    }

    @Test(
        "a duration prints its seconds with the decimals it needs",
        arguments: [(5000, "5"), (250, "0.25"), (1, "0.001")])
    func decimalSeconds(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).decimalSeconds == text)
    }
}

@Suite("Texts in messages")
struct DisplayTextTests {
    @Test("quoted text is cut after 40 characters and has no control characters")
    func quoted() {
        #expect(DisplayText.quoted("a\u{1B}[2J") == #""a\u{1b}[2J""#)
        #expect(
            DisplayText.quoted(String(repeating: "x", count: 41)) == "\"" + String(repeating: "x", count: 40) + "...\"")
    }

    @Test("only what looks like a key is repeated in a path")
    func path() {
        #expect(DisplayText.path("mqtt", "host") == "mqtt.host")
        #expect(DisplayText.path("", "host") == "host")
        #expect(DisplayText.path("mqtt", "password:secret") == "mqtt")
    }

    @Test(
        "the closest candidate differs by at most two letters and by at most half of the word's",
        arguments: [
            ("hots", "host"), ("hst", "host"), ("HOST", "host"), ("HOTS", "host"), ("hosting", nil), ("hot", "host"),
            ("pot", "port"), ("prot", "port"), ("ohts", "host"), ("foo", nil), ("po", nil), ("x", nil), ("", nil),
        ] as [(String, String?)])
    func spelling(word: String, nearest: String?) {
        #expect(Spelling.nearest(to: word, in: ["port", "host"]) == nearest)
        #expect(Spelling.hint(for: word, in: ["port", "host"]) == (nearest.map { " (did you mean \($0)?)" } ?? ""))
    }

    @Test("a noun is singular after 1 only", arguments: [(0, "0 sessions"), (1, "1 session"), (2, "2 sessions")])
    func number(count: Int, text: String) {
        #expect(counted(count, "session") == text)
    }

    @Test("a part of a number has the verb of the part and the noun of the whole")
    func part() {
        #expect(countedAre(1, of: 2, "bridge") == "1 of 2 bridges is")
        #expect(countedAre(2, of: 2, "bridge") == "2 of 2 bridges are")
        #expect(countedAre(0, of: 1, "tag") == "0 of 1 tag are")
    }

    @Test("a sentence follows a period, anything else a semicolon")
    func parts() {
        #expect(DisplayText.joined([]) == "")
        #expect(DisplayText.joined(["attempt 2", "retrying"]) == "attempt 2; retrying")
        #expect(
            DisplayText.joined(["connecting", "attempt 2", "No link within 60 s", "Move the tag"])
                == "connecting; attempt 2. No link within 60 s. Move the tag")
    }
}
