import FoundationEssentials
import JSON
import Testing

/// The value of a text according to Foundation's decoder, in the words of `JSONValue`.
private struct Decoded: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value =
            if container.decodeNil() {
                .null
            } else if let value = try? container.decode(Bool.self) {
                .bool(value)
            } else if let value = try? container.decode(Int64.self) {
                .integer(value)
            } else if let value = try? container.decode(UInt64.self) {
                .unsigned(value)
            } else if let value = try? container.decode(Double.self) {
                .number(value)
            } else if let value = try? container.decode(String.self) {
                .string(value)
            } else if let value = try? container.decode([Decoded].self) {
                .array(value.map(\.value))
            } else {
                .object(try container.decode([String: Decoded].self).mapValues(\.value))
            }
    }

    static func value(of text: String) -> JSONValue? {
        try? JSONDecoder().decode(Decoded.self, from: Data(text.utf8)).value
    }
}

@Suite("JSON value")
struct JSONValueTests {
    @Test(
        "is what Foundation's decoder reads",
        arguments: [
            "null", "true", "false", "0", "-0", "1", "-1", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808", "18446744073709551615", "0.5", "-2.5e-3", "1E2", "1e400", "\"\"", "[]", "{}",
            " [ 1 , 2 ]\n", #"{"a":{"b":[1,{"c":null}]},"d":"x"}"#, #""\"\\\/\b\f\n\r\t\u00e4\uD83D\uDE00""#, #""ä😀""#,
            "\t{\r\n}", #"{"a":1,"b":2}"#, "1.5", "12345678901234567890123",
            "999999999999999999", "-999999999999999999", "1000000000000000000", "-1000000000000000000",
        ])
    func values(text: String) {
        #expect(JSONValue(parsing: Array(text.utf8)) == Decoded.value(of: text))
    }

    @Test(
        "is nil for invalid JSON",
        arguments: [
            "", " ", "nul", "nulll", "tru", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "\"",
            "\"\\",
            "\"\\x\"", "\"\\u12\"", #""\u12g4""#, #""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, "\"\n\"", "'a'", "[",
            "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{a:1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1"#, "{}}",
            "[]]", "1 2", "\u{FEFF}1", "/**/1",
        ])
    func refusals(text: String) {
        #expect(JSONValue(parsing: Array(text.utf8)) == nil)
    }

    @Test(
        "is nil for a string that is not UTF-8",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
    func notText(bytes: [UInt8]) {
        #expect(JSONValue(parsing: bytes) == nil)
    }

    @Test("has the first of several values of the same key")
    func repeated() {
        #expect(JSONValue(parsing: Array(#"{"a":1,"a":2}"#.utf8)) == ["a": 1])
    }

    @Test("is an object as a list of its members, in the order of the text")
    func members() {
        let text = Array(#" {"b" : 1, "a": {"c":[null]}, "b":null} "#.utf8)
        #expect(
            JSONMember.list(parsing: text) == [
                JSONMember(key: "b", value: 1), JSONMember(key: "a", value: ["c": [.null]]),
                JSONMember(key: "b", value: .null),
            ])
        #expect(JSONMember.list(parsing: Array("{}".utf8)) == [])
    }

    @Test(
        "has no members if it is no object, or not JSON",
        arguments: [
            "", "[]", #""a""#, "{", "{}{}", #"{"a":1,}"#, #"{"a":1"#, #"{"a"}"#, #"{a:1}"#, #"{"a":1}]"#, "null",
        ])
    func noMembers(text: String) {
        #expect(JSONMember.list(parsing: Array(text.utf8)) == nil)
    }

    @Test(
        "names the way to the first key that comes twice in one object",
        arguments: [
            (#"{"a":1,"b":{"a":1}}"#, []), (#"{"a":1,"a":1}"#, [.key("a")]),
            (#"{"id":"x","\u0069d":"y"}"#, [.key("id")]),
            (#"{"a":{"b":[0,{"c":1,"c":2}]}}"#, [.key("a"), .key("b"), .element(1), .key("c")]),
            (#"{"a":{"b":1,"b":2},"c":1,"c":2}"#, [.key("a"), .key("b")]),
        ] as [(String, [JSONPlace])])
    func repeatedKey(text: String, way: [JSONPlace]) {
        var found: [JSONPlace] = []
        #expect(JSONMember.list(parsing: Array(text.utf8), repeatedKey: &found) != nil)
        #expect(found == way)
    }

    @Test("of a member may be too large for a Double")
    func hugeMember() {
        let members = JSONMember.list(parsing: Array(#"{"a":1e999,"b":-1e999}"#.utf8))
        #expect(members?.map(\.value) == [.number(.infinity), .number(-.infinity)])
        #expect(JSONValue(parsing: Array(#"{"a":1e999}"#.utf8)) == nil)
    }

    @Test(
        "has the string of a key also if it is broken",
        arguments: [
            (#"{"id":"a","#, "a"), (#"{"x":[1,"id":"no"],"id" : "b"}"#, "b"), (#"{"x":"id","y":NaN,"id":"c"}"#, "c"),
            (#"{"x":"\q","id":"d"}"#, "d"), (#"{"id":7}"#, nil), (#"["id":"a"]"#, "a"), (#"{"a":{"id":"no"}}"#, nil),
            (#"{"id":"a"#, nil), (#"{"id"#, nil), ("", nil), (#"{"x":""#, nil), (#"{"\"#, nil),
        ] as [(String, String?)])
    func broken(text: String, id: String?) {
        #expect(JSONMember.string(of: "id", inBroken: Array(text.utf8)[...]) == id)
    }

    @Test("is nested as deep in a list of members")
    func depthOfMembers() {
        let deep = { (count: Int) in
            Array(#"{"a":"#.utf8) + Array(repeating: UInt8(ascii: "["), count: count)
                + Array(repeating: UInt8(ascii: "]"), count: count) + Array("}".utf8)
        }
        for count in [511, 512] {
            #expect((JSONMember.list(parsing: deep(count)) == nil) == (JSONValue(parsing: deep(count)) == nil))
        }
        #expect(JSONMember.list(parsing: deep(511)) != nil)
    }

    @Test("is nested 512 deep at most")
    func depth() {
        let deep = { (count: Int) in
            Array(repeating: UInt8(ascii: "["), count: count) + Array(repeating: UInt8(ascii: "]"), count: count)
        }
        #expect(JSONValue(parsing: deep(512)) != nil)
        #expect(JSONValue(parsing: deep(513)) == nil)
        #expect(JSONValue(parsing: deep(100_000)) == nil)
    }

    @Test(
        "a payload is a document or a word",
        arguments: [
            (#"{"b":[1,2.5,null,true],"a":"x/y"}"#, #"{"a":"x/y","b":[1,2.5,null,true]}"#), ("online", #""online""#),
            ("", #""""#), ("-63", "-63"), ("{", #""{""#),
        ])
    func payload(text: String, json: String) {
        #expect(JSONValue(payload: Array(text.utf8)).text == json)
    }
}
