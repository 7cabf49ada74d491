import Bridge
import JSON
import JacquardProtocol
import Text

/// The type of a key's value: how it is read, checked and printed, and what the JSON schema says about it.
struct ValueType<Value> {
    /// The words of JSON Schema.
    let schema: SchemaNode
    /// Whether the value is a string in JSON.
    var isString = true
    /// Whether the value is never printed.
    var isSecret = false
    /// The value as it could be written in the file.
    let text: (Value) -> String
    /// Reads the value at a key; nil if it is wrong, which is reported.
    let read: (ConfigurationNode, _ path: String, inout KeyReader) -> Value?

    /// The value as JSON.
    func json(_ value: Value) -> SchemaNode {
        let text = text(value)
        return .value(isString ? .string(text) : JSONValue(parsing: Array(text.utf8)) ?? .string(text))
    }
}

extension ValueType {
    /// A type whose rule needs nothing but the value.
    init(_ rule: ScalarRule<Value>, _ schema: SchemaNode, isString: Bool = true, text: @escaping (Value) -> String) {
        self.init(schema: schema, isString: isString, text: text) { node, path, reader in
            reader.scalar(node, path, rule)
        }
    }

    /// A type whose rule needs the place of the file, or the files that it names.
    init(
        _ schema: SchemaNode, text: @escaping (Value) -> String,
        in context: @escaping (ReadingContext) -> ScalarRule<Value>
    ) {
        self.init(schema: schema, text: text) { node, path, reader in
            reader.scalar(node, path, context(reader.context))
        }
    }
}

// MARK: - Numbers and words

extension ValueType where Value == Bool {
    /// `true` or `false`.
    static var boolean: ValueType { ValueType(.boolean, ["type": "boolean"], isString: false) { "\($0)" } }
}

extension ValueType where Value == Int {
    /// A whole number.
    static func integer(_ range: ClosedRange<Int>) -> ValueType {
        ValueType(.integer(range), .integer(range), isString: false) { "\($0)" }
    }
}

extension ValueType where Value == Duration {
    /// Whole seconds.
    static func wholeSeconds(_ range: ClosedRange<Int>) -> ValueType {
        ValueType(.wholeSeconds(range), .integer(range), isString: false, text: \.decimalSeconds)
    }

    /// Seconds with up to three decimals; the range is in milliseconds.
    static func seconds(milliseconds range: ClosedRange<Int>) -> ValueType {
        func bound(_ milliseconds: Int) -> SchemaNode {
            let text = Duration.milliseconds(milliseconds).decimalSeconds
            return .value(JSONValue(parsing: Array(text.utf8)) ?? .null)
        }
        let schema: SchemaNode = [
            "type": "number", "minimum": bound(range.lowerBound), "maximum": bound(range.upperBound),
        ]
        return ValueType(.seconds(milliseconds: range), schema, isString: false, text: \.decimalSeconds)
    }
}

extension ValueType where Value == Duration {
    /// Whole milliseconds.
    static func milliseconds(_ range: ClosedRange<Int>) -> ValueType {
        let rule = ScalarRule<Int>.integer(range, unit: " milliseconds").map { number throws(Rejection) in
            Duration.milliseconds(number)
        }
        return ValueType(rule, .integer(range), isString: false) { duration in
            let (seconds, attoseconds) = duration.components
            return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)"
        }
    }
}

extension ValueType where Value: CaseIterable & RawRepresentable<String> {
    /// One of the words of an enumeration. A word that YAML reads as a number is allowed as one.
    static var choice: ValueType {
        let words = Value.allCases.flatMap { value -> [SchemaNode] in
            let word = SchemaNode.string(value.rawValue)
            return Int64(value.rawValue).map { [word, .value(.integer($0))] } ?? [word]
        }
        return ValueType(.choice, ["enum": .list(words)], text: \.rawValue)
    }
}

extension ValueType {
    /// A list of words, or one text with commas between them.
    static func words<Word>() -> ValueType
    where Value == Set<Word>, Word: CaseIterable & RawRepresentable<String> & Hashable {
        let words = Word.allCases.map(\.rawValue)
        let word = "(\(words.joined(separator: "|")))"
        let schema: SchemaNode = [
            "type": ["array", "string"],
            "pattern": .value(.string("^ *\(word) *(, *\(word) *)*$")),
            "items": ["enum": .list(words.map { .string($0) })],
        ]
        let text: (Value) -> String = { value in
            Word.allCases.filter(value.contains).map(\.rawValue).joined(separator: ", ")
        }
        return ValueType(schema: schema, text: text) { node, path, reader in
            reader.list(node, path, ScalarRule<Word>.choice).map { Set($0) }
        }
    }
}

// MARK: - Texts

extension ValueType where Value == String {
    /// Text for people or for the broker.
    static func text(bytes limit: Int) -> ValueType { ValueType(.text(bytes: limit), .text(bytes: limit)) { $0 } }

