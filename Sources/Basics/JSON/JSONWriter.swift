/// Writes a document value by value, the members of objects in the order of their keys.
///
/// Members may be added in any order. Those that are added in the order of their keys cost nothing more than their bytes; an object whose
/// members come in another order is sorted at its end.
public struct JSONWriter {
    private var bytes: [UInt8] = []
    /// How deep the next line is indented; nil: everything is on one line.
    private var indentation: Int?
    /// The place of the last key of the innermost object; nil before the first.
    private var lastKey: Int?
    /// Whether the keys of the innermost object have come in order.
    private var isSorted = true
    private var isFinite = true

    /// Creates an empty document.
    ///
    /// - Parameters:
    ///   - capacity: the expected size in bytes.
    ///   - isIndented: whether each value has a line of its own, for people.
    public init(capacity: Int, isIndented: Bool = false) {
        bytes.reserveCapacity(capacity)
        indentation = isIndented ? 0 : nil
    }

    /// Ends the document.
    ///
    /// - Returns: its bytes; `null` if a number is not finite, which JSON does not have.
    public consuming func finished() -> [UInt8] { isFinite ? bytes : Array("null".utf8) }

    // MARK: Objects

    /// Writes an object.
    ///
    /// - Parameter members: adds its members.
    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        let outer = (lastKey, isSorted)
        (lastKey, isSorted) = (nil, true)
        let start = bytes.count
        open("{")
        members(&self)
        let isEmpty = lastKey == nil
        if !isSorted { sortMembers(after: start) }
        close("}", isEmpty: isEmpty)
        (lastKey, isSorted) = outer
    }

    /// Adds a member.
    ///
    /// - Parameters:
    ///   - key: the key, of printable ASCII characters other than the quotation mark and the backslash.
    ///   - value: its value; `null` for nil.
    public mutating func add(_ key: StaticString, _ value: some JSONDocument) {
        begin(key)
        value.write(to: &self)
    }

    /// Adds a member unless its value is nil.
    public mutating func addIfPresent(_ key: StaticString, _ value: (some JSONDocument)?) {
        if let value { add(key, value) }
    }

    /// Adds a member that is an object.
    public mutating func add(_ key: StaticString, members: (inout JSONWriter) -> Void) {
        begin(key)
        object(members)
    }

    /// Adds a time.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - text: formats it.
    public mutating func add(_ key: StaticString, time unixMilliseconds: Int64, _ text: inout TimeText) {
        begin(key)
        bytes.append(UInt8(ascii: "\""))
        text.append(unixMilliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds the members of a dictionary.
    public mutating func add(members: [String: some JSONDocument]) {
        for (key, value) in members {
            let place = beginMember()
            bytes.append(json: key)
            endKey(at: place)
            value.write(to: &self)
        }
    }

    private mutating func begin(_ key: StaticString) {
        let place = beginMember()
        bytes.append(UInt8(ascii: "\""))
        append(key)
        bytes.append(UInt8(ascii: "\""))
        endKey(at: place)
    }

    private mutating func beginMember() -> Int {
        if lastKey != nil { bytes.append(UInt8(ascii: ",")) }
        breakLine()
        return bytes.count
    }

    private mutating func endKey(at place: Int) {
        if indentation == nil { bytes.append(UInt8(ascii: ":")) } else { bytes += " : ".utf8 }
        if isSorted, let lastKey {
            isSorted = bytes.withUnsafeBufferPointer { Self.isKey(in: $0, at: lastKey, before: place) }
        }
        lastKey = place
    }

    /// Returns whether the first of two different keys comes first, by its bytes; the places are those of their first quotation marks.
    private static func isKey(in bytes: UnsafeBufferPointer<UInt8>, at place: Int, before other: Int) -> Bool {
        var (one, other) = (place + 1, other + 1)
        let quote = UInt8(ascii: "\"")
        while bytes[one] == bytes[other] {
            // The end of both: a quotation mark inside of a key comes after a backslash.
            if bytes[one] == quote { return false }
            if bytes[one] == UInt8(ascii: "\\") { (one, other) = (one + 1, other + 1) }
            guard bytes[one] == bytes[other] else { break }
            (one, other) = (one + 1, other + 1)
        }
        if bytes[one] == quote { return true }
        return bytes[other] != quote && bytes[one] < bytes[other]
    }

    /// Sorts the members of the innermost object, which begins at this place.
    private mutating func sortMembers(after start: Int) {
        let sorted = bytes.withUnsafeBufferPointer { bytes in
            var members = Self.members(in: bytes, from: start + 1)
            members.sort { Self.isKey(in: bytes, at: $0.lowerBound, before: $1.lowerBound) }
            return members.map { bytes[$0] }.map(Array.init)
        }
        bytes.removeSubrange((start + 1)...)
        for (index, member) in sorted.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine()
            bytes += member
        }
    }

    /// The places of the members of an object that is written up to its last member.
    private static func members(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> [Range<Int>] {
        var members: [Range<Int>] = []
        var (depth, isText, first, place) = (0, false, start, start)
        func end(_ place: Int) {
            // After the line break and the spaces before it.
            while bytes[first] != UInt8(ascii: "\"") { first += 1 }
            members.append(first..<place)
            first = place + 1
        }
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 0: end(place)
            default: break
            }
            place += 1
        }
        end(place)
        return members
    }

    // MARK: Lists

    /// Writes a list.
    public mutating func list<Element: JSONDocument>(_ elements: some Sequence<Element>) {
        open("[")
        var isEmpty = true
        for element in elements {
            if !isEmpty { bytes.append(UInt8(ascii: ",")) }
            breakLine()
            element.write(to: &self)
            isEmpty = false
        }
        close("]", isEmpty: isEmpty)
    }

    // MARK: Values

    /// Writes a text.
    public mutating func write(_ text: String) { bytes.append(json: text) }

    /// Writes a document that is text already.
    public mutating func write(json text: [UInt8]) { bytes += text }

    /// Writes `null`, `true` or `false`.
    mutating func write(word: StaticString) { append(word) }

    /// Writes a whole number.
    mutating func write(integer: some FixedWidthInteger) {
        if integer < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: UInt64(integer.magnitude))
    }

    /// Writes a number; if it is not finite, the whole document becomes `null`.
    mutating func write(number: some BinaryFloatingPoint & CustomStringConvertible) {
        guard number.isFinite else { return isFinite = false }
        let text = number.description
        bytes += (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8
    }

    // MARK: Text

    private mutating func open(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        indentation = indentation.map { $0 + 2 }
    }

    private mutating func close(_ bracket: Unicode.Scalar, isEmpty: Bool) {
        indentation = indentation.map { $0 - 2 }
        if !isEmpty { breakLine() }
        bytes.append(UInt8(ascii: bracket))
    }

    private mutating func breakLine() {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: indentation)
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension [UInt8] {
    /// Appends the bytes of a text. Appending its view `utf8` takes twice as long.
    public mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Appends a text as a JSON string.
    fileprivate mutating func append(json text: String) {
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
