import Testing

@testable import JSON

@Suite("Text for terminals")
struct TerminalTextTests {
    /// Texts that no terminal and no log may receive unchanged.
    private static let ranges: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF...0xFEFF,
        0xE0001...0xE007F, 0xF0000...0xF0010,
    ]

    @Test("escapes control characters, line separators and direction marks", arguments: ranges)
    func escapes(range: ClosedRange<UInt32>) throws {
        for value in range {
            let scalar = try #require(Unicode.Scalar(value))
            let text = "a\(scalar)b"
            let escape = "\\u{\(String(value, radix: 16))}"
            #expect(TerminalText.escaped(text) == "a\(escape)b")
            #expect(!TerminalText.isSafe(text))
            let json = TerminalText.escapedJSON(String(decoding: JSONText.bytes(of: [text]), as: UTF8.self))
            #expect(json.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(json)")
            #expect(JSONValue(parsing: Array(json.utf8)) == .array([.string(text)]), "it is the same document")
            #expect(JSONValue(parsing: Array(TerminalText.quoted(text).utf8)) == .string(text))
            #expect(TerminalText.quoted(text).utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }

    @Test(
        "keeps all other text",
        arguments: ["", "plain", "Jäger", "日本", "naïve e\u{301}", "🧥", #"a\u{9b}b \ "#])
    func safe(text: String) {
        #expect(TerminalText.isSafe(text))
        #expect(TerminalText.escaped(text) == text)
        #expect(TerminalText.escapedJSON(text) == text)
        #expect(JSONValue(parsing: Array(TerminalText.quoted(text).utf8)) == .string(text))
    }

    @Test("writes documents for MQTT without these escapes: their bytes are part of the contract")
    func contract() {
        #expect(JSONText.bytes(of: ["a\u{9B}\u{202E}"]) == Array("[\"a\u{9B}\u{202E}\"]".utf8))
    }
}