    /// The name of a chord.
    static var chordName: ValueType {
        let gestures = Gesture.words.joined(separator: "|")
        let schema: SchemaNode = [
            "type": "string", "pattern": .string("^(?!(\(gestures)|unknown|unknown_gesture)$)[a-z][a-z0-9_]{0,31}$"),
        ]
        return ValueType(.chordName, schema) { $0 }
    }

    /// The name of a group.
    static var groupName: ValueType { ValueType(GroupSettings.nameRule, .word("^(?!all$)[0-9A-Za-z_-]{1,32}$")) { $0 } }

    /// A user name of MQTT, which no error message repeats.
    static var credential: ValueType { ValueType(.credential, .text(bytes: 65535)) { $0 } }

    /// A topic, or the first levels of one.
    static var topic: ValueType { ValueType(.topic, .reference("topic")) { $0 } }

    /// A host name or address.
    static var hostName: ValueType {
        ValueType(.hostName, ["type": "string", "pattern": "^[A-Za-z0-9._:%-]{1,253}$"]) { $0 }
    }

    /// A domain of DNS. Its records of services have names with up to 18 bytes more.
    static var domain: ValueType {
        let schema: SchemaNode = ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,230}$"]
        return ValueType(.domain, schema) { $0 }
    }

    /// The address of a page for browsers, or of one within Home Assistant.
    static var pageAddress: ValueType {
        let schema: SchemaNode = [
            "type": "string", "maxLength": 512,
            "pattern": "^(https?|homeassistant)://[A-Za-z0-9._-]+(:[0-9]{1,5})?(/[^\\u0000-\\u0020\\u007F]*)?$",
        ]
        return ValueType(.pageAddress, schema) { $0 }
    }

    /// The bridge's name in topics.
    static var instance: ValueType {
        ValueType(.instance, ["type": ["string", "integer"], "pattern": "^[a-z0-9-]{1,32}$"]) { $0 }
    }

    /// A pairing serial.
    static var serial: ValueType {
        let schema: SchemaNode = [
            "type": ["string", "number", "boolean"],
            "pattern": "^([0-9A-Za-z-]{4}|([0-9A-Za-z-]*-)?[0-9A-Za-z]{4,}-[0-9A-Za-z]+)$", "maxLength": 32,
        ]
        return ValueType(.serial, schema) { $0 }
    }

    /// A Bluetooth address; becomes upper case.
    static var address: ValueType {
        ValueType(.address, ["type": "string", "pattern": "^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"]) { $0 }
    }

    /// A vendor or product number as `T/gear` shows it; becomes lower case.
    static var gearNumber: ValueType { ValueType(.gearNumber, .reference("gearNumber")) { $0 } }

    /// A certificate or key of TLS, which must be readable.
    static var certificate: ValueType {
        ValueType(
            .reference("path"), text: { $0 },
            in: { context in
                .path(in: context.folder).map { path throws(Rejection) in
                    try context.checkFile(path)
                    return path
                }
            })
    }

    /// The command of a reflex.
    static var reflexRequest: ValueType {
        let schema: SchemaNode = ["type": "string", "pattern": "^ *(led|haptic|notify) ", "maxLength": 1024]
        return ValueType(schema, text: { $0 }, in: { ReflexSettings.requestRule($0.reflexProblem) })
    }

    /// A folder, which is created if it does not exist.
    static var folder: ValueType {
        ValueType(.reference("path"), text: { $0 }, in: { .path(in: $0.folder) })
    }

    /// A file for node_exporter.
    static var metricsFile: ValueType {
        let schema: SchemaNode = ["allOf": [.reference("path"), ["pattern": "\\.prom$"]]]
        return ValueType(schema, text: { $0 }, in: { .metricsFile(in: $0.folder) })
    }
}

extension ValueType where Value == [BrokerHost] {
    /// The nodes of a broker: a list, or one text with commas between them.
    static var brokerHosts: ValueType {
        let limit = 16
        let port = "6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}"
        let host = "(\\[[A-Za-z0-9._:%-]+\\]|[A-Za-z0-9._%-]{1,253})(:(\(port)))?"
        let schema: SchemaNode = [
            "type": ["array", "string"], "pattern": .string("^ *\(host) *(, *\(host) *)*$"), "minItems": 1,
            "maxItems": .integer(limit), "items": ["type": "string", "pattern": .string("^\(host)$")],
        ]
        let text: (Value) -> String = { $0.map(\.text).joined(separator: ", ") }
        return ValueType(schema: schema, text: text) { node, path, reader in
            guard let hosts = reader.list(node, path, ScalarRule<BrokerHost>.brokerHost) else { return nil }
            guard hosts.isEmpty || hosts.count > limit else { return hosts }
            // Wrong items have been reported.
            if case .list(let items) = node.content, items.count == hosts.count {
                let problem = hosts.isEmpty ? "an empty list" : "one item too many"
                findings(&reader, problem, path, node, limit)
            }
            return nil
        }
    }

    private static func findings(
        _ reader: inout KeyReader, _ problem: String, _ path: String, _ node: ConfigurationNode, _ limit: Int
    ) {
        reader.findings.add(problem, path: path, at: node.origin, allowed: "1 to \(limit) items")
    }
}

