public import EventLoop
public import Logging
public import MQTTTypes
import Text
public import Time

/// A client that connects to a broker and reconnects automatically.
///
/// It runs on the event loop and calls its handlers there. It does not resend messages: each connection starts without
/// subscriptions and queued messages. On ``MQTTEvent/connected(_:)``, subscribe and publish again.
@LoopActor
public final class MQTTClient {
    /// The event handler. Called on the loop, never during ``publish(_:ticket:)``. It may call any method.
    public var onEvent: (@LoopActor (MQTTEvent) -> Void)?
    /// Called with the time of the write after which the socket has accepted everything that was published. Set it before
    /// ``start()``; it must not publish.
    public var onWritten: (@LoopActor (Instant) -> Void)?

    /// Its nodes are those of the latest lookup, if they are looked up.
    private var configuration: MQTTConfiguration
    private let unboundLog: Logger
    /// The logger with the address of the current node.
    private var log: Logger
    private var planner: SessionPlanner
    private(set) var connection: MQTTConnection?
    private var service: Task<Void, Never>?
    private var isStopping = false
    /// When the last attempt of a client that stops without a connection must be over; nil if it makes none.
    private var stopDeadline: Instant?
    /// When a connection that is made while the client stops must have ended.
    private var stopTime = Instant.now
    private var addresses = AddressRound()
    /// The pause between two attempts of a client that stops.
    private static let stopPause = Duration.milliseconds(200)
    /// Whether a lookup has found the nodes.
    private var hasNodes = false
    /// Whether a connection has ended with an unanswered SUBSCRIBE; see `SubscriptionQueue`.
    private var subscribesCarefully: Bool
    private lazy var pause = Pause()
    private lazy var lookup = PendingLookup()
    private var subscriptionRetries = SubscriptionRetries()
    private(set) lazy var subscriptionTimer = LoopTimer { [unowned self] in repeatSubscriptions() }

    /// Upper bound on unacknowledged messages, see ``MQTTError/Code/backlogFull``.
    public static let backlogLimit = MQTTConnection.backlogLimit

    /// Creates a client that is not started.
    ///
    /// - Parameters:
    ///   - configuration: the broker, the credentials and the timeouts.
    ///   - log: the logger. It gets one record for each change of state.
    public init(configuration: MQTTConfiguration, log: Logger) {
        self.configuration = configuration
        unboundLog = log
        self.log = log
        planner = SessionPlanner(configuration)
        subscribesCarefully = configuration.subscribesCarefully
        nameNode()
    }

    /// When the broker last sent something; nil before the first connection, and with a broker that disables keep-alive.
    ///
    /// A connected broker that has been silent for longer than the keep-alive interval hangs, or the network drops everything.
    public var lastHeard: Instant? { connection?.keepAlive?.lastRead ?? lastHeardBefore }
    /// The same of the connections before the current one.
    private var lastHeardBefore: Instant?

    /// Whether messages can be published.
    public var isConnected: Bool { connection?.phase == .active }

    /// The number of unacknowledged QoS 1 messages that the broker accepts on this connection.
    public var receiveMaximum: Int { connection?.receiveMaximum ?? Int(UInt16.max) }

    /// The addresses at which the last attempt to connect has failed, in order. After it has succeeded, they came before the
    /// one that has answered.
    public var failedAddresses: [MQTTAddressFailure] { addresses.failures }

    /// The address of the last attempt to connect; nil before the lookup of its name has ended.
    public var lastAddress: String? { addresses.current }
    /// The limits that the broker has announced on this connection.
    public var limits: BrokerLimits { connection?.limits ?? BrokerLimits() }

    /// Whether acknowledgements of received messages wait while the broker owes one of ours; see
    /// `MQTTConnection.withholdsAcknowledgements`. Lasts until the end of the connection.
    public var withholdsAcknowledgements: Bool {
        get { connection?.withholdsAcknowledgements ?? false }
        set {
            guard let connection, connection.withholdsAcknowledgements != newValue else { return }
            connection.withholdsAcknowledgements = newValue
        }
    }

