import JacquardProtocol
import Time

/// What the bridge knows of other bridges, and what it says so that they know of it.
struct Fleet: Sendable {
    var peers: PeerBridges
    /// Which facts of the tags this bridge publishes.
    var scopes = FactScopes()
    var reminders = StateReminders()
    /// nil unless the configuration enables it.
    var watch: FleetWatch?
    var contest = NameContest()

    /// - Parameters:
    ///   - instance: this bridge.
    ///   - isWatching: whether the configuration enables the watch.
    init(instance: String, isWatching: Bool) {
        peers = PeerBridges(instance: instance)
        watch = isWatching ? FleetWatch(instance: instance) : nil
    }

    /// Handles the end at a broker that the bridge has left: forgets the other bridges there.
    mutating func left(_ instance: String) {
        peers = PeerBridges(instance: instance)
        if watch != nil { watch = FleetWatch(instance: instance) }
        contest = NameContest()
    }

    /// When something becomes due; nil if nothing is.
    var deadline: Instant? {
        var deadline = peers.deadline
        deadline.lower(to: scopes.deadline)
        deadline.lower(to: reminders.deadline)
        deadline.lower(to: watch?.deadline)
        return deadline
    }
}
