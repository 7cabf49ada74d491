import FoundationEssentials
import JSON
import Testing

/// A document with everything that ours have, and what they could have. Its members are not added in order.
private struct Sample: Encodable, JSONRecord {
    struct Inner: Encodable, JSONRecord {
        let uniqueID: String
        let enabledByDefault: Bool
        var missing: String?
        let counts: [String: UInt64]

        func addMembers(to object: inout JSONWriter) {
            object.add("uniqueID", uniqueID)
            object.add("enabledByDefault", enabledByDefault)
            object.addIfPresent("missing", missing)
            object.add("counts", counts)
        }
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
    let a = 0
    let ab = [true]

    func addMembers(to object: inout JSONWriter) {
        object.add("name", name)
        object.add("level", level)
        object.add("big", big)
        object.add("small", small)
        object.add("ratio", ratio)
        object.add("narrow", narrow)
        object.add("lines", lines)
        object.add("inner", inner)
        object.add("empty", empty)
        object.add("nothing", nothing)
        object.add("byName", byName)
        object.add("nested", nested)
        object.add("ab", ab)
        object.add("a", a)
    }
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

    @Test("on lines for people has the members in order, too")
    func indentedRecord() {
        let sample = Self.sample("x")
        let text = String(decoding: JSONText.indentedBytes(of: sample), as: UTF8.self)
        #expect(JSONValue(parsing: Array(text.utf8)) == JSONValue(parsing: JSONText.bytes(of: sample)))
        let keys = text.split(separator: "\n").filter { $0.hasPrefix("  \"") }.map { $0.split(separator: " ")[0] }
        #expect(keys.count == 14)
        #expect(keys == keys.sorted())
    }

    @Test("has a time as text")
    func time() {
        var (json, text) = (JSONWriter(capacity: 0), TimeText())
        json.object { $0.add("time", time: 1_795_342_202_114, &text) }
        #expect(json.finished() == Array(#"{"time":"\#(TimeText.utc(1_795_342_202_114))"}"#.utf8))
    }

    @Test("has objects without members, null for nothing, and text that is JSON already")
    func parts() {
        let bytes = JSONText.objectBytes { object in
            object.add("id", String?.none)
            object.add("data") { _ in }
            object.addIfPresent("missing", Int?.none)
            object.add("present") { $0.addIfPresent("null", String??.some(nil)) }
            object.add("raw", Text(json: Array("[1]".utf8)))
        }
        #expect(bytes == Array(#"{"data":{},"id":null,"present":{"null":null},"raw":[1]}"#.utf8))
    }

    private struct Text: JSONDocument {
        let json: [UInt8]

        func write(to json: inout JSONWriter) { json.write(json: self.json) }
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
