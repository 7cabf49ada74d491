import Time

@testable import Bridge

extension BridgeState {
    /// Handles an event.
    ///
    /// - Returns: the actions.
    mutating func handle(_ event: BridgeEvent, at now: Timestamp) -> [BridgeAction] {
        Effects.collected { handle(event, at: now, &$0) }.actions
    }
}
