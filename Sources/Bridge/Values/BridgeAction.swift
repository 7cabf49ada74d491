public import JacquardProtocol

/// What ``BridgeState`` wants done; its driver does it, in this order, and decides nothing.
///
/// Where there is a token, the driver comes back with it exactly once: after ``perform(_:on:token:)`` by
/// `TagEvent.commandEnded`, after all others by ``BridgeState/requestEnded(token:_:at:)``.
public enum BridgeAction: Hashable, Sendable {
    /// Hand this to the ``Outbox``.
    case publish(Publication)
    /// Give this to the tag.
    case perform(TagCommand, on: TagID, token: UInt64)
    /// Connect a tag and keep it connected; may come again, also while it is.
    case connect(TagID)
    /// Disconnect a tag, or give up the attempt, until ``connect(_:)``.
    case disconnect(TagID)
    /// Tell advertisements until told to stop. May come again: with other options, or only to be answered.
    case scan(allowsDuplicates: Bool, token: UInt64)
    /// Tell advertisements no more. When a scan's time is over nobody waits for the answer, which may come nevertheless.
    case stopScan(token: UInt64)
    /// Find a tag, make a bond and connect it; answered by ``RequestAnswer/paired(address:name:)``.
    ///
    /// Tells how far it has got by ``BridgeState/pairing(serial:stage:at:)``, and ends after the timeout at the latest.
    case pair(serial: String, timeout: Duration, token: UInt64)
    /// Disconnect a tag, remove its bond and what the state file keeps of it. What is not there need not be removed.
    case forget(TagID, token: UInt64)
    /// Measure the process now; answered by ``RequestAnswer/measured(_:)``.
    case measure(token: UInt64)
    /// Subscribe to these topics too, if there is a connection: the next one begins with all of them.
    case subscribe([String])
    /// Log from this level on.
    case setLogLevel(LogThreshold)
    /// From now on this tag is known; its facts and its announcement have been published.
    case addTag(TagEntry)
    /// From now on this tag is not known. Its announcement is withdrawn at once, its facts a second later.
    case removeTag(TagID)
    /// The topics of this former name of the bridge are cleared: it need not be remembered any more.
    case forgetInstance(String)
    /// Keep this of a tag over a restart, instead of what was kept of it before.
    case remember(TagRecord)
}
