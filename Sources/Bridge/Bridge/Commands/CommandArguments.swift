import JSON
import JacquardProtocol
import Text

/// The keys of a command, with one set of validation errors. `null` counts as absent.
struct CommandArguments: Sendable {
    /// Of members with the same key, the first one counts. A command has few of them and is asked for many: comparing takes
    /// less than hashing.
    private let members: [JSONMember]
    /// The way to the first key that comes twice in one object; empty if there is none.
    private let repeatedKey: [JSONPlace]
    /// The lengths of the keys, as bits: most keys that are asked for are absent, and no other has their length.
    private let lengths: UInt64

    init(_ members: [JSONMember], repeatedKey: [JSONPlace] = []) {
        (self.members, self.repeatedKey) = (members, repeatedKey)
        lengths = members.indices.reduce(0) { $0 | members[$1].key.lengthBit }
    }

    init(_ values: [String: JSONValue]) {
        self.init(values.map { JSONMember(key: $0.key, value: $0.value) })
    }

    /// Throws if a key comes twice in one object, because it is unknown which of the values the sender means, and for a number that
    /// is too large.
    func check() throws(CommandFailure) {
        if !repeatedKey.isEmpty {
            throw CommandFailure(
                .invalidJSON, "The key \(repeatedKey.path.quoted) comes twice", hint: "Give each key once")
        }
        for index in members.indices where members[index].value.isFractionOrNested {
            guard let way = members[index].value.wayToHugeNumber else { continue }
            let path = ([.key(members[index].key)] + way).path
            throw CommandFailure(.invalidJSON, "\(path.quoted) is a number that is too large")
        }
    }

    /// Reads the keys of a payload; a bare word is short for an object with one key.
    ///
    /// - Parameters:
    ///   - payload: the payload.
    ///   - key: the key whose value a bare word is.
    /// - Throws: `invalid_json` for several words.
    init(_ payload: CommandPayload, word key: String) throws(CommandFailure) {
        try self.init(payload) { word throws(CommandFailure) in [key: .string(try CommandPayload.singleWord(word))] }
    }

    /// Reads the keys of a payload; a text is short for an object.
    ///
    /// - Parameters:
    ///   - payload: the payload.
    ///   - object: returns the object.
    /// - Throws: what `object` throws.
    init(
        _ payload: CommandPayload, text object: (String) throws(CommandFailure) -> [String: JSONValue]
    ) throws(CommandFailure) {
        switch payload {
        case .empty: self.init([:])
        case .text(let text): self.init(try object(text))
        case .object(let arguments): self = arguments
        }
    }

    /// Reads the keys of a payload that must be an object or empty.
    ///
    /// - Parameters:
    ///   - payload: the payload.
    ///   - keys: the keys of this command, for the error.
    /// - Throws: `invalid_argument` for anything else.
    init(emptyOrObject payload: CommandPayload, with keys: StaticString = "") throws(CommandFailure) {
        switch payload {
        case .empty: self.init([:])
        case .object(let arguments): self = arguments
        case .text(let text):
            let keys = keys.utf8CodeUnitCount == 0 ? "" : "\(keys), "
            throw .invalid("payload", is: .string(text), mayBe: "empty, or an object with \(keys)id and ttl_ms")
        }
    }

    /// Reads the keys of a payload that must be an object.
    init(objectOnly payload: CommandPayload) throws(CommandFailure) {
        if case .text(let text) = payload {
            throw .invalid("payload", is: .string(text), mayBe: "a JSON object")
        }
        try self.init(emptyOrObject: payload)
    }

    /// The value of a key; nil if it is absent.
    subscript(key: String) -> JSONValue? {
        guard lengths & key.lengthBit != 0 else { return nil }
        for index in members.indices where members[index].key.isWord(key) {
            if case .null = members[index].value { return nil }
            return members[index].value
        }
        return nil
    }

    /// Upper bound on unknown keys named in a result.
    private static let maxUnknownKeys = 8
    /// Longer keys are cut, in bytes.
    private static let longestUnknownKey = 64

    /// Returns the keys that a command does not have, each with a hint for the sender.
    ///
    /// - Parameter known: the keys of the command, without those of all commands.
    /// - Returns: the hints by key.
    func unknownKeys(besides known: [String]) -> [String: String] {
        // Most commands have none: nothing is allocated for them.
        var hasUnknown = false
        for index in members.indices where !members[index].isKnown(besides: known) { hasUnknown = true }
        var hints: [String: String] = [:]
        if hasUnknown {
            for member in members where !member.isKnown(besides: known) {
                Self.addHint(for: member.key, at: "", besides: CommandEnvelope.keys + known, to: &hints)
            }
        }
        for index in members.indices where members[index].value.isFractionOrNested {
            guard let parts = Self.parts(of: members[index].key, in: known) else { continue }
            Self.addUnknownKeys(of: members[index].value, at: members[index].key, besides: parts, to: &hints)
        }
        return hints
    }

