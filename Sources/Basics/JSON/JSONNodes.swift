/// The values of a document on its way into text: the keys of an object can be sorted only when all have come.
///
/// All values are in one list, and all keys and texts in one array of bytes. With an object for each value, most of the time was spent
/// on making and freeing those; with a string for each key, on counting its references.
final class JSONNodes {
    /// The document itself.
    static let root = 0

    private enum Content {
        /// Nothing was encoded, which counts as an object without keys.
        case empty
        /// A finished number, word or string: its place in the bytes of all texts.
        case text(Range<Int>)
        case object
        case array
    }

    private struct Node {
        /// Its key in the object around it, as a JSON string: its place in the bytes of all texts.
        var key = 0..<0
        var content = Content.empty
        /// Its first and last member or element, and the next one beside it.
        var first: Int?
        var last: Int?
        var next: Int?
        var count = 0
        /// Whether its members are in the order of their keys.
        var isSorted = true
    }

    private var nodes: [Node] = []
    private var texts: [UInt8] = []

    init() {
        nodes.reserveCapacity(16)
        texts.reserveCapacity(512)
        nodes.append(Node())
    }

    /// The document as text; indented from so deep, or without spaces on one line for nil.
    func bytes(indentation: Int?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.count + 3 * nodes.count)
        write(Self.root, to: &bytes, indentation)
        // Copied without spare capacity, because documents may be kept for long.
        return bytes.withUnsafeBufferPointer(Array.init)
    }

    /// How many elements a list has so far.
    func count(of node: Int) -> Int { nodes[node].count }

    func beginObject(_ node: Int) {
        if case .object = nodes[node].content { return }
        begin(.object, node)
    }

    func beginArray(_ node: Int) {
        if case .array = nodes[node].content { return }
        begin(.array, node)
    }

    /// A new member of an object.
    func member(_ key: String, of node: Int) -> Int {
        beginObject(node)
        let start = texts.count
        texts.append(json: key)
        let last = nodes[node].last
        let child = add(Node(key: start..<texts.count), to: node)
        if let last, isBefore(child, last) { nodes[node].isSorted = false }
        return child
    }

    /// A new element of a list.
    func element(of node: Int) -> Int {
        beginArray(node)
        return add(Node(), to: node)
    }

    private func begin(_ content: Content, _ node: Int) {
        (nodes[node].content, nodes[node].first, nodes[node].last, nodes[node].count) = (content, nil, nil, 0)
    }

    private func add(_ new: Node, to node: Int) -> Int {
        let child = nodes.count
        nodes.append(new)
        if let last = nodes[node].last { nodes[last].next = child } else { nodes[node].first = child }
        nodes[node].last = child
        nodes[node].count += 1
        return child
    }

    /// Returns whether a key comes before another one, by their bytes.
    private func isBefore(_ child: Int, _ member: Int) -> Bool {
        let (one, other) = (nodes[child].key, nodes[member].key)
        return texts.withUnsafeBufferPointer { texts in
            // Without the quotation marks, of which the last would come before most letters.
            for offset in 1..<min(one.count, other.count) - 1 {
                let (mine, theirs) = (texts[one.lowerBound + offset], texts[other.lowerBound + offset])
                if mine != theirs { return mine < theirs }
            }
            return one.count < other.count
        }
    }

    func set(_ node: Int, word: StaticString) {
        setText(of: node) { bytes in word.withUTF8Buffer { bytes.append(contentsOf: $0) } }
    }

    func set(_ node: Int, number: some FixedWidthInteger) {
        setText(of: node) { bytes in
            if number < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(decimal: UInt64(number.magnitude))
        }
    }

    func set(_ node: Int, string: String) {
        setText(of: node) { $0.append(json: string) }
    }

    /// - Throws: when the number is not finite.
    func set(_ node: Int, number: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "not finite"))
        }
        let text = number.description
        setText(of: node) { $0 += (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8 }
    }

    private func setText(of node: Int, _ append: (inout [UInt8]) -> Void) {
        let start = texts.count
        append(&texts)
        begin(.text(start..<texts.count), node)
    }
}

// MARK: Text

extension JSONNodes {
    private func write(_ node: Int, to bytes: inout [UInt8], _ indentation: Int?) {
        switch nodes[node].content {
        case .empty: bytes += "{}".utf8
        case .text(let range): append(range, to: &bytes)
        case .object:
            if !nodes[node].isSorted { sortMembers(of: node) }
            writeChildren(of: node, "{", "}", to: &bytes, indentation)
        case .array: writeChildren(of: node, "[", "]", to: &bytes, indentation)
        }
    }

    private func sortMembers(of node: Int) {
        var members: [Int] = []
        members.reserveCapacity(nodes[node].count)
        var next = nodes[node].first
        while let member = next {
            members.append(member)
            next = nodes[member].next
        }
        members.sort(by: isBefore)
        for (member, next) in zip(members, members.dropFirst()) { nodes[member].next = next }
        (nodes[node].first, nodes[node].isSorted) = (members.first, true)
        if let last = members.last { nodes[last].next = nil }
    }

    private func append(_ range: Range<Int>, to bytes: inout [UInt8]) {
        texts.withUnsafeBufferPointer { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[range])) }
    }

    private func writeChildren(
        of node: Int, _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, to bytes: inout [UInt8], _ indentation: Int?
    ) {
        let inner = indentation.map { $0 + 2 }
        bytes.append(UInt8(ascii: opening))
        var next = nodes[node].first
        while let child = next {
            if child != nodes[node].first { bytes.append(UInt8(ascii: ",")) }
            breakLine(&bytes, inner)
            if !nodes[child].key.isEmpty {
                append(nodes[child].key, to: &bytes)
                if inner == nil { bytes.append(UInt8(ascii: ":")) } else { bytes += " : ".utf8 }
            }
            write(child, to: &bytes, inner)
            next = nodes[child].next
        }
        if nodes[node].count > 0 { breakLine(&bytes, indentation) }
        bytes.append(UInt8(ascii: closing))
    }

    private func breakLine(_ bytes: inout [UInt8], _ indentation: Int?) {
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
