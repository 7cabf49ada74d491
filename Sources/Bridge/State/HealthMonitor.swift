import Time

/// A condition that needs attention.
struct Problem: Hashable, Sendable {
    /// The kind of problem.
    enum Code: String, Sendable, CaseIterable {
        case notPermitted = "not_permitted"
        case noAdapter = "no_adapter"
        case adapterNotReady = "adapter_not_ready"
        case scanSilent = "scan_silent"
        case badFirmware = "bad_firmware"
        case tagUnusable = "tag_unusable"
        case inUse = "in_use"
        case subscriptionStuck = "subscription_stuck"
        case lostBond = "peer_removed_pairing_info"
        case duplicateSerial = "duplicate_serial"
        case eventsDropped = "events_dropped"
        case brokerRefuses = "broker_refuses"
        case brokerStalled = "broker_stalled"
        case stateNotSaved = "state_not_saved"
        case metricsNotWritten = "metrics_not_written"
    }

    /// Identifies a problem over time, independent of its text.
    struct Key: Hashable, Sendable {
        let code: Code
        /// The adapter, tag or serial; empty for the bridge itself.
        let subject: ExactText
    }

    let key: Key
    let text: String

    init(_ code: Code, about subject: String = "", _ text: String) {
        key = Key(code: code, subject: ExactText(subject))
        self.text = text
    }

    /// Whether the problem prevents all publications.
    var isFatal: Bool {
        switch key.code {
        case .notPermitted, .noAdapter, .brokerStalled: true
        default: false
        }
    }
}

/// Tracks the bridge's own health.
struct HealthMonitor: Sendable {
    private var problems: [Problem: Moment] = [:]
    private var measurement: HealthMeasurement?
    /// The reference for the comparison with later measurements.
    private var base: (measurement: HealthMeasurement, at: Instant)?
    private var losses = LossCounters()
    /// What the broker refuses.
    var rejectedTopics = RejectedTopics()
    private var isStalled = false

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

    /// Handles lost messages.
    mutating func lost(_ new: Outbox.Losses, at now: Instant) {
        losses.lost(new, at: now)
        for topic in new.closing { rejectedTopics.closed(by: topic, at: now) }
    }

    /// Returns the problems of the bridge itself.
    func problems(at now: Moment) -> [Problem] {
        var problems = rejectedTopics.problems(at: now.instant)
        if isStalled {
            problems.append(Problem(.brokerStalled, "Messages wait, and the broker acknowledges none"))
        }
        problems += (measurement?.unwritable ?? []).map { Problem($0) }
        return problems + losses.problems(at: now.instant)
    }

    /// Sets the current problems; known ones keep their start time.
    ///
    /// - Returns: whether anything has changed.
    mutating func found(_ current: [Problem], at now: Moment) -> Bool {
        guard Set(current) != Set(problems.keys) else { return false }
        let since = Dictionary(problems.map { ($0.key.key, $0.value) }) { first, _ in first }
        problems = Dictionary(current.map { ($0, since[$0.key] ?? now) }) { first, _ in first }
        return true
    }

    /// Returns the current document.
    func document(startedAt: Moment, at now: Moment) -> HealthDocument {
        HealthDocument(
            problems, measurement: measurement, uptime: now.instant - startedAt.instant)
    }
}

extension Problem {
    /// Creates the problem of a file that cannot be written.
    fileprivate init(_ file: UnwritableFile) {
        switch file.purpose {
        case .state:
            self.init(
                .stateNotSaved,
                "Known tags cannot be saved in \(file.path): \(file.reason). Changes since then are lost at a restart")
        case .metrics:
            self.init(.metricsNotWritten, "Metrics cannot be written to \(file.path): \(file.reason)")
        }
    }

    private static let notPermitted = Problem(
        .notPermitted,
        "The D-Bus policy of this host does not let the bridge use the Bluetooth service (org.bluez): no tag can be "
            + "reached. Run jacquard2mqtt doctor as the bridge's user; install the policy of the package, or add the "
            + "user to the group bluetooth, then restart the bridge")

    /// Returns the problems of the adapters: each one that is not ready or receives nothing, and the absence of a ready
    /// one. Before the first list there is no problem.
    static func problems(of adapters: [AdapterFacts]?) -> [Problem] {
        guard let adapters else { return [] }
        // Report the cause only, not its consequences.
        guard !adapters.contains(where: { $0.state == .unauthorized }) else { return [notPermitted] }
        var problems = adapters.compactMap { adapter -> Problem? in
            let name = "Bluetooth adapter \(adapter.id)"
            guard adapter.state == .poweredOn else {
                return Problem(.adapterNotReady, about: adapter.id, "\(name) is \(adapter.state.text)")
            }
            return adapter.isSilent
                ? Problem(.scanSilent, about: adapter.id, "\(name) scans and has heard nothing for long") : nil
        }
        if !adapters.contains(where: { $0.state == .poweredOn }) {
            problems.append(Problem(.noAdapter, "No Bluetooth adapter is ready: no tag can be reached"))
        }
        return problems
    }
}
