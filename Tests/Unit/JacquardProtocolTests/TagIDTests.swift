import Testing

@testable import JacquardProtocol

@Suite("Ids and texts by their bytes")
struct TagIDTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    @Test("two texts that differ only in how a character is composed are different")
    func bytes() throws {
        try #require(Self.composed == Self.decomposed)
        #expect(ExactText(Self.composed) != ExactText(Self.decomposed))
        #expect(ExactText(Self.composed) == ExactText(Substring(Self.composed)))
        let ids = try [Self.composed, Self.decomposed].map { try #require(TagID($0)) }
        #expect(ids[0] != ids[1])
        #expect(Set(ids).count == 2)
        #expect(Set(ids + ids).count == 2)
        #expect(ids.map { Array($0.text.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
    }

    @Test("are compared to the last byte", arguments: 0...33)
    func everyByte(count: Int) {
        let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(bytes.isEqual(to: Array(bytes)) && ExactText(text) == ExactText(String(decoding: bytes, as: UTF8.self)))
        #expect(!bytes.isEqual(to: bytes + [0]))
        for place in bytes.indices {
            var other = bytes
            other[place] = UInt8(ascii: "~")
            #expect(!bytes.isEqual(to: other) && ExactText(text) != ExactText(String(decoding: other, as: UTF8.self)))
        }
    }

    @Test("have different hashes if they differ: large tables stay fast")
    func hashes() {
        let texts = (0..<1_000).map { ExactText("tag-\($0)") }
        #expect(Set(texts.map(\.hashValue)).count == texts.count)
    }

    @Test("are ordered by their bytes")
    func order() throws {
        let texts = ["b", "a", Self.composed, Self.decomposed, "ab", "B"]
        let expected = ["B", "a", "ab", "b", Self.decomposed, Self.composed].map { Array($0.utf8) }
        #expect(texts.map { ExactText($0) }.sorted().map { Array($0.text.utf8) } == expected)
        #expect(try texts.map { try #require(TagID($0)) }.sorted().map { Array($0.text.utf8) } == expected)
        #expect(!(ExactText("a") < "a"))
    }

    @Test(
        "an id is one topic level of 1 to 64 bytes",
        arguments: [
            ("a", true), (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
            (String(repeating: "\u{E9}", count: 33), false), ("", false), ("a/b", false), ("+", false), ("a#", false),
            ("a\u{7F}", false), ("\n", false), (String(repeating: "\u{E9}", count: 32), true), ("a b~", true),
        ] as [(String, Bool)])
    func level(text: String, isID: Bool) {
        #expect((TagID(text)?.text == text) == isID)
    }
}