    /// Whether another client is known to use this client's identifier. The client then takes a lost connection as its work, as if
    /// the broker had said so (``MQTTError/Code/sessionTakenOver``), and waits longer.
    public var isIdentifierShared: Bool {
        get { planner.isIdentifierShared }
        set { planner.isIdentifierShared = newValue }
    }

    /// Whether another client with this client's identifier seems to have ended the last connection.
    public var isContested: Bool { planner.isContested }

    /// Connects, and reconnects until ``stop(within:reconnectingFor:)``. Does nothing if the client is started already.
    public func start() {
        guard service == nil else { return }
        // The client is the parent: `stop(within:)` waits for the task. It keeps the client alive until then.
        service = EventLoop.shared.begin { await self.serve() }
    }

    /// Sends queued messages, waits for missing acknowledgements, and disconnects.
    ///
    /// The event handler may publish further messages meanwhile, in response to ``MQTTEvent/acknowledged(ticket:reason:)``:
    /// they are sent and waited for, too. The broker does not publish the will, unless the time is over first.
    ///
    /// - Parameters:
    ///   - time: the time limit for a connection.
    ///   - patience: how long a client without a connection tries to make one, which is reported as
    ///     ``MQTTEvent/connected(_:)`` and then ends as described, within what is left of both times together. Zero: not at all.
    public func stop(within time: Duration = .seconds(2), reconnectingFor patience: Duration = .zero) async {
        let now = Instant.now
        stopDeadline = patience > .zero ? now + patience : nil
        (isStopping, stopTime) = (true, now + patience + time)
        if isConnected || stopDeadline == nil {
            connection?.finish(within: time)
        } else {
            connection?.hurry(until: now + patience)
        }
        pause.end()
        lookup.cancel()
        await service?.value
        service = nil
        (isStopping, stopDeadline) = (false, nil)
    }

    /// Ends the connection without a DISCONNECT, as a crash does: the broker publishes the will.
    public func abandon() async {
        isStopping = true
        connection?.close(.stopped)
        await stop(within: .zero)
    }

    /// Queues a message. All messages of one turn of the loop are written at its end.
    ///
    /// Messages of one quality of service keep their order. QoS 0 may overtake QoS 1, which waits while as many
    /// messages are on their way as the broker takes at once.
    ///
    /// - Parameters:
    ///   - message: what to send.
    ///   - ticket: comes back with ``MQTTEvent/acknowledged(ticket:reason:)`` or ``MQTTEvent/rejected(ticket:_:)``.
    /// - Throws: ``MQTTError/Code/notConnected``, ``MQTTError/Code/backlogFull``, or an error of the message. The
    ///   client remains usable.
    public func publish(_ message: MQTTMessage, ticket: UInt64) throws(MQTTError) {
        guard let connection else { throw .notConnected }
        try connection.publish(message, ticket: ticket)
    }

    /// Subscribes on the current connection; does nothing without one. A refusal is reported as
    /// ``MQTTEvent/subscriptionRefused(_:_:)``, and a later success as ``MQTTEvent/subscriptionGranted(_:)``.
    ///
    /// A packet has at most eight filters, and the next one follows the broker's answer. Messages that are published later
    /// are sent later.
    ///
    /// With MQTT 5 messages keep the retain flag of their sender ("retain as published").
    public func subscribe(to filters: [(MQTTTopicFilter, MQTTQoS)]) {
        for qos in [MQTTQoS.atMostOnce, .atLeastOnce] {
            let group = filters.filter { $0.1 == qos }.map(\.0)
            guard !group.isEmpty, isConnected else { continue }
            do throws(MQTTError) {
                try connection?.subscribe(to: group, qos)
            } catch {
                log.warning("cannot subscribe", [(.error, error.description)])
            }
        }
    }

