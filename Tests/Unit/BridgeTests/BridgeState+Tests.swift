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

extension Effects {
    /// Returns what a function adds.
    static func collected(_ add: (inout Effects) -> Void) -> Effects {
        var effects = Effects()
        add(&effects)
        return effects
    }

    /// The messages for the broker, in order.
    var publications: [Publication] {
        actions.compactMap { if case .publish(let publication) = $0 { publication } else { nil } }
    }
}
