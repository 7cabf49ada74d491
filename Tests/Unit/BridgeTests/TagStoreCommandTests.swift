import JacquardProtocol
import Testing

@testable import Bridge

@Suite("config/get, config/set")
struct TagStoreCommandTests {
    private func form(_ type: String, _ value: String) -> String {
        #"{"key":"k","type":"\#(type)","value":\#(value)}"#
    }

    @Test(
        "accept all eight types up to their limits",
        arguments: [
            ("bool", "true", .bool(true)), ("uint32", "0", .uint32(0)), ("uint32", "4294967295", .uint32(.max)),
            ("uint64", "18446744073709551615", .uint64(.max)), ("int32", "-2147483648", .int32(.min)),
            ("int32", "2147483647", .int32(.max)), ("int64", "-9223372036854775808", .int64(.min)),
            ("int64", "9223372036854775807", .int64(.max)), ("float", "0.1", .float(0.1)), ("float", "3", .float(3)),
            ("double", "-1.5e300", .double(-1.5e300)), ("double", "18446744073709551615", .double(0x1p64)),
            ("string", #""ä""#, .string("ä")), ("string", #""""#, .string("")),
        ] as [(String, String, ConfigElement.Value)])
    func types(type: String, text: String, value: ConfigElement.Value) {
        let scene = Scene.connected()
        scene.send("tag/003R/config/set", form(type, text))
        #expect(scene.performed == [.configSet(key: "k", value)])
        scene.answer()
        #expect(scene.results.last?.status == "ok")
    }

    private static let typeWords = "bool, uint32, uint64, int32, int64, float, double, string"

    @Test(
        "reject a value out of range with the allowed ones",
        arguments: [
            ("bool", "1", #""value" is 1; it may be true or false"#),
            ("uint32", "-1", #""value" is -1; it may be 0 to 4294967295"#),
            ("uint32", "4294967296", #""value" is 4294967296; it may be 0 to 4294967295"#),
            ("uint32", "1.5", #""value" is 1.5; it may be 0 to 4294967295"#),
            ("uint64", "-1", #""value" is -1; it may be 0 to 18446744073709551615"#),
            ("int32", "2147483648", #""value" is 2147483648; it may be -2147483648 to 2147483647"#),
            (
                "int64", "9223372036854775808",
                #""value" is 9223372036854775808; it may be -9223372036854775808 to 9223372036854775807"#
            ),
            (
                "float", "1e39",
                #""value" is 1e+39; it may be a number from -3.4028234663852886e+38 to 3.4028234663852886e+38"#
            ),
            ("string", "7", #""value" is 7; it may be a text of at most 768 bytes"#),
            ("string", "null", #""value" is missing; it may be a value of the type string"#),
            ("text", "7", #""type" is "text"; it may be \#(typeWords)"#),
        ])
    func ranges(type: String, value: String, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/config/set", form(type, value))
        #expect(scene.performed == [])
        #expect(scene.lastError == ResultError(code: "invalid_argument", text: text, hint: nil, retryable: false))
    }

    @Test(
        "require a key and an object",
        arguments: [
            ("config/get", "", #""key" is missing; it may be a text of 1 to 128 bytes without control characters"#),
            (
                "config/get", #"{"key":""}"#,
                #""key" is ""; it may be a text of 1 to 128 bytes without control characters"#
            ),
            (
                "config/get", #"{"key":"a\u0000b"}"#,
                "\"key\" is \"a\u{0}b\"; it may be a text of 1 to 128 bytes without control characters"
            ),
            ("config/get", "k", #""payload" is "k"; it may be a JSON object"#),
            (
                "config/get", #"{"key":"k","vendor_id":"11"}"#,
                #""vendor_id" is "11"; it may be four bytes such as 11-78-30-c8"#
            ),
            ("config/set", #"{"key":"k","value":1}"#, #""type" is missing; it may be \#(typeWords)"#),
        ])
    func keys(command: String, payload: String, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/" + command, payload)
        #expect(scene.lastError?.text == text)
    }

    @Test("can address the store of another product")
    func product() {
        let scene = Scene.connected()
        scene.send("tag/003R/config/get", #"{"key":"k","vendor_id":"74-a8-ce-54","product_id":"8A-66-50-F4"}"#)
        let vendor = JacquardIdentifier(rawValue: 0x74A8_CE54)
        #expect(
            scene.performed == [
                .configGet(key: "k", vendor: vendor, product: JacquardIdentifier(rawValue: 0x8A66_50F4))
            ])
    }

    @Test(
        "return the value with its type",
        arguments: [
            (.uint64(.max), #""type":"uint64","value":18446744073709551615"#),
            (.int32(-7), #""type":"int32","value":-7"#), (.float(0.1), #""type":"float","value":0.1"#),
            (.double(.infinity), #""type":"double","value":"inf""#), (.bool(false), #""type":"bool","value":false"#),
            (.float(.nan), #""type":"float","value":"nan""#), (.string("a/b"), #""type":"string","value":"a/b""#),
            (nil, #""type":null,"value":null"#),
        ] as [(ConfigElement.Value?, String)])
    func answers(value: ConfigElement.Value?, text: String) {
        let scene = Scene.connected()
        scene.send("tag/003R/config/get", #"{"key":"k"}"#)
        #expect(scene.answer(.configValue(value)).first?.contains(#""data":{"key":"k",\#(text)}"#) == true)
    }

    @Test("accept a key of at most 128 bytes")
    func longestKey() {
        let scene = Scene.connected()
        let key = String(repeating: "ä", count: 64)
        scene.send("tag/003R/config/get", #"{"key":"\#(key)"}"#)
        #expect(scene.performed == [.configGet(key: key)])
        scene.send("tag/003R/config/get", #"{"key":"\#(key)k"}"#)
        #expect(
            scene.lastError?.text.hasSuffix("; it may be a text of 1 to 128 bytes without control characters") == true)
    }

    @Test("return all eight types")
    func typesOfAnswers() {
        let values: [ConfigElement.Value] = [
            .bool(true), .uint32(1), .uint64(1), .int32(1), .int64(1), .float(1), .double(1), .string("1"),
        ]
        #expect(values.map(\.type) == ConfigType.allCases)
    }
}
