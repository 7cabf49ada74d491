import Time

/// The stages of one command to a tag.
struct CommandTrace: Sendable {
    /// Why a command was not executed itself.
    enum Repetition: String, Sendable {
        /// The stored result of a command with the same `id` was published again.
        case stored
        /// A command with the same `id` was pending; both got its result.
        case pending
    }

    /// The result.
    enum Outcome: Sendable {
        case success
        case failure(CommandFailure.Code)
        /// Another bridge is connected to the tag, and executes the command.
        case elsewhere
    }

    /// The tag's topic level, at most ``longestText`` bytes.
    let tag: String
    /// Such as `led/set`, at most ``longestText`` bytes.
    let name: String
    /// The command's `id`.
    let id: String?
    /// When it was received.
    let received: Instant
    /// Whether it was valid and became pending.
    var isAccepted = false
    /// When it was passed to the tag's session; nil while it waits for the tag.
    var sent: Instant?
    /// When the result was published.
    var ended: Instant?
    var outcome: Outcome?
    var repetition: Repetition?

    /// Maximum size of a text in bytes. Names of tags and commands come from topics.
    static let longestText = 64

    /// Returns the text, or its first bytes.
    fileprivate static func shortened(_ text: String) -> String {
        text.utf8.count <= longestText ? text : String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
    }
}

/// The traces of the latest commands to tags. Each command has a number, from 1.
struct CommandTraces: Sendable {
    private var ring = TraceRing<CommandTrace>(capacity: 256)

    /// Adds a command and returns its number; 0 for a request to the bridge.
    mutating func begin(_ address: CommandAddress, id: String?, at now: Instant) -> UInt64 {
        guard let tag = address.tag else { return 0 }
        return ring.append(
            CommandTrace(
                tag: CommandTrace.shortened(tag), name: CommandTrace.shortened(address.name), id: id, received: now))
    }

    /// The command is valid, and waits for its tag.
    mutating func accepted(_ number: UInt64) {
        ring.update(number) { $0.isAccepted = true }
    }

    /// The command was passed to the tag's session; nil: it could not be sent, and waits again.
    mutating func sent(_ number: UInt64, at now: Instant?) {
        ring.update(number) { $0.sent = now }
    }

    /// The command was not executed, because it repeats another one.
    mutating func repeated(_ number: UInt64, _ repetition: CommandTrace.Repetition) {
        ring.update(number) { $0.repetition = repetition }
    }

    /// The command has a result.
    mutating func ended(_ number: UInt64, _ outcome: CommandTrace.Outcome, at now: Instant) {
        ring.update(number) {
            $0.ended = now
            $0.outcome = outcome
        }
    }

    /// Returns the latest commands, oldest first.
    ///
    /// - Parameters:
    ///   - tag: the tag's topic level; nil: all tags.
    ///   - count: how many.
    /// - Returns: the commands.
    func latest(of tag: String?, _ count: Int) -> [CommandTrace] {
        ring.latest(count) { tag == nil || $0.tag == tag }
    }
}
