import Time

/// Something that a person should look at.
struct Problem: Hashable, Sendable {
    /// What kind of problem.
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

    /// What makes it the same problem later, whatever its text says by then.
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

    /// Whether nothing reaches anybody because of it.
    var isFatal: Bool {
        switch key.code {
        case .notPermitted, .noAdapter, .brokerStalled: true
        default: false
        }
    }
}

/// What is known about the bridge's own health.
struct HealthBook: Sendable {
    private var problems: [Problem: Moment] = [:]
    private var measurement: HealthMeasurement?
    /// The measurement with which a later one is compared.
    private var base: (measurement: HealthMeasurement, at: Instant)?
    private var losses = LossCounters()
    /// What the broker does not let the bridge do.
    var refusals = Refusals()
    private var isStalled = false

    /// How long lost and refused messages are a problem.
    static let memory = Duration.seconds(600)
    /// A broker may take so long to acknowledge something: the minute between two measurements, less what a timer may err.
    private static let patience = Duration.seconds(50)

    /// Takes a fresh measurement.
    mutating func measured(_ new: HealthMeasurement, at now: Instant) {
        measurement = new
        guard let (old, then) = base else { return base = (new, now) }
        let isLong = now - then >= Self.patience
        if isLong { base = (new, now) }
        // A connection that answers probes and takes nothing: MQTT itself does not notice.
        let isTakingNothing =
            old.queued > 0 && new.queued > 0 && old.acknowledged == new.acknowledged
            && old.isBrokerConnected && new.isBrokerConnected && old.brokerReconnects == new.brokerReconnects
        isStalled = isTakingNothing && (isLong || isStalled)
    }

    /// There is another connection, which may allow what the one before it did not.
    mutating func brokerConnected() {
        refusals.brokerConnected()
        isStalled = false
    }

    /// Messages were lost.
    mutating func lost(_ new: Outbox.Losses, at now: Instant) {
        losses.lost(new, at: now)
        for topic in new.closing { refusals.closed(by: topic, at: now) }
    }

    /// The problems that the bridge has with itself.
    func problems(at now: Moment) -> [Problem] {
        var problems = refusals.problems(at: now.instant)
        if isStalled {
            problems.append(Problem(.brokerStalled, "Messages wait, and the broker acknowledges none"))
        }
        problems += (measurement?.unwritable ?? []).map { Problem($0) }
        return problems + losses.problems(at: now.instant)
    }

    /// Takes the problems of now; those that were there before keep their time.
    ///
    /// - Returns: whether anything changed.
    mutating func found(_ current: [Problem], at now: Moment) -> Bool {
        guard Set(current) != Set(problems.keys) else { return false }
        let since = Dictionary(problems.map { ($0.key.key, $0.value) }) { first, _ in first }
        problems = Dictionary(current.map { ($0, since[$0.key] ?? now) }) { first, _ in first }
        return true
    }

    /// The document of now.
    func document(startedAt: Moment, at now: Moment) -> HealthDocument {
        HealthDocument(
            problems, measurement: measurement, uptime: now.instant - startedAt.instant)
    }
}

extension Problem {
    /// A file that cannot be written, and what that means.
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

    /// What is wrong with the adapters: each that is not ready or hears nothing, and that none is ready. Before the
    /// first word nothing is.
    static func problems(of adapters: [AdapterFacts]?) -> [Problem] {
        guard let adapters else { return [] }
        // The one cause, and not what follows from it.
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
