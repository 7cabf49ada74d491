/// Reads JSON by RFC 8259. The bytes come from anybody: whatever they are, they end in a value or in nil.
struct JSONParser {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    /// Whether a number that no `Double` holds is infinite; otherwise the text has no value.
    private var readsHugeNumbers = false
    /// The place of a key that comes twice in one object, from the inside out; empty while there is none.
    private var repeatedKey: [JSONPlace] = []

    /// The only value of a text.
    static func document(_ text: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        var parser = JSONParser(text: text)
        guard let value = parser.value(), parser.next() == nil else { return nil }
        return value
    }

    /// The only value of a text, which must be an object.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - repeatedKey: set to the way to the first key that comes twice in one object, if there is one.
    /// - Returns: nil for what is not JSON, or not an object.
    static func members(
        _ text: UnsafeBufferPointer<UInt8>, repeatedKey: inout [JSONPlace]
    ) -> [JSONMember]? {
        var parser = JSONParser(text: text)
        var members: [JSONMember] = []
        // Room for a common object at once.
        members.reserveCapacity(6)
        parser.depth = 1
        parser.readsHugeNumbers = true
        let isComplete =
            parser.take("{")
            && parser.members { parser, key, value in
                if parser.repeatedKey.isEmpty, members.contains(where: { $0.key.isSame(as: key) }) {
                    parser.repeatedKey = [.key(key)]
                }
                members.append(JSONMember(key: key, value: value))
            }
        guard isComplete, parser.next() == nil else { return nil }
        if !parser.repeatedKey.isEmpty { repeatedKey = parser.repeatedKey.reversed() }
        return members
    }

    /// The string of a key of the outermost object, of a text that need not be JSON: it is looked for as far as strings and
    /// brackets are distinguished.
    static func string(of key: String, inBroken text: UnsafeBufferPointer<UInt8>) -> String? {
        var parser = JSONParser(text: text)
        var depth = 0
        while let byte = parser.current {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let isKey = parser.stringOrSkip() == key && depth == 1 && parser.take(":")
                if isKey, parser.next() == UInt8(ascii: "\"") { return parser.string() }
                continue
            default: break
            }
            parser.position += 1
        }
        return nil
    }

    /// Reads a string; one that is invalid is passed over.
    private mutating func stringOrSkip() -> String? {
        let start = position
        if let text = string() { return text }
        position = start + 1
        while let byte = current, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        position = min(position + 1, text.count)
        return nil
    }

    private init(text: UnsafeBufferPointer<UInt8>) {
        self.text = text
    }

    private var current: UInt8? { position < text.count ? text[position] : nil }

    /// The next byte that is no space; it stays.
    private mutating func next() -> UInt8? {
        while let byte = current {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position += 1
            default: return byte
            }
        }
        return nil
    }

    /// Takes the next byte that is no space, if it is this one.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next() == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: StaticString, as value: JSONValue) -> JSONValue? {
        let rest = text[position...]
        guard word.withUTF8Buffer({ rest.starts(with: $0) }) else { return nil }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func value() -> JSONValue? {
        switch next() {
        case UInt8(ascii: "{"): nested { $0.object() }
        case UInt8(ascii: "["): nested { $0.array() }
        case UInt8(ascii: "\""): string().map(JSONValue.string)
        case UInt8(ascii: "t"): take("true", as: .bool(true))
        case UInt8(ascii: "f"): take("false", as: .bool(false))
        case UInt8(ascii: "n"): take("null", as: .null)
        case nil: nil
        default: number()
        }
    }

    private mutating func nested(_ body: (inout JSONParser) -> JSONValue?) -> JSONValue? {
        guard depth < JSONValue.deepest else { return nil }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return body(&self)
    }

    private mutating func array() -> JSONValue? {
        var elements: [JSONValue] = []
        if take("]") { return .array(elements) }
        repeat {
            let isNew = repeatedKey.isEmpty
            guard let element = value() else { return nil }
            if isNew, !repeatedKey.isEmpty { repeatedKey.append(.element(elements.count)) }
            elements.append(element)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func object() -> JSONValue? {
        // Room for a common object at once: growing member by member hashes all keys again each time.
        var members = [String: JSONValue](minimumCapacity: 6)
        let isComplete = self.members { parser, key, value in
            // The first value counts.
            guard let first = members.updateValue(value, forKey: key) else { return }
            members[key] = first
            if parser.repeatedKey.isEmpty { parser.repeatedKey = [.key(key)] }
        }
        return isComplete ? .object(members) : nil
    }

    /// The rest of an object.
    ///
    /// - Returns: whether it has its end.
    private mutating func members(add: (inout JSONParser, String, JSONValue) -> Void) -> Bool {
        if take("}") { return true }
        repeat {
            let isNew = repeatedKey.isEmpty
            guard next() == UInt8(ascii: "\""), let key = string(), take(":"), let member = value() else {
                return false
            }
            if isNew, !repeatedKey.isEmpty { repeatedKey.append(.key(key)) }
            add(&self, key, member)
        } while take(",")
        return take("}")
    }
}

// MARK: Strings

extension JSONParser {
    private mutating func string() -> String? {
        position += 1
        let start = position
        var isASCII = true
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            guard byte >= 0x20 else { return nil }
            if byte >= 0x80 { isASCII = false }
            position += 1
        }
        guard current == UInt8(ascii: "\\") else {
            guard current != nil else { return nil }
            position += 1
            // Of a slice, decoding takes ten times as long.
            let bytes = UnsafeBufferPointer(rebasing: text[start..<position - 1])
            return isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }
        return stringWithEscapes(from: start)
    }

    private mutating func stringWithEscapes(from start: Int) -> String? {
        var bytes = Array(text[start..<position])
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): guard escape(into: &bytes) else { return nil }
            case 0x20...: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func escape(into bytes: inout [UInt8]) -> Bool {
        guard let byte = current else { return false }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = scalar() else { return false }
            bytes += Array(String(scalar).utf8)
        default: return false
        }
        return true
    }

    /// The scalar behind `\u`: four digits, or a pair of surrogates of which the second has its own `\u`.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let first = codeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard current == UInt8(ascii: "\\") else { return nil }
        position += 1
        guard current == UInt8(ascii: "u") else { return nil }
        position += 1
        guard let second = codeUnit(), UTF16.isTrailSurrogate(second) else { return nil }
        let (high, low) = (UInt32(first) - 0xD800, UInt32(second) - 0xDC00)
        return Unicode.Scalar(0x10000 + high << 10 + low)
    }

    private mutating func codeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = current.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else { return nil }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}

