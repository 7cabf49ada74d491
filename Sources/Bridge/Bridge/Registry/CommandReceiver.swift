import MQTTTypes

/// The kind of a command's receiver, with the row of its table.
enum CommandReceiver {
    case tag(any TagRequest.Type)
    case bridge(any BridgeRequest.Type)

    /// - Throws: `unknown_command`.
    init(_ address: CommandAddress) throws(CommandFailure) {
        self =
            if address.tag == nil {
                .bridge(try BridgeRequestTable.row(address.name))
            } else {
                .tag(try TagRequestTable.row(address.name))
            }
    }

    /// Whether a command means nothing without a payload, as does one that does not exist.
    static func needsPayload(_ name: String, isForTag: Bool) -> Bool {
        if isForTag { return (try? TagRequestTable.row(name))?.needsPayload ?? true }
        return (try? BridgeRequestTable.row(name))?.needsPayload ?? true
    }

    /// The keys of the command, besides those of all commands.
    var keys: [String] {
        switch self {
        case .tag(let row): row.keys
        case .bridge(let row): row.keys
        }
    }
}
