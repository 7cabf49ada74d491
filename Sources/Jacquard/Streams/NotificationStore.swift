import EventLoop

/// The notifications of one connection. Stores them until the first subscription.
///
/// The store closes with the first notification after the first subscription, so that subscriptions made at the same
/// time
/// all get the stored notifications. Source: JacquardSDKiOS, `TransportV2Implementation`.
@LoopActor
final class NotificationStore {
    /// Upper bound on stored notifications. Beyond it, the oldest are dropped.
    static let limit = 256

    private let live = Broadcast<TagNotification>(keeping: 1024)
    private var kept: [TagNotification] = []
    private var isOpen = true
    private var isSubscribed = false

    /// Handles a notification from the tag.
    func receive(_ notification: TagNotification) {
        if isSubscribed {
            isOpen = false
            kept = []
        }
        live.send(notification)
        guard isOpen else { return }
        if kept.count == Self.limit { kept.removeFirst() }
        kept.append(notification)
    }

    /// Returns a stream of the stored and all further notifications.
    func subscribe() -> AsyncStream<TagNotification> {
        isSubscribed = true
        return live.stream(after: kept)
    }

    /// Finishes all streams.
    func finish() {
        live.finish()
    }
}
