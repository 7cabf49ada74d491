import FoundationEssentials
import JSON
import Testing

/// A document with everything that ours have, and what they could have.
private struct Sample: Encodable {
    struct Inner: Encodable {
        let uniqueID: String
        let enabledByDefault: Bool
        var missing: String?
        let counts: [String: UInt64]
    }

    let name: String
    let level: UInt8
    let big = UInt64.max
    let small = Int64.min
    let ratio: Double
    let narrow: Float
    let lines: [UInt8]
    let inner: [Inner]
    let empty: [String] = []
    let nothing: [String: String] = [:]
    let byName: [String: Inner]
    let nested: [[Int]] = [[1, 2], []]
}

@Suite("JSON text")
struct JSONTextTests {
    private static func sample(_ name: String, _ ratio: Double = 0.1) -> Sample {
        let inner = Sample.Inner(
            uniqueID: name, enabledByDefault: true, counts: ["brushIn": 1, "b_a": 2, "B": 3, "ä": 4, "": 5])
        return Sample(
            name: name, level: 87, ratio: ratio, narrow: 0.1, lines: [0, 1, 255], inner: [inner], byName: ["aB": inner]
        )
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    @Test(
        "equals that of Foundation's encoder byte for byte",
        arguments: [
            "sleeve", "", #"q"\/"#, "\u{1}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{1F}\u{7F}\u{80}", "ä→😀", "a/b", "\u{2028}",
        ])
    func texts(name: String) throws {
        let expected = try Self.encoder().encode(Self.sample(name))
        #expect(JSONText.bytes(of: Self.sample(name)) == Array(expected))
    }

    @Test("sorts any number of keys by their bytes")
    func keys() throws {
        let words = (0..<500).flatMap {
            ["\($0)", "k\($0 % 7)\($0)", "k \($0)", String(repeating: "ä", count: $0 % 90 + 1)]
        }
        let document = Dictionary(words.map { ($0, $0.count) }) { first, _ in first }
        #expect(try JSONText.bytes(of: document) == Array(Self.encoder().encode(document)))
    }

    @Test(
        "writes numbers as Foundation's encoder does",
        arguments: [0, -0.0, 1, -1, 0.5, 1e-7, 1e15, 1e16, 1e20, 1e21, 1e300, 123_456.789, .pi, .leastNonzeroMagnitude])
    func numbers(number: Double) throws {
        #expect(try JSONText.bytes(of: [number]) == Array(Self.encoder().encode([number])))
    }

    @Test("on lines for people can be read again")
    func indented() throws {
        let bytes = JSONText.indentedBytes(of: ["b": ["x", "y"], "a": []])
        #expect(
            String(decoding: bytes, as: UTF8.self) == #"""
                {
                  "a" : [],
                  "b" : [
                    "x",
                    "y"
                  ]
                }
                """#)
        #expect(JSONValue(parsing: bytes) == ["a": [], "b": ["x", "y"]])
    }

    @Test("has null for a document with a number that is not finite", arguments: [Double.infinity, -.infinity, .nan])
    func notFinite(number: Double) {
        #expect(JSONText.bytes(of: ["a": [number]]) == Array("null".utf8))
    }

    @Test("of a value is what was read")
    func value() {
        let text = #"{"a":[null,true,false,-1,18446744073709551615,0.5,"x\n"],"b":{}}"#
        #expect(JSONValue(parsing: Array(text.utf8)).map { JSONText.bytes(of: $0) } == Array(text.utf8))
    }
}
