import JacquardProtocol
import MQTTTypes

/// What decides how a received command is understood.
struct CommandIntake: Sendable {
    var groups: GroupTable
    /// The settings of commands.
    var settings: TagRequestContext.Settings
    /// The topics of retained commands. The messages that delete them are no commands.
    private var retained: Set<ExactText> = []

    /// Upper bound on ``retained``.
    private static let mostRetained = 64

    init(_ configuration: BridgeConfiguration) {
        groups = GroupTable(configuration.groups)
        settings = TagRequestContext.Settings(configuration.options)
    }

    /// Notes a retained command: the message that deletes it is none.
    mutating func received(retained message: MQTTMessage) {
        guard retained.count < Self.mostRetained else { return }
        retained.insert(ExactText(message.topic))
    }

    /// Returns whether a message without a payload deletes a retained command that was received before.
    mutating func isDeletion(_ message: MQTTMessage) -> Bool { retained.remove(ExactText(message.topic)) != nil }

    /// Forgets retained commands: a new connection receives them again.
    mutating func brokerConnected() { retained = [] }
}
