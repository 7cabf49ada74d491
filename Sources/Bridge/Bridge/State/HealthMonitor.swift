import JacquardProtocol
import Time

/// Tracks the bridge's own health.
struct HealthMonitor: Sendable {
    private var problems: [Problem: Timestamp] = [:]
    private var measurement: HealthMeasurement?
    /// The reference for the comparison with later measurements.
    private var base: (measurement: HealthMeasurement, at: Instant)?
    private var losses = LossCounters()
    /// The topics that the broker refuses.
    private var rejectedTopics = RejectedTopics()
    private var isStalled = false
    /// The damage of the state file at the start; nil if there was none.
    private let damage: DamagedState?

    init(damage: DamagedState? = nil) {
        self.damage = damage
    }

    /// The current problems.
    var current: [Problem] { Array(problems.keys) }
    /// The number of connections to the broker after the first one.
    var brokerReconnects: Int { measurement?.brokerReconnects ?? 0 }
    /// The files that cannot be written.
    var unwritable: [UnwritableFile] { measurement?.unwritable ?? [] }

    /// How long lost and refused messages count as a problem.
    static let memory = Duration.seconds(600)
    /// Maximum time for the broker to acknowledge a message: the minute between two measurements, minus the tolerance
    /// of timers.
    private static let patience = Duration.seconds(50)

    /// Handles a measurement.
    mutating func measured(_ new: HealthMeasurement, at now: Instant) {
        measurement = new
        guard let (old, then) = base else { return base = (new, now) }
        let isLong = now - then >= Self.patience
        if isLong { base = (new, now) }
        // The broker answers pings but acknowledges nothing, which MQTT itself does not detect.
        let isTakingNothing =
            old.queued > 0 && new.queued > 0 && old.acknowledged == new.acknowledged
            && old.isBrokerConnected && new.isBrokerConnected && old.brokerReconnects == new.brokerReconnects
        isStalled = isTakingNothing && (isLong || isStalled)
    }

    /// Handles a new connection, which may permit what the previous one refused.
    mutating func brokerConnected() {
        rejectedTopics.brokerConnected()
        isStalled = false
    }

    /// Handles a refused subscription.
    mutating func refused(subscription filter: String) {
        rejectedTopics.refused(subscription: filter)
    }

    /// Handles a subscription that was refused and then granted.
    mutating func granted(subscription filter: String) {
        rejectedTopics.granted(subscription: filter)
    }

    /// Handles a refused message.
    mutating func refused(messageTo topic: String, _ reason: String, _ size: MessageSize? = nil, at now: Instant) {
        if let size { return rejectedTopics.refused(oversized: topic, size) }
        rejectedTopics.refused(messageTo: topic, reason, at: now)
    }

    /// Handles lost messages.
    mutating func lost(_ new: Outbox.Losses, bytes: [String: Int] = [:], at now: Instant) {
        losses.lost(new, at: now)
        measurement?.dropped = new.totalDropped
        for topic in new.closing { rejectedTopics.closed(by: topic, bytes[topic], at: now) }
    }

    /// Returns the problems of the bridge itself.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - prefix: Home Assistant's discovery prefix, if announcements have the device form.
    ///   - isKnown: whether there is a tag with a serial.
    /// - Returns: the problems, in any order.
    func problems(at now: Timestamp, discovery prefix: String? = nil, isKnown: (String) -> Bool) -> [Problem] {
        var problems = rejectedTopics.problems(at: now.instant, measurement?.abandoned ?? [], discovery: prefix)
        if isStalled {
            problems.append(Problem(.brokerStalled, "Messages are queued, and the broker acknowledges none"))
        }
        problems += unwritable.map { Problem($0) }
        if let damage { problems += Problem.problems(of: damage, isKnown: isKnown) }
        return problems + losses.problems(at: now.instant)
    }

    /// Sets the current problems; known ones keep their start time.
    ///
    /// - Returns: whether anything has changed.
    mutating func found(_ current: [Problem], at now: Timestamp) -> Bool {
        guard Set(current) != Set(problems.keys) else { return false }
        let since = Dictionary(problems.map { ($0.key.key, $0.value) }) { first, _ in first }
        problems = Dictionary(current.map { ($0, since[$0.key] ?? now) }) { first, _ in first }
        return true
    }

    /// Returns the current document.
    func document(startedAt: Timestamp, at now: Timestamp) -> HealthDocument {
        HealthDocument(problems: problems, measurement: measurement, uptime: now.instant - startedAt.instant)
    }
}