    /// Ends a subscription on the current connection; does nothing without one. Messages that the broker has sent before may follow.
    public func unsubscribe(from filter: MQTTTopicFilter) {
        subscriptionRetries.unsubscribed(filter)
        planSubscriptions()
        guard isConnected else { return }
        do throws(MQTTError) {
            try connection?.unsubscribe(from: filter)
        } catch {
            log.warning("cannot unsubscribe", [(.error, error.description)])
        }
    }

    // MARK: Service

    private func serve() async {
        while isTrying {
            let error = await attempt()
            lastHeardBefore = lastHeard
            if connection?.hasEndedSubscribing == true { subscribesCarefully = true }
            connection = nil
            subscriptionRetries = SubscriptionRetries()
            subscriptionTimer.disarm()
            let consequence = planner.ended(
                with: error, at: .now, random: configuration.random(), hasUntriedAddress: !addresses.waiting.isEmpty)
            // A connection that has ended as it should is the last one.
            if isStopping, error.code == .stopped { break }
            guard isTrying else { break }
            report(error, consequence)
            nameNode()
            if consequence.isFailover {
                log.change(consequence.isNew ? .notice : .debug, "trying the next node of the broker")
            }
            onEvent?(.disconnected(error, retryIn: consequence.retryIn))
            if !isStopping {
                await pause.wait(consequence.retryIn)
            } else if consequence.retryIn > .zero {
                await pause.wait(Self.stopPause)
            }
        }
        onEvent?(.disconnected(.stopped, retryIn: nil))
    }

    /// Whether attempts go on: until the client stops, or for a while longer.
    private var isTrying: Bool { !isStopping || (stopDeadline.map { .now < $0 } ?? false) }

    /// One connection from beginning to end.
    ///
    /// - Returns: why it ended, or why there was none.
    private func attempt() async -> MQTTError {
        do throws(MQTTError) {
            try await findNodes()
            let hasDiscarded = try await discardOldSession()
            var plan = planner.plan(at: .now)
            plan.subscribesCarefully = subscribesCarefully
            var (connection, session) = try await connect(plan, afterDiscarding: hasDiscarded)
            planner.accepted(at: .now)
            if configuration.nodes.count > 1 || configuration.service != nil {
                session.node = configuration.at(plan.node).address
            }
            log.change(
                planner.isContested ? .debug : .info, "connected to the broker", [(.version, session.version.rawValue)])
            onEvent?(.connected(session))
            if isStopping { connection.finish(within: stopTime - .now) }
            return await end(of: connection)
        } catch {
            return error
        }
    }

    /// Looks up the nodes of a service. If that fails, those of the last lookup are used.
    private func findNodes() async throws(MQTTError) {
        guard let name = configuration.service, planner.needsLookup, !isStopping || !hasNodes else { return }
        switch await lookup.nodes(of: name, configuration) {
        case .success(let nodes):
            configuration.nodes = nodes
            hasNodes = true
        case .failure(let error):
            guard hasNodes, isTrying else { throw error }
            log.debug("the lookup failed; the nodes of the last one are used", [(.error, error.description)])
        }
        planner.found(nodes: configuration.nodes.count)
        nameNode()
    }

    /// Makes the broker discard an old session by a connection that ends at once, as planned.
    ///
    /// - Returns: whether there was such a connection.
    private func discardOldSession() async throws(MQTTError) -> Bool {
        let plan = planner.plan(at: .now)
        guard plan.isDiscardOnly else { return false }
        let (connection, _) = try await connect(plan)
        let error = await end(of: connection)
        guard error.code == .stopped, isTrying else { throw error }
        planner.discarded()
        return true
    }

    private func connect(
        _ plan: SessionPlanner.Plan, afterDiscarding hasDiscarded: Bool
    ) async throws(MQTTError) -> (MQTTConnection, MQTTSession) {
        do throws(MQTTError) {
            return try await connect(plan)
        } catch {
            throw hasDiscarded ? error.afterDiscarding(plan.version) : error
        }
    }

