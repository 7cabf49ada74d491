import JSON
import JacquardProtocol
import Time

/// The commands that have failed here in the last minute, and that another bridge may still have.
///
/// A bridge whose result is not published here keeps a command until a bridge is connected to its tag, and leaves it to that
/// one. If this is the one, it no longer has the command: the other bridge must publish a result. If this bridge has
/// published the result, the others must not execute the command.
struct RefusedCommands: Sendable {
    /// The longest time from the delivery of a command to one bridge to its delivery to another one, and its lifetime.
    static let lifetime = Duration.seconds(60)
    /// Maximum number of commands. The oldest is removed first.
    static let mostCount = 32

    private var commands: [(command: RefusedCommand, until: Instant)] = []

    mutating func add(_ command: RefusedCommand, at now: Instant) {
        commands.removeAll { $0.until <= now }
        if commands.count >= Self.mostCount { commands.removeFirst() }
        commands.append((command, now + Self.lifetime))
    }

    /// Forgets the commands to a tag that this bridge was connected to: other bridges have read the list.
    mutating func remove(_ tag: TagID) {
        if !commands.isEmpty { commands.removeAll { $0.command.tag == tag.text } }
    }

    /// Returns the answered commands, and those to the tags that this bridge is connected to; nil if there are none.
    func listed(isConnected: (String) -> Bool) -> [RefusedCommand]? {
        guard !commands.isEmpty else { return nil }
        let listed = commands.map(\.command).filter { $0.answered == true || isConnected($0.tag) }
        return listed.isEmpty ? nil : listed
    }
}

extension RefusedCommand {
    init(_ requester: Requester, of tag: TagID, isAnswered: Bool = false) {
        self.init(
            answered: isAnswered ? true : nil, id: requester.id, reading: requester.isReading ? true : nil,
            tag: tag.text, topic: requester.resultTopic)
    }

    /// Reads an element; nil for anything else.
    init?(_ value: JSONValue) {
        guard let tag = value["tag"]?.string, let topic = value["topic"]?.string else { return nil }
        self.init(
            answered: value["answered"]?.flag == true ? true : nil, id: value["id"]?.string,
            reading: value["reading"]?.flag == true ? true : nil, tag: tag, topic: topic)
    }

    /// The key of the stored result; nil without an `id`.
    var key: StoredResults.Key? {
        id.map { StoredResults.Key(resultTopic: topic, id: $0, isReading: reading == true) }
    }

    /// Reads the elements of an array; none from anything else.
    static func all(in value: JSONValue?) -> [RefusedCommand] {
        value?.elements?.prefix(RefusedCommands.mostCount).compactMap(RefusedCommand.init) ?? []
    }
}
