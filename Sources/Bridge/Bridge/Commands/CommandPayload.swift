import JSON

/// The payload of a command: empty, text, or a JSON object.
enum CommandPayload: Sendable {
    case empty
    /// A bare word or a JSON string.
    case text(String)
    case object(CommandArguments)

    /// Maximum size in bytes.
    static let longest = 4_096

    /// The mark that some editors write at the begin of a file, in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static let spaces: Set<Character> = [" ", "\t", "\r", "\n", "\r\n"]

    /// Parses the payload of a message.
    ///
    /// - Throws: `payload_too_large`, `invalid_json`, or `invalid_argument` for JSON that no command accepts.
    init(_ bytes: [UInt8]) throws(CommandFailure) {
        guard bytes.count <= Self.longest else {
            throw CommandFailure(
                .payloadTooLarge, "The payload has \(bytes.count) bytes; a command has at most \(Self.longest)")
        }
        guard !bytes.starts(with: Self.byteOrderMark) else {
            throw CommandFailure(.invalidJSON, "The payload begins with a byte order mark (U+FEFF); send it without")
        }
        switch bytes.first(where: { !$0.isSpace }) {
        case UInt8(ascii: "{"):
            var repeatedKey: [JSONPlace] = []
            guard let members = JSONMember.list(parsing: bytes, repeatedKey: &repeatedKey) else {
                throw try Self.notJSON(bytes)
            }
            self = .object(CommandArguments(members, repeatedKey: repeatedKey))
        case UInt8(ascii: "["), UInt8(ascii: "\""): self = try Self.json(bytes)
        default:
            let text = try Self.text(bytes)
            self = text.isEmpty ? .empty : .text(text)
        }
    }

    private static func json(_ bytes: [UInt8]) throws(CommandFailure) -> CommandPayload {
        switch JSONValue(parsing: bytes) {
        case .string(let text): return .text(text)
        case nil: throw try notJSON(bytes)
        default:
            throw CommandFailure(.invalidArgument, "The payload is a list; it may be an object or one word")
        }
    }

    private static func notJSON(_ bytes: [UInt8]) throws(CommandFailure) -> CommandFailure {
        let text = try text(bytes).quoted
        guard bytes.count(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }) <= JSONValue.deepest else {
            return CommandFailure(
                .invalidJSON,
                "The payload \(text) is not JSON, or has more than \(JSONValue.deepest) lists and objects in one another"
            )
        }
        return CommandFailure(.invalidJSON, "The payload \(text) is not JSON")
    }

    /// Reads what starts and ends: the word `stop` as the whole payload, or `start` and `stop` in a key.
    ///
    /// - Parameter key: the key.
    /// - Returns: whether it is to start, which is the default.
    /// - Throws: `invalid_argument` for another word.
    func starts(_ key: String) throws(CommandFailure) -> Bool {
        switch self {
        case .empty: return true
        case .object(let arguments): return try arguments.word(key, of: .startAndStop) ?? true
        case .text("stop"): return false
        case .text(let text): throw .invalid("payload", is: .string(text), mayBe: "stop, or a JSON object")
        }
    }

    /// Reads a word from a list, which is the whole payload or the value of a key. Errors call the former `payload`.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - words: the allowed words.
    ///   - synonyms: further words that error texts don't list.
    /// - Returns: the meaning; nil if there is no word.
    /// - Throws: `invalid_argument` for another value, `invalid_json` for several words.
    func word<Meaning>(
        _ key: String, of words: [Word<Meaning>], synonyms: [Word<Meaning>] = []
    ) throws(CommandFailure) -> Meaning? {
        if case .object(let arguments) = self { return try arguments.word(key, of: words, synonyms: synonyms) }
        return try CommandArguments(self, word: "payload").word("payload", of: words, synonyms: synonyms)
    }

    /// Returns the bytes as text without spaces around it.
    private static func text(_ bytes: [UInt8]) throws(CommandFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.invalidJSON, "The payload is not UTF-8 text")
        }
        guard !bytes.contains(0) else { throw CommandFailure(.invalidJSON, "The payload contains a NUL character") }
        return String(text.trimmingSpaces(spaces))
    }

    /// Checks a text payload that must be a single word.
    ///
    /// - Throws: `invalid_json` for several words.
    static func singleWord(_ text: String) throws(CommandFailure) -> String {
        guard !text.contains(where: spaces.contains) else {
            throw CommandFailure(.invalidJSON, "The payload \(text.quoted) is neither JSON nor one word")
        }
        return text
    }
}

extension String {
    fileprivate func trimmingSpaces(_ spaces: Set<Character>) -> Substring {
        guard let end = lastIndex(where: { !spaces.contains($0) }) else { return "" }
        return self[...end].drop(while: spaces.contains)
    }
}

extension UInt8 {
    /// Whether it is white space of JSON.
    fileprivate var isSpace: Bool {
        switch self {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }
}

/// The keys that all commands share.
struct CommandEnvelope: Hashable, Sendable {
    /// Returned in the result. A command with the same `id` is not executed again.
    let id: String?
    /// How long the command may wait for the tag.
    let timeToLive: Duration

    /// The keys of all commands.
    static let keys = ["id", "ttl_ms"]
    /// The longest `id`, in bytes.
    static let longestID = 64
    /// Maximum `ttl_ms`: one day.
    static let longestMilliseconds: Int64 = 86_400_000
    private static let standardMilliseconds: Int64 = 10_000

    /// Reads `id` and `ttl_ms`. The message expiry also limits the lifetime; the shorter of the two applies.
    init(_ payload: CommandPayload?, expirySeconds: UInt32?) throws(CommandFailure) {
        let arguments = CommandArguments(payload)
        id = try arguments.text("id", longest: Self.longestID)
        let requested = try arguments.integer("ttl_ms", 0...Self.longestMilliseconds)
        let expiry = expirySeconds.map { min(Int64($0) * 1_000, Self.longestMilliseconds) }
        let shortest = [requested, expiry].compactMap(\.self).min()
        timeToLive = .milliseconds(shortest ?? Self.standardMilliseconds)
    }

    /// Returns the `id` of a command whose other keys may be invalid, or whose payload is not JSON.
    static func id(of payload: Result<CommandPayload, CommandFailure>, _ bytes: [UInt8]) -> String? {
        switch payload {
        case .success(let payload): try? CommandArguments(payload).text("id", longest: longestID)
        case .failure:
            JSONMember.string(of: "id", inBroken: bytes.prefix(longestBroken))
                .flatMap { $0.utf8.count <= longestID ? $0 : nil }
        }
    }

    /// In so many bytes of an invalid payload the `id` is looked for.
    private static let longestBroken = 65_536
}

extension CommandArguments {
    /// Returns the keys of an object, and none for any other payload.
    fileprivate init(_ payload: CommandPayload?) {
        if case .object(let arguments) = payload { self = arguments } else { self.init([:]) }
    }
}
