import JSON

/// A JSON document whose keys keep their order, so that a generated JSON schema reads in the order of the table.
indirect enum SchemaNode: Sendable {
    case value(JSONValue)
    case list([SchemaNode])
    case object([(key: String, value: SchemaNode)])

    /// A string.
    static func string(_ text: String) -> SchemaNode { .value(.string(text)) }

    /// A whole number.
    static func integer(_ value: Int) -> SchemaNode { .value(.integer(Int64(value))) }

    /// The keys and values of an object; empty for anything else.
    var members: [(key: String, value: SchemaNode)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// A value as it is written in YAML: a string without quotes.
    var plainText: String { if case .value(.string(let text)) = self { text } else { text() } }

    /// The text at a key of an object; nil if there is none.
    func text(of key: String) -> String? {
        guard case .value(.string(let text))? = members.first(where: { $0.key == key })?.value else { return nil }
        return text
    }

    /// The smallest and the largest value of a number, as texts; empty without limits.
    var bounds: [String] {
        members.filter { ["minimum", "maximum"].contains($0.key) }.map { $0.value.text() }
    }

    /// The texts that `enum` lists, at any depth.
    var enumeratedWords: [String] {
        members.flatMap { key, node in
            guard key == "enum", case .list(let words) = node else { return node.enumeratedWords }
            return words.compactMap { if case .value(.string(let word)) = $0 { word } else { nil } }
        }
    }

    /// Appends the keys of another object.
    static func + (left: SchemaNode, right: SchemaNode) -> SchemaNode { .object(left.members + right.members) }

    /// The document with an indentation of two spaces. A list or object stays on one line if it fits.
    ///
    /// - Parameters:
    ///   - indentation: of the line that the document starts in.
    ///   - start: how many characters that line already has.
    /// - Returns: the text, without a newline at its end.
    func text(indentation: String = "", start: Int = 0) -> String {
        let line = line
        if start + line.unicodeScalars.count < Self.width, !indentation.isEmpty { return line }
        let inner = indentation + "  "
        let parts: [String]
        switch self {
        case .value: return line
        case .list(let nodes): parts = nodes.map { $0.text(indentation: inner, start: inner.count) }
        case .object(let members):
            parts = members.map { key, value in
                let name = "\(Self.text(.string(key))): "
                return name + value.text(indentation: inner, start: inner.count + name.count)
            }
        }
        let (opening, closing) = if case .list = self { ("[", "]") } else { ("{", "}") }
        return "\(opening)\n\(inner)" + parts.joined(separator: ",\n\(inner)") + "\n\(indentation)\(closing)"
    }

    private static let width = 120

    private static func text(_ value: JSONValue) -> String {
        String(decoding: JSONText.bytes(of: value), as: UTF8.self)
    }

    private var line: String {
        switch self {
        case .value(let value): Self.text(value)
        case .list(let nodes): "[\(nodes.map(\.line).joined(separator: ", "))]"
        case .object(let members):
            "{ \(members.map { "\(Self.text(.string($0))): \($1.line)" }.joined(separator: ", ")) }"
        }
    }
}

extension SchemaNode: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    init(stringLiteral value: String) { self = .value(.string(value)) }

    init(integerLiteral value: Int64) { self = .value(.integer(value)) }

    init(booleanLiteral value: Bool) { self = .value(.bool(value)) }

    init(arrayLiteral elements: SchemaNode...) { self = .list(elements) }

    init(dictionaryLiteral elements: (String, SchemaNode)...) {
        self = .object(elements.map { (key: $0, value: $1) })
    }
}
