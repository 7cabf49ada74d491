import JSON
import JacquardProtocol
import Text

/// The tags of a file of recorded events: the file has the names `tag-1`, `tag-2` and so on, in the order in which the tags
/// were recorded first, and this table says which ids they stand for.
///
/// An id is usually a serial of four characters. A hash of it in the file, even with a key beside it, would be found by
/// trying all serials. Numbers reveal nothing, and the file can be replayed without the table.
public struct RecordedTags: Hashable, Sendable {
    private var numbers: [TagID: Int] = [:]
    private var ids: [Int: TagID] = [:]
    /// The ids as bytes, to find them in payloads.
    private var names: [[UInt8]: Int] = [:]
    private var lastNumber = 0

    /// Encloses a name in a payload. JSON has no such byte.
    static let mark: UInt8 = 0x01
    private static let prefix = "tag-"
    private static let version: Int64 = 1
    /// More than a bridge ever gives. A file with a greater one is not from a bridge.
    private static let validNumbers = 1...1_000_000_000

    /// Creates an empty table.
    public init() {}

    /// The name of a tag in the file.
    static func name(_ number: Int) -> String { prefix + String(number) }

    /// The inverse of ``name(_:)``; nil for any other text.
    static func number(ofName name: String) -> Int? {
        guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)),
            validNumbers.contains(number), Self.name(number) == name
        else { return nil }
        return number
    }

    /// The number of a tag, a new one for a new tag.
    mutating func number(of id: TagID) -> Int {
        if let number = numbers[id] { return number }
        lastNumber += 1
        add(id, lastNumber)
        return lastNumber
    }

    /// Leaves out numbers that a file has used.
    mutating func keepFree(through number: Int) {
        lastNumber = max(lastNumber, number)
    }

    /// Removes a tag. Its events stay in the file under its name, which is not used again.
    ///
    /// - Returns: its number; nil if it has none.
    mutating func remove(_ id: TagID) -> Int? {
        guard let number = numbers.removeValue(forKey: id) else { return nil }
        ids[number] = nil
        names[Array(id.text.utf8)] = nil
        return number
    }

    private mutating func add(_ id: TagID, _ number: Int) {
        numbers[id] = number
        ids[number] = id
        names[Array(id.text.utf8)] = number
        lastNumber = max(lastNumber, number)
    }

    /// The tag's level in topics of a replay: its id, or its name in the file if the table does not have it.
    func level(of number: Int) -> String { ids[number]?.text ?? Self.name(number) }
}

// MARK: Payloads

extension RecordedTags {
    /// Replaces ids in the values of a JSON document, where they stand as whole words, by marked names.
    func concealed(_ payload: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        var result: [UInt8] = []
        result.reserveCapacity(payload.count + 16)
        var rest = payload[...]
        while let start = rest.firstIndex(of: quote) {
            result += rest[...start]
            let text = rest[(start + 1)...]
            let end = Self.end(ofString: text)
            let isKey = end + 1 < rest.endIndex && rest[end + 1] == UInt8(ascii: ":")
            if isKey { result += text[..<end] } else { conceal(text[..<end], into: &result) }
            result += rest[end...].prefix(1)
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    /// The position of the quotation mark that ends a string.
    private static func end(ofString text: ArraySlice<UInt8>) -> Int {
        var position = text.startIndex
        while position < text.endIndex, text[position] != UInt8(ascii: "\"") {
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position, text.endIndex)
    }

    private func conceal(_ text: ArraySlice<UInt8>, into result: inout [UInt8]) {
        var rest = text
        while let first = rest.first {
            let word = rest.prefix { ASCII.isOfWord($0) || $0 >= 0x80 }
            if let number = names[Array(word)] {
                result += [Self.mark] + Array(Self.name(number).utf8) + [Self.mark]
            } else {
                result += word
            }
            rest = rest.dropFirst(word.count)
            guard word.isEmpty else { continue }
            // The letter of an escape sequence does not begin a word.
            let isEscape = first == UInt8(ascii: "\\")
            let count = isEscape ? (rest.dropFirst().first == UInt8(ascii: "u") ? 6 : 2) : 1
            result += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
    }

    /// Replaces marked names by the levels of the tags in topics.
    func revealed(_ payload: [UInt8]) -> [UInt8] {
        guard payload.contains(Self.mark) else { return payload }
        let parts = payload.split(separator: Self.mark, omittingEmptySubsequences: false)
        return parts.enumerated().flatMap { index, part -> [UInt8] in
            guard index % 2 == 1, let number = Self.number(ofName: String(decoding: part, as: UTF8.self)) else {
                return Array(part)
            }
            return Array(level(of: number).utf8)
        }
    }
}

// MARK: The file of the table

extension RecordedTags {
    private struct Document: JSONRecord {
        let numbers: [(key: TagID, value: Int)]

        func addMembers(to object: inout JSONWriter) {
            object.add("tags", numbers.map { ["id": $0.key.text, "name": RecordedTags.name($0.value)] })
            object.add("version", RecordedTags.version)
        }
    }

    /// The greatest size of the table's file that is read; a tag takes at most a hundred bytes.
    public static let fileSizeLimit = 1 << 20

    /// The contents of the table's file.
    public var bytes: [UInt8] {
        JSONText.indentedBytes(of: Document(numbers: numbers.sorted { $0.value < $1.value })) + [UInt8(ascii: "\n")]
    }

    /// Parses the table's file.
    ///
    /// - Returns: nil for another format, and for a table with an id or a name twice.
    public init?(parsing bytes: [UInt8]) {
        guard let document = JSONValue(parsing: bytes), document["version"]?.integer == Self.version,
            let elements = document["tags"]?.elements
        else { return nil }
        for element in elements {
            guard let id = element["id"]?.string.flatMap({ TagID($0) }), numbers[id] == nil,
                let number = element["name"]?.string.flatMap(Self.number(ofName:)), ids[number] == nil
            else { return nil }
            add(id, number)
        }
    }
}
