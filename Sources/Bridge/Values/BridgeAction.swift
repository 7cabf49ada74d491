public import JacquardProtocol

/// What ``BridgeState`` wants done; its driver does it and decides nothing.
public enum BridgeAction: Hashable, Sendable {
    /// Hand this to the ``Outbox``.
    case publish(Publication)
    /// Give this to the tag, and come back with `TagEvent.commandEnded` and this token, exactly once.
    case perform(TagCommand, on: TagID, token: UInt64)
}