    /// Tries the broker's addresses, one after the other.
    private func connect(_ plan: SessionPlanner.Plan) async throws(MQTTError) -> (MQTTConnection, MQTTSession) {
        let usual = Instant.now + configuration.connectDeadline
        let deadline = stopDeadline.map { min(usual, $0) } ?? usual
        var choice = addresses.begin()
        while true {
            let connection = try MQTTConnection(configuration.at(plan.node), plan)
            self.connection = connection
            do throws(MQTTError) {
                let session = try await connection.open(
                    through: choice, before: addresses.waiting.count, until: deadline)
                addresses.found(connection.addresses)
                addresses.accepted()
                return (connection, session)
            } catch {
                addresses.found(connection.addresses)
                guard let next = addresses.failed(error, isOverdue: connection.isOverdue), isTrying, .now < deadline
                else { throw addresses.error(error) }
                choice = next
            }
        }
    }

    /// The records that follow name the node of the next attempt.
    private func nameNode() {
        let isUnknown = configuration.service != nil && !hasNodes
        let node = configuration.at(planner.plan(at: .now).node).address.description
        log = unboundLog.with(.endpoint, isUnknown ? configuration.service ?? node : node)
    }

    private func end(of connection: MQTTConnection) async -> MQTTError {
        await withCheckedContinuation { continuation in
            connection.onWritten = onWritten
            connection.onEvent = { [unowned self] event in
                if case .closed(let error) = event { continuation.resume(returning: error) }
                handle(event)
            }
        }
    }

    private func handle(_ event: MQTTConnection.Event) {
        switch event {
        case .message(let message): onEvent?(.message(message))
        case .published(let ticket, let reason) where reason.isFailure:
            onEvent?(.rejected(ticket: ticket, reason.error("the broker refuses the message")))
        case .published(let ticket, let reason):
            onEvent?(.acknowledged(ticket: ticket, reason: reason.rawValue))
        case .subscription(let subscription, let reason): answered(subscription, reason)
        case .unsendable(let ticket, let error): onEvent?(.rejected(ticket: ticket, error))
        case .closed: break
        }
    }

    private func answered(_ subscription: SubscriptionRetries.Subscription, _ reason: MQTTReasonCode) {
        let filter = subscription.filter
        let variables: [Logger.Metadata] = [(.topic, filter.description), (.reason, reason.name)]
        switch subscriptionRetries.answered(subscription, reason, at: .now) {
        case .granted: return
        case .grantedLate:
            log.notice("the broker grants a subscription that it had refused", [(.topic, filter.description)])
            onEvent?(.subscriptionGranted(filter))
        case .refused:
            log.warning("the broker refuses a subscription", variables)
            onEvent?(.subscriptionRefused(filter, reason.error("the broker refuses the subscription")))
        case .refusedAgain: log.debug("the broker refuses a subscription again", variables)
        }
        planSubscriptions()
    }

    private func repeatSubscriptions() {
        subscribe(to: subscriptionRetries.due(at: .now).map { ($0.filter, $0.qos) })
        planSubscriptions()
    }

    private func planSubscriptions() {
        guard let deadline = subscriptionRetries.deadline else { return subscriptionTimer.disarm() }
        subscriptionTimer.arm(at: deadline)
    }

    /// One line for a change of condition; further attempts that fail alike are for developers.
    private func report(_ error: MQTTError, _ consequence: SessionPlanner.Consequence) {
        log.change(
            consequence.isNew ? .warning : .debug, Self.headline(consequence),
            [
                (.error, error.description), (.attempt, "\(consequence.failures)"),
                (.retryIn, "\(consequence.retryIn.milliseconds)"),
            ])
        if let version = consequence.newVersion {
            log.change(
                consequence.isNew ? .notice : .debug, "trying another version of the protocol",
                [(.version, version.rawValue)])
        }
    }

    private static func headline(_ consequence: SessionPlanner.Consequence) -> StaticString {
        consequence.isContested
            ? "connections do not last; is there another client with this identifier?" : "no connection to the broker"
    }
}
