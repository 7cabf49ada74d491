import Time

/// Decides what each attempt looks like and when the next one comes. Knows no socket, clock or library.
struct SessionPlanner {
    /// What an attempt asks of the broker.
    struct Plan: Equatable {
        let version: MQTTVersion
        /// Whether the broker shall forget what it holds for this client.
        let isCleanStart: Bool
    }

    /// What follows from the end of a connection or attempt.
    struct Consequence: Equatable {
        let retryIn: Duration
        /// The version of the next attempt, when it is another than before.
        let newVersion: MQTTVersion?
        /// Whether an operator has not been told of this condition yet.
        let isNews: Bool
        /// How many attempts have failed in a row, this one included; 0 after a connection.
        let failures: Int
        /// Whether another client seems to use this client's identifier, so that each throws the other out.
        let isContested: Bool
    }

    private let sessionExpiry: Duration
    private let longestRetry: Duration
    private var choice: ProtocolChoice
    private var delay: ReconnectDelay
    private var connectedSince: Instant?
    private var lastConnected: Instant?
    private var condition: MQTTError.Code?
    private var failures = 0
    private var shortConnections = 0

    init(_ configuration: MQTTConfiguration) {
        sessionExpiry = configuration.sessionExpiry
        longestRetry = configuration.longestRetry
        choice = ProtocolChoice(configuration.version)
        delay = ReconnectDelay(shortest: configuration.shortestRetry, longest: configuration.longestRetry)
    }

    /// The next attempt.
    func plan(at now: Instant) -> Plan {
        Plan(version: choice.version, isCleanStart: isCleanStart(at: now))
    }

    /// The broker has accepted.
    mutating func accepted(at now: Instant) {
        choice.accepted()
        connectedSince = now
        condition = nil
        failures = 0
    }

    /// A connection or an attempt has ended.
    ///
    /// The pauses go on growing after a connection that has not lasted for the longest of them: a broker that throws its
    /// clients out, or a second client with the same identifier, would be asked twice a second for ever.
    ///
    /// `random` is from 0 up to 1.
    mutating func ended(with error: MQTTError, at now: Instant, random: Double) -> Consequence {
        defer { condition = error.code }
        let hasSwitched = noteEnd(error, now)
        let pause = error.code == .sessionTakenOver ? delay.longestPause() : delay.next(random: random)
        return Consequence(
            retryIn: pause, newVersion: hasSwitched ? choice.version : nil, isNews: condition != error.code,
            failures: failures,
            isContested: error.code == .sessionTakenOver || (error.code == .connectionLost && shortConnections >= 3))
    }

    /// - Returns: whether the version has changed.
    private mutating func noteEnd(_ error: MQTTError, _ now: Instant) -> Bool {
        guard let since = connectedSince else {
            failures += 1
            return choice.failed(error.code)
        }
        let hasLasted = now - since >= longestRetry
        if hasLasted { delay.reset() }
        // MQTT 3.1.1 has no word for a session that was taken over, and mosquitto 2.0 just closes with MQTT 5 too.
        shortConnections = hasLasted || error.code != .connectionLost ? 0 : shortConnections + 1
        connectedSince = nil
        lastConnected = now
        return false
    }

    /// The first connection of a process is a clean start: commands to an earlier process are not carried out.
    ///
    /// After that, MQTT 5 leaves it to the broker to forget the session when `sessionExpiry` has passed, so commands sent
    /// during a short absence arrive and old ones do not. MQTT 3.1.1 has no such limit: there the client keeps it, and
    /// asks for a clean start when it has been away for longer. (Its first connection is then clean to its end, so
    /// commands survive from the second absence on.)
    private func isCleanStart(at now: Instant) -> Bool {
        guard let lastConnected else { return true }
        return choice.version == .v311 && now - lastConnected > sessionExpiry
    }
}
