/// A value on its way into text: its keys can be sorted only when all have come.
final class JSONNode {
    private enum Content {
        /// Nothing was encoded, which counts as an object without keys.
        case empty
        /// A finished number, word or string.
        case text([UInt8])
        case object([(key: String, node: JSONNode)])
        case array([JSONNode])
    }

    private var content = Content.empty

    /// The value as text; indented from so deep, or without spaces on one line for nil.
    func bytes(indentation: Int?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes, indentation)
        // Copied without spare capacity, because documents may be kept for long.
        return bytes.withUnsafeBufferPointer(Array.init)
    }

    /// How many elements a list has so far.
    var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }

    func beginObject() {
        if case .object = content { return }
        content = .object([])
    }

    func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    /// A new member of an object.
    func member(_ key: String) -> JSONNode {
        let node = JSONNode()
        guard case .object(var members) = content else {
            content = .object([(key, node)])
            return node
        }
        // The array has one owner while it grows.
        content = .empty
        members.append((key, node))
        content = .object(members)
        return node
    }

    /// A new element of a list.
    func element() -> JSONNode {
        let node = JSONNode()
        guard case .array(var nodes) = content else {
            content = .array([node])
            return node
        }
        content = .empty
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    func set(word: StaticString) {
        content = .text(word.withUTF8Buffer { Array($0) })
    }

    func set(number: some BinaryInteger) {
        content = .text(Array(String(number).utf8))
    }

    func set(string: String) {
        var bytes: [UInt8] = []
        bytes.append(json: string)
        content = .text(bytes)
    }

    /// - Throws: when the number is not finite.
    func set(number: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "not finite"))
        }
        let text = number.description
        content = .text(Array((text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8))
    }
}

// MARK: Text

extension JSONNode {
    private func write(to bytes: inout [UInt8], _ indentation: Int?) {
        switch content {
        case .empty: bytes += "{}".utf8
        case .text(let text): bytes += text
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            Self.write(sorted, "{", "}", to: &bytes, indentation) { member, bytes, inner in
                bytes.append(json: member.key)
                bytes += (inner == nil ? ":" : " : ").utf8
                member.node.write(to: &bytes, inner)
            }
        case .array(let nodes):
            Self.write(nodes, "[", "]", to: &bytes, indentation) { $0.write(to: &$1, $2) }
        }
    }

    private static func write<Part>(
        _ parts: [Part], _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, to bytes: inout [UInt8],
        _ indentation: Int?, part write: (Part, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 2 }
        bytes.append(UInt8(ascii: opening))
        for (index, part) in parts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(&bytes, inner)
            write(part, &bytes, inner)
        }
        if !parts.isEmpty { breakLine(&bytes, indentation) }
        bytes.append(UInt8(ascii: closing))
    }

    private static func breakLine(_ bytes: inout [UInt8], _ indentation: Int?) {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: indentation)
    }
}

extension [UInt8] {
    /// Appends the bytes of a text. Appending its view `utf8` takes twice as long.
    public mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Appends a text as a JSON string.
    mutating func append(json text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        let isPlain = text.withUTF8 { bytes in
            for byte in bytes where byte.isEscapedInJSON { return false }
            append(contentsOf: bytes)
            return true
        }
        if !isPlain { append(escaped: text) }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
            case 0x08: self += #"\b"#.utf8
            case 0x09: self += #"\t"#.utf8
            case 0x0A: self += #"\n"#.utf8
            case 0x0C: self += #"\f"#.utf8
            case 0x0D: self += #"\r"#.utf8
            case ..<0x20: self += ((byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)).utf8
            default: append(byte)
            }
        }
    }
}

extension UInt8 {
    /// Whether a string of JSON does not take this byte as it is.
    fileprivate var isEscapedInJSON: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
