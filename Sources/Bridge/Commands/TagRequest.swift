import JacquardProtocol

/// A command to a tag that has been read and found to be right; one type for each, one row in ``TagRequestTable``.
protocol TagRequest: Sendable {
    /// The last two levels of its topic, such as `led/set`.
    static var name: String { get }

    /// Whether it may be given although the user holds the tag, or the configuration has switched it off.
    static var ignoresHold: Bool { get }

    /// Reads it.
    ///
    /// - Throws: `invalid_argument` or `invalid_json`.
    init(_ payload: CommandPayload, for tag: TagMirror, defaults: BridgeConfiguration) throws(CommandFailure)

    /// What it waits for.
    var goal: TagGoal { get }

    /// What is to be done then; nil when that was all.
    var errand: TagErrand? { get }

    /// The bridge will see to it; what a later command builds upon may already change.
    func accepted(by tag: inout TagMirror)

    /// It was done: puts the truth into the tag's mirror.
    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome

    /// It was not carried out, or nobody knows.
    func failed(at tag: inout TagMirror)
}

/// What a command waits for before it goes on.
enum TagGoal: Hashable, Sendable {
    /// The tag is connected.
    case connected
    /// The tag is disconnected, and stays so.
    case disconnected

    /// Whether the tag is so.
    func isReached(by tag: TagMirror) -> Bool {
        switch self {
        case .connected: tag.isConnected
        case .disconnected: tag.connection.state == .disconnected
        }
    }
}

/// What somebody else has to do for a command.
enum TagErrand: Hashable, Sendable {
    /// The tag itself.
    case perform(TagCommand)

    /// The errand for the driver.
    func action(on tag: TagID, token: UInt64) -> BridgeAction {
        switch self {
        case .perform(let command): .perform(command, on: tag, token: token)
        }
    }
}

/// What came of an errand or a request, whoever did it.
enum CommandAnswer: Hashable, Sendable {
    case tag(TagCommandAnswer)
    case host(RequestAnswer)
}

/// What a request that was carried out brings back, and what is to be told to all.
struct TagRequestOutcome: Sendable {
    var data = CommandData.none
    var publications: [Publication] = []
    /// Why there is no result after all; nil when there is one.
    var failure: CommandFailure?
}

extension TagRequest {
    static var ignoresHold: Bool { false }
    var goal: TagGoal { .connected }

    func accepted(by tag: inout TagMirror) {}
    func failed(at tag: inout TagMirror) {}

    func carriedOut(_ answer: CommandAnswer, by tag: inout TagMirror, at now: Moment) -> TagRequestOutcome {
        TagRequestOutcome()
    }
}

/// Every command to a tag that this version carries out.
enum TagRequestTable {
    /// In the order in which an error text lists them.
    static let rows: [any TagRequest.Type] = [
        BatteryGet.self,
        ConfigGet.self,
        ConfigSet.self,
        ConnectionSet.self,
        HapticSet.self,
        InfoGet.self,
        LEDSet.self,
        NameSet.self,
        SignalGet.self,
        SleepSet.self,
        TouchModeSet.self,
    ]

    /// The command of a name.
    ///
    /// - Throws: `unknown_command`, with the names that there are.
    static func row(_ name: String) throws(CommandFailure) -> any TagRequest.Type {
        for row in rows where row.name == name { return row }
        // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
        let names = rows.map { $0.name }.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no command \(name.quoted); there are \(names)")
    }
}
