import Time

/// Decides the parameters and the time of each attempt. Uses no socket, clock or library.
struct SessionPlanner {
    /// The parameters of an attempt.
    struct Plan: Equatable {
        let version: MQTTVersion
        /// Whether the broker discards the client's session.
        let isCleanStart: Bool
        /// Whether the connection ends as soon as the broker has accepted it: it only discards an old session.
        var isDiscardOnly = false
        /// Which of the broker's addresses, from 0.
        var node = 0
        /// Whether an earlier connection has ended with an unanswered SUBSCRIBE; see ``SubscriptionQueue``.
        var subscribesCarefully = false

        /// The part of the plan that the link needs.
        var link: BrokerLinkPlan {
            BrokerLinkPlan(version: version, isCleanStart: isCleanStart, isDiscardOnly: isDiscardOnly)
        }
    }

    /// The consequence of the end of a connection or attempt.
    struct Consequence: Equatable {
        let retryIn: Duration
        /// The version of the next attempt, if it differs from the last one.
        let newVersion: MQTTVersion?
        /// Whether this condition has not been reported to the operator yet.
        let isNew: Bool
        /// How many attempts have failed in a row, this one included; 0 after a connection.
        let failures: Int
        /// Whether another client seems to use this client's identifier, so that each disconnects the other.
        let isContested: Bool
        /// Whether another node of the broker is tried at once.
        let isFailover: Bool
    }

    private let sessionExpiry: Duration
    private var choice: ProtocolChoice
    private var delay: ReconnectDelay
    private var nodes: NodeRound
    private let hasService: Bool
    /// Whether the nodes have to be looked up before the next attempt.
    private(set) var needsLookup: Bool
    private var connectedSince: Instant?
    private var lastConnected: Instant?
    /// When the outage began; nil while there is a connection, and before the first attempt.
    private var outageSince: Instant?
    /// Whether the last attempt came without a pause, to try the other version.
    private var wasImmediate = false
    /// The version and node at which a connection has discarded the session, and no new session has been started.
    private var discardedPlace: Place?
    private var condition: MQTTError.Code?
    private var failures = 0
    /// How many connections in a row were short, with no failed attempt between them: another client that takes the session
    /// over leaves a broker that accepts the next connection, and a broker that ends does not.
    private var shortConnections = 0
    /// Whether another client is known to use this client's identifier: each lost connection is taken as its work, because not
    /// every broker reports the reason.
    var isIdentifierShared = false
    /// How many connections another client has ended, since one that has lasted.
    private var takeovers = 0
    /// When the use of the identifier by another client was reported.
    private var reportedContest: Instant?
    /// Whether the last connection was ended by another client, as it seems.
    private(set) var isContested = false
    /// How many attempts the broker took and did not answer. A broker that hangs for a while may open their sessions
    /// later, each of which takes over the session of the client's own connection.
    private var unanswered = 0

    /// A version at a node.
    private struct Place: Equatable {
        let version: MQTTVersion
        let node: Int
    }

    private var place: Place { Place(version: choice.version, node: nodes.current) }

    /// A connection that lasts this long resets the pauses.
    static let lasting = Duration.seconds(60)
    /// The pause between two reports of another client with this client's identifier.
    static let contestReport = Duration.seconds(60)
    /// A connection that lasts this long begins a new round of the nodes: after it, the next node is tried at once.
    static let useful = Duration.seconds(10)
    /// The largest number of unanswered attempts that are counted.
    static let maxUnanswered = 16
    /// The period at the start of an outage in which ``earlyPause`` limits the pauses.
    static let earlyOutage = Duration.seconds(120)
    /// The longest pause early in an outage.
    static let earlyPause = Duration.seconds(5)

    init(_ configuration: MQTTConfiguration) {
        sessionExpiry = configuration.sessionExpiry
        choice = ProtocolChoice(configuration.version)
        delay = ReconnectDelay(shortest: configuration.shortestRetry, longest: configuration.longestRetry)
        hasService = configuration.service != nil
        needsLookup = hasService
        nodes = NodeRound(
            count: configuration.nodes.count, order: configuration.order, prefersFirst: configuration.prefersFirst)
    }

    /// The next attempt.
    ///
    /// The session of an earlier process, or one that has expired, is discarded: its commands are too old. A connection of
    /// its own discards, and the one that lasts never asks for it: mosquitto does not save a session that began with a
    /// clean start, with 3.1.1 a clean session ends with its connection, and some brokers (RabbitMQ) refuse a client that
    /// asks for a clean session first and for a lasting one later.
    func plan(at now: Instant) -> Plan {
        let (version, node) = (choice.version, nodes.current)
        guard sessionExpiry > .zero else {
            return Plan(version: version, isCleanStart: version == .v311 || lastConnected == nil, node: node)
        }
        let isCurrent = discardedPlace == place || isKept(version, at: now)
        return Plan(version: version, isCleanStart: !isCurrent, isDiscardOnly: !isCurrent, node: node)
    }

    /// Whether the session of the last connection is the one to go on with. With MQTT 5, the broker discards it when it
    /// expires.
    private func isKept(_ version: MQTTVersion, at now: Instant) -> Bool {
        lastConnected.map { version == .v5 || now - $0 <= sessionExpiry } ?? false
    }

