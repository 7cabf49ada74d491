import EventLoop

/// The notifications of one connection: kept until somebody subscribes, so that nothing is missed.
///
/// Source: JacquardSDKiOS, `TransportV2Implementation`: the store closes with the first notification after the first
/// subscription, so that several subscriptions taken at once all get what was kept.
@LoopActor
final class NotificationStore {
    /// So many are kept; before them the oldest are lost.
    static let limit = 256

    private let live = Broadcast<TagNotification>(keeping: 1024)
    private var kept: [TagNotification] = []
    private var isOpen = true
    private var isSubscribed = false

    /// The tag has told something.
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

    /// A stream of what was kept, and of what comes.
    func subscribe() -> AsyncStream<TagNotification> {
        isSubscribed = true
        return live.stream(after: kept)
    }

    /// There will be no more.
    func finish() {
        live.finish()
    }
}
