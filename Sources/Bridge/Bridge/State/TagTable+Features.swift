import JacquardProtocol
import Time

// The features of tags that give commands of the bridge's own.

extension TagTable {
    /// Sets and reads again what lost responses have left unknown.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - isBusy: whether the tag executes commands.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    mutating func unconfirmedDue(of position: Int, isBusy: Bool, at now: Timestamp, _ effects: inout Effects) {
        guard !self[position].rareFacts.isEmpty else { return }
        for errand in self[position].unconfirmedDue(isBusy: isBusy, at: now) {
            let token = newToken()
            self[position].unconfirmed.sent(errand, token)
            effects.add(.perform(errand.command, on: self[position].handle, token: token))
        }
    }

    /// Handles the end of a command of the bridge's own.
    mutating func errandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard !self[position].rareFacts.isEmpty else { return }
        if self[position].rareFacts[0].unconfirmed.contains(token) {
            return self[position].unconfirmedEnded(token, result, at: now, &effects)
        }
        self[position].requestEnded(token, result, at: now, &effects)
    }
}
