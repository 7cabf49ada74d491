import Bluetooth
import EventLoop
import JacquardProtocol
import Tags

/// Converts the events of one tag to the SDK's form: a stream of states, and one ``ConnectedTag`` per connection.
@LoopActor
final class ConnectionFollower {
    let states = Broadcast<TagConnectionState>(keeping: 64, isReplaying: true)
    /// The tag, while it is connected.
    private(set) var tag: ConnectedTag?
    /// Whether the last state was sent.
    private(set) var isEnded = false

    private var journal: TagJournal
    private let makeTag: (TagJournal) -> ConnectedTag?

    /// Starts with a tag in any state.
    ///
    /// - Parameters:
    ///   - facts: the values known so far.
    ///   - makeTag: creates a connected tag; nil without the tag's device information.
    init(_ facts: TagFacts, makeTag: @escaping (TagJournal) -> ConnectedTag?) {
        journal = TagJournal(facts)
        self.makeTag = makeTag
        if let connection = facts.connection, connection.state != .disconnected { changed(connection) }
    }

    /// Handles an event of the tag.
    func receive(_ event: TagEvent) {
        guard case .connection(let connection) = event else { return journal.receive(event) }
        if connection.state == .connecting(step: 0) { journal = TagJournal(TagFacts()) }
        changed(connection)
    }

    private func changed(_ connection: TagConnection) {
        if connection.state == .connected {
            tag = makeTag(journal)
        } else if tag != nil {
            // Each connection has its own instance, whose streams finish with it.
            tag = nil
            journal.finish()
        }
        if let state = TagConnectionState(connection, tag) { states.send(state) }
        guard connection.state == .disconnected else { return }
        isEnded = true
        states.finish()
    }
}

/// The values and notifications of one connection. It starts with the link, before there is a ``ConnectedTag``.
@LoopActor
final class TagJournal {
    private(set) var facts: TagFacts
    let notifications = NotificationStore()
    let gears = Broadcast<Component?>(keeping: 16, isReplaying: true)
    let names = Broadcast<String>(keeping: 16, isReplaying: true)
    let motion = MotionObservers()

    /// Starts with the values known so far.
    init(_ facts: TagFacts) {
        self.facts = facts
        if let battery = facts.battery { notifications.receive(.battery(battery)) }
        guard facts.isGearKnown else { return }
        notifications.receive(.gear(facts.gear))
        gears.send(facts.gear)
    }

    /// Handles an event of the tag.
    func receive(_ event: TagEvent) {
        facts.update(with: event)
        if case .gear(let gear) = event { gears.send(gear) }
        if case .motion(let report) = event { motion.send(report) }
        if let notification = TagNotification(event) { notifications.receive(notification) }
    }

    /// Finishes all streams at the end of the connection.
    func finish() {
        notifications.finish()
        gears.finish()
        names.finish()
        motion.finish()
    }
}

/// The readers of the motion data of one connection. They are called at once: a stream would lose parts of a session.
@LoopActor
final class MotionObservers {
    typealias Handler = @LoopActor (MotionReport?) -> Void

    private var handlers: [Int: Handler] = [:]
    private var last = 0
    private var isFinished = false

    /// Adds a handler. It is called with nil at the end of the connection.
    func add(_ handler: @escaping Handler) -> Int {
        last += 1
        if isFinished { handler(nil) } else { handlers[last] = handler }
        return last
    }

    func remove(_ number: Int) { handlers[number] = nil }

    /// Calls all handlers, which may remove themselves.
    func send(_ report: MotionReport) {
        for handler in handlers.values { handler(report) }
    }

    /// Calls all handlers with nil.
    func finish() {
        isFinished = true
        let ending = handlers
        handlers = [:]
        for handler in ending.values { handler(nil) }
    }
}

/// The notifications of one connection. Stores them until the first subscription.
///
/// The store closes with the first notification after the first subscription, so that subscriptions made at the same
/// time all get the stored notifications. Source: JacquardSDKiOS, `TransportV2Implementation`.
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
