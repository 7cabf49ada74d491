import JacquardProtocol
import Time

/// A validated command to a tag. Each command has one type and one row in ``TagRequestTable``.
protocol TagRequest: Sendable {
    /// The last two levels of its topic, such as `led/set`.
    static var name: String { get }

    /// Its keys, besides those of all commands.
    static var keys: [String] { get }

    /// Whether it means nothing without a payload.
    static var needsPayload: Bool { get }

    /// Whether the command is allowed while the user has disconnected the tag or the configuration disables it.
    static var ignoresHold: Bool { get }

    /// The least role whose users may send it.
    static var access: CommandAccess { get }

    /// Whether its result is recorded for `replay-events`. Results with serials, addresses, names or values of the tag's store
    /// are not.
    static var isResultRecorded: Bool { get }

    /// Parses the command from its payload.
    ///
    /// - Throws: `invalid_argument`, `invalid_json` or `not_permitted`.
    init(_ payload: CommandPayload, in context: TagRequestContext) throws(CommandFailure)

    /// Whether the command is performed at once, whether or not the tag is connected. It has no command of the tag
    /// protocol.
    var isImmediate: Bool { get }

    /// The connection state that the command waits for.
    var goal: TagGoal { get }

    /// The command of the tag protocol that is sent once the goal is reached; nil if there is none.
    var command: TagCommand? { get }

    /// Whether the tag ends the link at once. bluetoothd may lose the response then, so the end of the link counts as one.
    var endsLink: Bool { get }

    /// Called when the bridge accepts the command. Updates the values that later commands build upon.
    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects)

    /// Applies a successful result to the tag's state. The effects follow the result of the command, and are those of a success: they
    /// are left out if the outcome is a failure.
    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome

    /// Returns the failure for an error of the tag.
    func failure(_ error: TagCommandError, of tag: borrowing TagMirror, at now: Timestamp) -> CommandFailure

    /// Called when the command failed, or is left to another bridge: then there is no failure.
    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp)
}

/// The facts that a command builds upon. They are much smaller than the state of the tag, which would be copied for each command.
struct TagRequestContext: Sendable {
    var entry: TagEntry
    /// The tag's own name; nil until it is known.
    var name: String?
    /// The states of the tag's LED and that of its gear after all pending commands.
    var lights: (tag: LightState, gear: LightState) = (.initial, .initial)
    /// The settings of commands.
    var settings: Settings
    /// The level of the battery in percent; nil if it is unknown.
    var batteryLevel: UInt32?
    /// Its features.
    var features: Features

    /// The settings of the bridge.
    var options: BridgeOptions { settings.options }
}

extension TagRequestContext {
    /// The settings of commands: one object that the context of each command refers to.
    final class Settings: Sendable {
        /// The settings of the bridge.
        let options: BridgeOptions

        init(_ options: BridgeOptions) {
            self.options = options
        }
    }
}

/// The least role whose users may send a command.
enum CommandAccess {
    /// Programs that react to gestures, and all below.
    case automation
    /// Home Assistant, and the administrator.
    case homeAssistant
    /// The administrator.
    case admin
}

/// The connection state that a command waits for.
enum TagGoal: Hashable, Sendable {
    /// The tag is connected.
    case connected
    /// The tag is disconnected and stays disconnected.
    case disconnected
}

/// The result data of a successful command, and what follows from it at the tag.
struct TagRequestOutcome: Sendable {
    var data = CommandData.none
    /// Set if the response does not contain what the command needs.
    var failure: CommandFailure?
    /// Further commands, whose results are ignored.
    var commands: [TagCommand] = []
    /// An order to the features of the tag; see ``FeatureEvent/ordered(_:hasCancelled:)``.
    var order: (any Sendable)?
    /// The commands of the tag that it ends before.
    var cancels: (any TagRequest.Type)?
}

extension TagRequest {
    static var keys: [String] { [] }
    static var needsPayload: Bool { false }
    static var ignoresHold: Bool { false }
    static var access: CommandAccess { .homeAssistant }
    static var isResultRecorded: Bool { false }
    var isImmediate: Bool { false }
    var goal: TagGoal { .connected }
    var endsLink: Bool { false }

    func accepted(by tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects) {}
    func failure(_ error: TagCommandError, of tag: borrowing TagMirror, at now: Timestamp) -> CommandFailure {
        tag.failure(of: error, at: now)
    }
    func failed(on tag: inout TagMirror, _ failure: CommandFailure?, at now: Timestamp) {}

    func succeeded(
        _ response: TagCommandResponse, on tag: inout TagMirror, at now: Timestamp, _ effects: inout Effects
    ) -> TagRequestOutcome {
        TagRequestOutcome()
    }
}
