/// The reason why a pending command waits.
enum CommandObstacle: Hashable, Sendable {
    /// Bluetooth is not powered on; with the cause, if it is known.
    case bluetooth(AdapterFacts.State, Cause? = nil)
    /// The tag is not connected; with a clause about when it was last seen.
    case tag(String)

    /// The word in results.
    var word: String {
        switch self {
        case .bluetooth: "bluetooth_off"
        case .tag: "connection"
        }
    }

    /// A clause.
    var text: String {
        switch self {
        case .bluetooth(let state, let cause): cause?.text ?? "Bluetooth is \(state.text)"
        case .tag: "The tag is not connected"
        }
    }

    /// A hint for the user.
    var hint: String {
        switch self {
        case .bluetooth(_, let cause?): cause.hint
        case .bluetooth(let state, nil):
            (state.isTransient ? "Wait a moment" : "Switch Bluetooth on")
                + "; `jacquard2mqtt doctor` shows what is wrong"
        case .tag(let lastSeen): lastSeen
        }
    }
}

extension CommandObstacle {
    /// The data of the `accepted` result of a command that is queued.
    var data: CommandData { CommandData(["hint": hint, "text": text, "waiting_for": word]) }
}