extension String {
    /// Whether another key is the same. The counts of most keys differ, and take less to compare than their bytes.
    fileprivate func isSame(as other: String) -> Bool { utf8.count == other.utf8.count && self == other }
}

// MARK: Numbers

extension JSONParser {
    /// `-`, digits without a needless zero before them, then a fraction, then an exponent.
    private mutating func number() -> JSONValue? {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let first = position
        guard digits(), text[first] != UInt8(ascii: "0") || position == first + 1 else { return nil }
        let wholeEnd = position
        if current == UInt8(ascii: ".") {
            position += 1
            guard digits() else { return nil }
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            guard digits() else { return nil }
        }
        if position == wholeEnd, let integer = smallInteger(from: first) {
            return .integer(first == start ? integer : -integer)
        }
        let spelled = String(decoding: UnsafeBufferPointer(rebasing: text[start..<position]), as: UTF8.self)
        if position == wholeEnd {
            if let integer = Int64(spelled) { return .integer(integer) }
            if let unsigned = UInt64(spelled) { return .unsigned(unsigned) }
        }
        guard let number = Double(spelled) else { return nil }
        guard number.isFinite else { return readsHugeNumbers ? .number(number) : nil }
        if let integer = Int64(exactly: number) { return .integer(integer) }
        return UInt64(exactly: number).map(JSONValue.unsigned) ?? .number(number)
    }

    /// The digits up to here as an integer; nil for so many that it may be too large.
    private func smallInteger(from first: Int) -> Int64? {
        guard position - first <= 18 else { return nil }
        return text[first..<position].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// One digit at least.
    private mutating func digits() -> Bool {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }
}