    /// The keys of the objects that are values of a command's keys.
    private static let parts = [
        (key: "color", keys: LEDPattern.Color.keys), (key: "frames", keys: LEDPattern.Frame.keys),
    ]

    private static func parts(of key: String, in known: [String]) -> [String]? {
        guard let row = parts.first(where: { $0.key.isWord(key) }), known.contains(row.key) else { return nil }
        return row.keys
    }

    private static func addUnknownKeys(
        of value: JSONValue, at path: String, besides known: [String], to hints: inout [String: String]
    ) {
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() where hints.count < maxUnknownKeys {
                addUnknownKeys(of: element, at: "\(path)[\(index)]", besides: known, to: &hints)
            }
        case .object(let members):
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                if case .null = value { continue }
                if !known.contains(key) { addHint(for: key, at: path + ".", besides: known, to: &hints) }
                guard let parts = parts(of: key, in: known) else { continue }
                addUnknownKeys(of: value, at: "\(path).\(key)", besides: parts, to: &hints)
            }
        default: break
        }
    }

    private static func addHint(
        for key: String, at path: String, besides known: [String], to hints: inout [String: String]
    ) {
        let name = path + key.shortened(toBytes: longestUnknownKey)
        guard hints.count < maxUnknownKeys, hints[name] == nil else { return }
        let nearest = Spelling.nearest(to: key, in: known).map { "did you mean \($0)?" }
        hints[name] = nearest ?? "unknown; the keys are \(known.joined(separator: ", "))"
    }

    /// Returns whether at least one of the keys is present.
    func containsAny(of keys: [String]) -> Bool {
        keys.contains { self[$0] != nil }
    }

    /// Reads a value from a list of words. Synonyms are accepted, but error texts don't list them.
    func word<Meaning>(
        _ key: String, of words: [Word<Meaning>], synonyms: [Word<Meaning>] = []
    ) throws(CommandFailure) -> Meaning? {
        guard let value = self[key] else { return nil }
        if case .string(let text) = value {
            for word in words where word.text == text { return word.meaning }
            for word in synonyms where word.text == text { return word.meaning }
        }
        throw .invalid(key, is: value, mayBe: words.listed())
    }

    /// Reads a text of at most `longest` bytes.
    func text(_ key: String, longest: Int) throws(CommandFailure) -> String? {
        guard let value = self[key] else { return nil }
        if case .string(let text) = value, text.utf8.count <= longest { return text }
        throw .invalid(key, is: value, mayBe: "a text of at most \(longest) bytes")
    }

    /// Reads a text without control characters.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - bytes: the allowed lengths.
    ///   - allowed: the allowed values, in words.
    ///   - isAllowed: a further condition.
    /// - Returns: nil if the key is absent.
    /// - Throws: `invalid_argument` for another value.
    func text(
        _ key: String, bytes: ClosedRange<Int>, mayBe allowed: String, where isAllowed: (String) -> Bool = { _ in true }
    ) throws(CommandFailure) -> String? {
        try text(key, mayBe: allowed) { text in
            let isText = bytes.contains(text.utf8.count) && !text.utf8.contains(where: ASCII.isControl)
            return isText && isAllowed(text) ? text : nil
        }
    }

    /// Reads a text and converts it.
    func text<Meaning>(
        _ key: String, mayBe allowed: String, meaning: (String) -> Meaning?
    ) throws(CommandFailure) -> Meaning? {
        guard let value = self[key] else { return nil }
        if case .string(let text) = value, let meaning = meaning(text) { return meaning }
        throw .invalid(key, is: value, mayBe: allowed)
    }

    /// Reads an integer within a range.
    func integer<Number: FixedWidthInteger & Sendable>(
        _ key: String, _ range: ClosedRange<Number>, unit: String = ""
    ) throws(CommandFailure) -> Number? {
        guard let value = self[key] else { return nil }
        let number: Number? =
            switch value {
            case .integer(let integer): Number(exactly: integer)
            case .unsigned(let integer): Number(exactly: integer)
            default: nil
            }
        if let number, range.contains(number) { return number }
        throw .invalid(key, is: value, mayBe: "\(range.lowerBound) to \(range.upperBound)\(unit)")
    }

    /// Reads a number of seconds, with or without a fraction, and returns milliseconds.
    func seconds(_ key: String, _ range: ClosedRange<UInt32>) throws(CommandFailure) -> UInt32? {
        guard let value = self[key] else { return nil }
        let seconds: Double? =
            switch value {
            case .integer(let integer): Double(integer)
            case .number(let number): number
            default: nil
            }
        let limits = Double(range.lowerBound) / 1_000...Double(range.upperBound) / 1_000
        if let seconds, limits.contains(seconds) { return UInt32((seconds * 1_000).rounded()) }
        let allowed = "\(limits.lowerBound) to \(range.upperBound / 1_000) seconds"
        throw .invalid(key, is: value, mayBe: allowed)
    }

    /// Reads a Boolean.
    func flag(_ key: String) throws(CommandFailure) -> Bool? {
        guard let value = self[key] else { return nil }
        if case .bool(let flag) = value { return flag }
        throw .invalid(key, is: value, mayBe: "true or false")
    }

    /// Reads a colour: a name, `"#rrggbb"` or `{"r":0,"g":0,"b":0}`.
    func color(_ key: String) throws(CommandFailure) -> LEDPattern.Color? {
        guard let value = self[key] else { return nil }
        if let color = LEDPattern.Color(value) { return color }
        throw .invalid(key, is: value, mayBe: LEDPattern.Color.allowed)
    }

    /// Reads a list of objects whose length is within a range.
    func list(_ key: String, _ range: ClosedRange<Int>) throws(CommandFailure) -> [CommandArguments]? {
        guard let value = self[key] else { return nil }
        let allowed = "a list of \(range.lowerBound) to \(range.upperBound) objects"
        guard case .array(let elements) = value else { throw .invalid(key, is: value, mayBe: allowed) }
        guard range.contains(elements.count) else {
            throw CommandFailure(.invalidArgument, "\(key.quoted) is a list of \(elements.count); it may be \(allowed)")
        }
        var list: [CommandArguments] = []
        for element in elements {
            guard case .object(let object) = element else {
                throw .invalid(key, is: value, mayBe: "a list of objects, and one element is \(element.quoted)")
            }
            list.append(CommandArguments(object))
        }
        return list
    }

    /// Returns the value of a required key, or throws.
    static func required<Value>(_ value: Value?, _ key: String, mayBe allowed: String) throws(CommandFailure) -> Value {
        if let value { return value }
        throw CommandFailure(.invalidArgument, "\(key.quoted) is missing; it may be \(allowed)")
    }
}