extension ValueType {
    /// A list of values, or one text with commas between them.
    private static func list<Item>(
        _ rule: ScalarRule<Item>, _ count: ClosedRange<Int>, item: SchemaNode, pattern: String,
        text: @escaping (Item) -> String
    ) -> ValueType where Value == [Item] {
        let repetition = "{\(count.lowerBound - 1),\(count.upperBound - 1)}"
        let schema: SchemaNode = [
            "type": ["array", "string"], "pattern": .string("^ *\(pattern) *(, *\(pattern) *)\(repetition)$"),
            "minItems": .integer(count.lowerBound), "maxItems": .integer(count.upperBound), "items": item,
        ]
        return ValueType(schema: schema, text: { $0.map(text).joined(separator: ", ") }) { node, path, reader in
            let before = reader.findings.count
            guard let items = reader.list(node, path, rule), reader.findings.count == before else { return nil }
            guard !count.contains(items.count) else { return items }
            let allowed = "\(count.lowerBound) to \(count.upperBound) items"
            reader.findings.add("a list of \(items.count)", path: path, at: node.origin, allowed: allowed)
            return nil
        }
    }

    /// A list of gestures.
    static func gestures(_ count: ClosedRange<Int>) -> ValueType where Value == [Gesture] {
        list(
            .gesture, count, item: ["enum": .list(Gesture.words.map { .string($0) })],
            pattern: "(\(Gesture.words.joined(separator: "|")))", text: { GestureName($0).rawValue })
    }

    /// A list of tags.
    static func tagIDs(_ count: ClosedRange<Int>) -> ValueType where Value == [TagID] {
        list(.tagID, count, item: .word("^[0-9A-Za-z_-]{1,64}$"), pattern: "[0-9A-Za-z_-]{1,64}", text: \.text)
    }
}

extension ValueType where Value == TagID {
    /// A tag's name in topics.
    static var tagID: ValueType {
        ValueType(.tagID, .word("^[0-9A-Za-z_-]{1,64}$"), text: \.text)
    }

    /// The id that a tag gets.
    static var ownTagID: ValueType {
        ValueType(.ownTagID, .word("^(?!all$)[0-9A-Za-z_-]{1,64}$"), text: \.text)
    }
}

extension ValueType where Value == Secret {
    /// A password of MQTT.
    static var password: ValueType {
        let rule = ScalarRule<String>.credential.map { text throws(Rejection) in Secret(value: text) }
        var type = ValueType(rule, .text(bytes: 65535)) { _ in "" }
        type.isSecret = true
        return type
    }
}

extension ValueType where Value == StoredPassword {
    /// A password in a file of one line, or in a credential of systemd.
    static var passwordFile: ValueType {
        ValueType(
            .reference("path"), text: \.path,
            in: { context in
                ScalarRule(allowed: "the path of a file with one line") { text throws(Rejection) in
                    let path = try ScalarRule<String>.text(bytes: 4095).parse(text)
                    return StoredPassword(path: path, password: try context.readPassword(path))
                }
            })
    }
}

extension ValueType where Value == Settings.Bluetooth.Adapter {
    /// An adapter of the kernel.
    static var adapter: ValueType {
        let schema: SchemaNode = [
            "type": "string", "pattern": "^(auto|hci[0-9]{1,3}|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})$",
        ]
        return ValueType(.adapter, schema) { adapter in
            switch adapter {
            case .automatic: "auto"
            case .name(let text), .address(let text): text
            }
        }
    }
}

// MARK: - Words of JSON Schema

extension SchemaNode {
    /// A whole number.
    fileprivate static func integer(_ range: ClosedRange<Int>) -> SchemaNode {
        [
            "type": "integer", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ]
    }

    /// A text without control characters. What looks like a number or a truth value is text, too.
    fileprivate static func text(bytes limit: Int) -> SchemaNode {
        word("^[^\\u0000-\\u001F\\u007F]+$") + ["minLength": 1, "maxLength": .integer(limit)]
    }

    fileprivate static func word(_ pattern: String) -> SchemaNode {
        ["type": ["string", "number", "boolean"], "pattern": .string(pattern)]
    }

    fileprivate static func reference(_ definition: String) -> SchemaNode {
        ["$ref": .string("#/definitions/\(definition)")]
    }

    /// The definitions that several types refer to.
    static var definitions: SchemaNode {
        [
            "topic": [
                "description": "A topic without wildcards and empty levels that does not start with $.",
                "type": ["string", "number"],
                "pattern":
                    "^[^/$+#\\u0000-\\u001F\\u007F][^/+#\\u0000-\\u001F\\u007F]*(/[^/+#\\u0000-\\u001F\\u007F]+)*$",
                "maxLength": 128,
            ],
            "gearNumber": [
                "description": "Four pairs of hexadecimal digits.", "type": "string",
                "pattern": "^[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){3}$",
            ],
            "path": [
                "description": "An absolute path, or a path relative to the folder of the configuration file.",
                "type": "string", "pattern": "^[^\\u0000-\\u001F\\u007F]+$", "minLength": 1, "maxLength": 4095,
            ],
        ]
    }
}
