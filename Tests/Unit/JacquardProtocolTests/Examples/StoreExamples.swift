import JacquardProtocol

/// Answers with one value of each type of the tag's own store.
extension Example where Message == Response {
    static let store: [Example] = [
        store(.bool(true), "bool_val: true"),
        store(.bool(false), "bool_val: false"),
        store(.uint32(.max), "uint32_val: 4294967295"),
        store(.uint64(.max), "uint64_val: 18446744073709551615"),
        store(.int32(.min), "int32_val: -2147483648"),
        store(.int64(.min), "int64_val: -9223372036854775808"),
        store(.float(-0.25), "float_val: -0.25"),
        store(.double(1.5e300), "double_val: 1.5e+300"),
        store(.string("Jä"), #"string_val: "J\303\244""#),
        store(.string(""), #"string_val: """#),
        Example(
            "no value",
            Response(id: 1, body: .configGet(ConfigGetResponse(element: ConfigElement(key: "k", value: nil)))),
            text: """
                id: 1
                status: 0
                config_get_response {
                  config {
                    key: "k"
                  }
                }
                """),
        Example(
            "no element", Response(id: 1, body: .configGet(ConfigGetResponse())),
            text: """
                id: 1
                status: 0
                config_get_response {
                }
                """),
    ]

    private static func store(_ value: ConfigElement.Value, _ text: String) -> Example {
        Example(
            text,
            Response(id: 1, body: .configGet(ConfigGetResponse(element: ConfigElement(key: "key", value: value)))),
            text: """
                id: 1
                status: 0
                config_get_response {
                  config {
                    key: "key"
                    \(text)
                  }
                }
                """)
    }
}
