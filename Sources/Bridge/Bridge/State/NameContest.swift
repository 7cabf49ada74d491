import Time

/// Decides whether another client uses this bridge's client identifier or instance name.
///
/// Lost connections alone don't show it: a bad network looks alike. These do: the broker says that another client has taken the
/// session over (MQTT 5), or `G/info` has the `boot` of another run after this run has published its own. One of these can
/// have another reason, such as a broker that has restored an old backup. Two of them within four minutes are the evidence.
///
/// The problem ends four minutes after the last one. While another bridge is suspected, each bridge publishes its document
/// again each minute: so two bridges with different client identifiers and one instance name, which share the connection's
/// topics in peace, stay evident.
struct NameContest: Sendable {
    /// Whether `G/info` of this run was received.
    private var isPublished = false
    /// The times of the last two pieces of evidence.
    private var evidence: [Instant] = []
    private var published: Instant?
    /// Whether the other client is a bridge with the same instance name.
    private(set) var isBridge = false

    /// How long evidence counts. Both sides wait for up to two minutes after a connection that the other has ended.
    static let memory = Duration.seconds(240)
    /// The pause between two repetitions of `G/info` in response to the other bridge.
    static let pause = Duration.seconds(10)

    /// Whether another client uses the name.
    func isOngoing(at now: Instant) -> Bool {
        evidence.count == 2 && isRecent(evidence[1], now) && isRecent(evidence[0], evidence[1])
    }

    /// Whether there is evidence.
    private func isSuspected(at now: Instant) -> Bool { evidence.last.map { isRecent($0, now) } ?? false }

    private func isRecent(_ time: Instant, _ now: Instant) -> Bool { now - time < Self.memory }

    /// Handles the `boot` of a received `G/info`.
    ///
    /// - Returns: whether to publish the document of this run again.
    mutating func received(isOwn: Bool, at now: Instant) -> Bool {
        guard !isOwn else {
            isPublished = true
            return false
        }
        // That of an earlier run, until this one has published its own.
        guard isPublished else { return false }
        isBridge = true
        add(now)
        return isRepetitionDue(after: Self.pause, at: now)
    }

    /// The broker has ended the connection because another client has connected with the identifier.
    mutating func takenOver(at now: Instant) {
        add(now)
    }

    /// Handles elapsed time, about once a minute.
    ///
    /// - Returns: whether to publish the document of this run again.
    mutating func minutePassed(at now: Instant) -> Bool {
        guard isBridge, isSuspected(at: now) else {
            if !isSuspected(at: now) { isBridge = false }
            return false
        }
        return isRepetitionDue(after: .zero, at: now)
    }

    private mutating func isRepetitionDue(after pause: Duration, at now: Instant) -> Bool {
        if let published, now - published < pause { return false }
        published = now
        return true
    }

    private mutating func add(_ now: Instant) {
        evidence = evidence.suffix(1) + [now]
    }
}