/// An allowed word of a value, and its meaning.
struct Word<Meaning> {
    let text: String
    let meaning: Meaning

    init(_ text: String, _ meaning: Meaning) {
        self.text = text
        self.meaning = meaning
    }
}

extension Word: Sendable where Meaning: Sendable {}

extension [Word<Bool>] {
    /// The words of what starts and ends.
    static var startAndStop: Self { [Word("start", true), Word("stop", false)] }
}

extension Array {
    /// The words, for error texts.
    func listed<Meaning>() -> String where Element == Word<Meaning> {
        map(\.text).joined(separator: ", ")
    }
}

extension JSONValue {
    /// Whether it is anything but a word, a flag or an integer, which most values are.
    fileprivate var isFractionOrNested: Bool {
        switch self {
        case .number, .array, .object: true
        case .null, .bool, .integer, .unsigned, .string: false
        }
    }

    /// The way to the first number that is infinite; nil if there is none.
    fileprivate var wayToHugeNumber: [JSONPlace]? {
        switch self {
        case .number(let value): return value.isFinite ? nil : []
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let way = element.wayToHugeNumber { return [.element(index)] + way }
            }
        case .object(let members):
            for (key, value) in members {
                if let way = value.wayToHugeNumber { return [.key(key)] + way }
            }
        default: break
        }
        return nil
    }
}

extension [JSONPlace] {
    /// The way as text, such as `frames[0].color.r`.
    fileprivate var path: String {
        reduce(into: "") { path, place in
            switch place {
            case .key(let key): path += path.isEmpty ? key : ".\(key)"
            case .element(let index): path += "[\(index)]"
            }
        }
    }
}

extension JSONMember {
    /// Returns whether a command has the key, or the value counts as absent.
    fileprivate func isKnown(besides known: [String]) -> Bool {
        for name in CommandEnvelope.keys where name.isWord(key) { return true }
        for name in known where name.isWord(key) { return true }
        if case .null = value { return true }
        return false
    }
}

extension JSONValue {
    /// The value for an error text: shortened, and only what the sender wrote.
    var quoted: String {
        switch self {
        case .null: "null"
        case .bool(let value): String(value)
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        case .string(let value): value.quoted
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension String {
    /// Whether it is another word of a list. The counts of most words differ, and take less to compare than their bytes.
    func isWord(_ other: String) -> Bool { utf8.count == other.utf8.count && self == other }

    /// The length, as one bit of many.
    fileprivate var lengthBit: UInt64 { 1 &<< UInt64(truncatingIfNeeded: utf8.count) }

    /// The text in quotation marks, cut after 40 characters so that an error text has a bounded size.
    var quoted: String {
        count > 40 ? "\"\(prefix(40))…\"" : "\"\(self)\""
    }
}
