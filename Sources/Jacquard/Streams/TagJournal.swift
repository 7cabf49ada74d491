import EventLoop
import JacquardProtocol

/// What a tag has told since its link came up, from before there is a ``ConnectedTag`` to the end of the connection.
@LoopActor
final class TagJournal {
    private(set) var facts: TagFacts
    let notifications = NotificationStore()
    let gears = Broadcast<Component?>(keeping: 16, isReplaying: true)
    let names = Broadcast<String>(keeping: 16, isReplaying: true)

    /// Begins with what is known already.
    init(_ facts: TagFacts) {
        self.facts = facts
        if let battery = facts.battery { notifications.receive(.battery(battery)) }
        guard facts.isGearTold else { return }
        notifications.receive(.gear(facts.gear))
        gears.send(facts.gear)
    }

    /// Takes what is told.
    func take(_ event: TagEvent) {
        facts.take(event)
        if case .gear(let gear) = event { gears.send(gear) }
        if let notification = TagNotification(event) { notifications.receive(notification) }
    }

    /// The connection is over.
    func finish() {
        notifications.finish()
        gears.finish()
        names.finish()
    }
}
