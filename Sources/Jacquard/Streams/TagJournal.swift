import EventLoop
import JacquardProtocol

/// The values and notifications of one connection. It starts with the link, before there is a ``ConnectedTag``.
@LoopActor
final class TagJournal {
    private(set) var facts: TagFacts
    let notifications = NotificationStore()
    let gears = Broadcast<Component?>(keeping: 16, isReplaying: true)
    let names = Broadcast<String>(keeping: 16, isReplaying: true)

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
        if let notification = TagNotification(event) { notifications.receive(notification) }
    }

    /// Finishes all streams at the end of the connection.
    func finish() {
        notifications.finish()
        gears.finish()
        names.finish()
    }
}