    /// The nodes were looked up. They are in the order in which they are tried, and a new round begins.
    mutating func found(nodes count: Int) {
        needsLookup = false
        nodes = NodeRound(count: count, order: .listed, prefersFirst: false)
        discardedPlace = nil
    }

    /// Handles the end of a connection that has only discarded the session.
    mutating func discarded() {
        discardedPlace = place
    }

    /// Handles an accepted connection.
    mutating func accepted(at now: Instant) {
        connectedSince = now
        choice.accepted()
        outageSince = nil
        discardedPlace = nil
        condition = nil
        failures = 0
    }

    /// Handles the end of a connection or of an attempt.
    ///
    /// The pauses go on growing after a connection of less than a minute: otherwise a broker that closes its clients'
    /// connections, or a second client with the same identifier, would cause two connections a second without end. The
    /// limit of the first two minutes of an outage holds for them too. Another client that has taken the session over
    /// is no outage: it keeps the broker for the longest pause, then for twice and four times that. It is no other client
    /// as long as earlier attempts of this one may have done it.
    ///
    /// Another version is tried at once at the same node, but only once for each pause or node. Then the next node is
    /// tried at once, until each of them has failed.
    ///
    /// Silence is a reason to try the other version only if no other address or node is left to be tried first.
    ///
    /// `random` is from 0 up to 1.
    mutating func ended(
        with error: MQTTError, at now: Instant, random: Double, hasUntriedAddress: Bool = false
    ) -> Consequence {
        defer { condition = error.code }
        let isTakenOver = isTakenOver(error)
        let hasSwitched = noteEnd(error, now, hasUntriedAddress)
        let next = next(after: error, hasSwitched, isTakenOver: isTakenOver)
        // The nodes may be other ones by then.
        if next == nil { needsLookup = hasService }
        let pause = next == nil ? pause(isTakenOver: isTakenOver, at: now, random) : .zero
        if outageSince == nil { outageSince = now }
        isContested = isTakenOver || (error.code == .connectionLost && shortConnections >= 3)
        return Consequence(
            retryIn: pause, newVersion: hasSwitched ? choice.version : nil,
            isNew: isContested ? isContestNew(at: now) : condition != error.code, failures: failures,
            isContested: isContested, isFailover: next == .node)
    }

    private func isTakenOver(_ error: MQTTError) -> Bool {
        guard connectedSince != nil, unanswered == 0 else { return false }
        return error.code == .sessionTakenOver || (isIdentifierShared && error.code == .connectionLost)
    }

    private mutating func isContestNew(at now: Instant) -> Bool {
        if let reportedContest, now - reportedContest < Self.contestReport { return false }
        reportedContest = now
        return true
    }

    /// - Returns: whether the version has changed.
    private mutating func noteEnd(_ error: MQTTError, _ now: Instant, _ hasUntriedAddress: Bool) -> Bool {
        guard let since = connectedSince else {
            failures += 1
            shortConnections = 0
            if error.code == .timeout { unanswered = min(unanswered + 1, Self.maxUnanswered) }
            if error.code == .timeout, choice.version == .v5, hasUntriedAddress || !nodes.isLast { return false }
            return noteFailure(error)
        }
        choice.connectionEnded()
        let hasLasted = now - since >= Self.lasting
        if hasLasted {
            delay.reset()
            takeovers = 0
        }
        unanswered = hasLasted ? 0 : max(0, unanswered - (error.code == .sessionTakenOver ? 1 : 0))
        if now - since >= Self.useful { nodes.restart() }
        // MQTT 3.1.1 cannot report a session that was taken over, and mosquitto 2.0 closes the connection without a
        // reason with MQTT 5, too.
        if hasLasted || error.code != .connectionLost {
            shortConnections = 0
        } else if !nodes.hasSeveral || now - since < Self.useful {
            // Of several nodes, one can end after the other, and the next one accepts a connection at once.
            shortConnections += 1
        }
        connectedSince = nil
        lastConnected = now
        return false
    }

    /// A version that has just been accepted is not the cause: the connection that discards had succeeded.
    private mutating func noteFailure(_ error: MQTTError) -> Bool {
        guard discardedPlace == place, ![.unreachable, .nameNotResolved].contains(error.code) else {
            return choice.failed(error.code)
        }
        // The next attempt discards again: it shows whether the broker still accepts the version.
        discardedPlace = nil
        return false
    }

    /// An attempt without a pause.
    private enum Immediate {
        /// With the other version, at the same node.
        case version
        /// At the next node.
        case node
    }

    /// - Returns: what the next attempt tries at once; nil if it comes after a pause.
    private mutating func next(after error: MQTTError, _ hasSwitched: Bool, isTakenOver: Bool) -> Immediate? {
        let triesVersion = hasSwitched && !wasImmediate && error.code != .sessionTakenOver
        wasImmediate = triesVersion
        if triesVersion { return .version }
        // The client that took the session over keeps the broker.
        guard error.code != .sessionTakenOver, !isTakenOver else { return nil }
        return nodes.advance(isNodeFailure: error.isNodeFailure) ? .node : nil
    }

    private mutating func pause(isTakenOver: Bool, at now: Instant, _ random: Double) -> Duration {
        if isTakenOver {
            takeovers = min(takeovers + 1, 3)
            return delay.longestPause() * (1 << (takeovers - 1))
        }
        let isEarly = now - (outageSince ?? now) < Self.earlyOutage
        return delay.next(random: random, atMost: isEarly ? Self.earlyPause : nil)
    }
}
