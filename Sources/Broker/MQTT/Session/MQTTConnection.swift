internal import EventLoop
import MQTTTypes
import Time

/// One connection to the broker: drives a ``BrokerLink`` from the event loop.
///
/// Opening is an `async` call. After that, all work is done in callbacks of the loop, and events are reported to
/// ``onEvent``.
@LoopActor
final class MQTTConnection {
    /// An event of a connection.
    enum Event {
        case message(MQTTMessage)
        case published(ticket: UInt64, MQTTReasonCode)
        case subscription(SubscriptionRetries.Subscription, MQTTReasonCode)
        /// A message that had waited cannot be sent.
        case unsendable(ticket: UInt64, MQTTError)
        /// The connection has ended. The last event.
        case closed(MQTTError)
    }

    /// The phase of a connection.
    enum Phase {
        /// The helper thread resolves the name. The loop does not use the instance.
        case opening
        /// TCP is connecting.
        case connecting
        /// TLS and CONNECT; the broker has not answered yet.
        case greeting
        case active
        /// Waits for the acknowledgement of what was published, then leaves. The owner may still publish: its queue may
        /// be longer than what the broker accepts without an acknowledgement.
        case finishing
        /// DISCONNECT is queued.
        case leaving
        case closed
    }

    let configuration: MQTTConfiguration
    let version: MQTTVersion
    private let isDiscardOnly: Bool
    let instance: any BrokerLink
    var phase = Phase.opening
    private(set) var watch: (any BrokerSocket)?
    var outstanding = Outstanding()
    var subscriptions: SubscriptionQueue
    private(set) lazy var subscriptionLimit = LoopTimer { [unowned self] in subscriptionAnswered() }
    /// Whether the connection has ended before the broker had answered a SUBSCRIBE, which may be the cause.
    private(set) var hasEndedSubscribing = false
    var keepAlive: KeepAlive?
    var isFlushing = false
    /// The limits that the broker has announced.
    var limits = BrokerLimits()
    /// The number of unacknowledged QoS 1 messages that the broker accepts.
    private(set) var receiveMaximum = Int(UInt16.max)

    /// Whether acknowledgements of received messages wait until there is something else to write.
    ///
    /// This is how the broker is made to wait. Reading must not stop: the answer to a probe, and the acknowledgements
    /// of our own messages, come through the same socket, behind what the broker has sent before. But a broker sends
    /// only a limited number of QoS 1 messages without an acknowledgement (MQTT 5: our receive maximum; 3.1.1: its own
    /// limit). The library queues the acknowledgements; so it is enough to write later.
    ///
    /// It cannot deadlock: acknowledgements wait only while the broker owes us one, and nothing but its answer, which
    /// is always read, can be missing then. They leave with the next message, with the probe of a silent connection,
    /// and at the latest when nothing of ours is in flight.
    var withholdsAcknowledgements = false {
        didSet { if instance.wantsToWrite { planFlush() } }
    }
    private var deadline = Instant.now
    private var answer: CheckedContinuation<Result<MQTTSession, MQTTError>, Never>?
    private var held: [Event] = []
    private(set) lazy var plannedFlush = EndOfTurnSource { [unowned self] in flush() }
    private(set) lazy var limit = LoopTimer { [unowned self] in limitReached() }
    private(set) lazy var keepAliveTimer = LoopTimer { [unowned self] in checkKeepAlive() }

    /// The addresses that the lookup has found, in the order in which they are tried; empty before its end.
    private(set) var addresses: [String] = []
    /// Whether the time for this address was over.
    private(set) var isOverdue = false

    /// Called with the time of the write after which the socket has accepted everything that was published.
    var onWritten: (@LoopActor (Instant) -> Void)?

    /// The event handler. Earlier events are delivered when it is set.
    var onEvent: (@LoopActor (Event) -> Void)? {
        didSet {
            let late = held
            held = []
            late.forEach(deliver)
        }
    }

    /// Creates a connection that is not opened.
    init(_ configuration: MQTTConfiguration, _ plan: SessionPlanner.Plan) throws(MQTTError) {
        self.configuration = configuration
        version = plan.version
        isDiscardOnly = plan.isDiscardOnly
        subscriptions = SubscriptionQueue(isCareful: plan.subscribesCarefully)
        instance = try configuration.makeLink(configuration, plan.link)
    }

    func deliver(_ event: Event) {
        if let onEvent { onEvent(event) } else { held.append(event) }
    }

    // MARK: Opening

    /// Connects and waits for the broker's response. Called once.
    ///
    /// - Parameters:
    ///   - choice: which of the broker's addresses to use.
    ///   - others: how many more are left, if it is no lookup.
    ///   - deadline: the timeout.
    /// - Returns: the session.
    /// - Throws: the cause of the failure. The object cannot be used afterwards.
    func open(
        through choice: AddressChoice, before others: Int, until deadline: Instant
    ) async throws(MQTTError) -> MQTTSession {
        self.deadline = deadline
        let result = await withCheckedContinuation { continuation in
            answer = continuation
            limit.arm(at: deadline)
            // Not awaited: the resolver may hang for longer than the deadline. The task keeps the connection, and with
            // it the instance that the helper works on.
            EventLoop.shared.begin { await self.resolveAndConnect(through: choice, before: others) }
        }
        return try result.get()
    }

    private func resolveAndConnect(through choice: AddressChoice, before others: Int) async {
        do throws(MQTTError) {
            let opening = try await instance.open(configuration, through: choice)
            guard phase == .opening else { return }
            addresses = opening.addresses
            try begin(opening)
            // Leave time for the others if packets to this address are lost.
            let left = others + opening.addresses.count
            if left > 1 { limit.arm(after: (deadline - .now) / left) }
        } catch {
            if phase == .opening { close(error) }
        }
    }

    private func begin(_ opening: BrokerLinkOpening) throws(MQTTError) {
        // A negative status means a pending connection, not a failure.
        guard opening.status <= 0, instance.descriptor >= 0 else {
            let error = instance.error(for: opening.status, errno: opening.number)
            throw error.code == .connectionLost ? .unopened(opening.number) : error
        }
        do throws(SystemError) {
            watch = try instance.watch { [unowned self] in ready($0) }
        } catch {
            throw MQTTError(.libraryFailure, error.description)
        }
        phase = .connecting
    }

    /// Checks the result of the TCP connection.
    ///
    /// - Returns: whether it is established. If not, this connection is closed.
    func isEstablished(_ events: DescriptorSource.Events) -> Bool {
        let number = watch?.takeFailure() ?? 0
        guard number == 0, events.isDisjoint(with: [.hangUp, .error]) else {
            close(.unopened(number))
            return false
        }
        phase = .greeting
        limit.arm(at: deadline)
        return true
    }

    /// Handles the broker's acceptance.
    func accepted(isSessionPresent: Bool, keepAlive brokersKeepAlive: UInt16?, receiveMaximum: UInt16?) {
        guard phase == .greeting else { return }
        if let receiveMaximum { self.receiveMaximum = Int(receiveMaximum) }
        phase = .active
        if isDiscardOnly { limit.arm(at: deadline) } else { limit.disarm() }
        instance.stopListeningToLog()
        startKeepAlive(seconds: brokersKeepAlive.map(Int.init) ?? Int(configuration.keepAliveSeconds))
        answer?.resume(
            returning: .success(MQTTSession(version: version, isSessionPresent: isSessionPresent, limits: limits)))
        answer = nil
        if isDiscardOnly { leave() }
    }

    // MARK: Ending

    /// Waits for all acknowledgements, then disconnects. Closes the connection when the time is over.
    func finish(within time: Duration) {
        switch phase {
        case .active:
            phase = .finishing
            limit.arm(after: time)
            sendHeld(subscriptions.takeAllMessages())
            flush()
        case .finishing, .leaving: break
        case .opening, .connecting, .greeting, .closed: close(.stopped)
        }
    }

    /// Gives an attempt less time.
    func hurry(until instant: Instant) {
        guard [.opening, .connecting, .greeting].contains(phase), instant < deadline else { return }
        deadline = instant
        limit.arm(at: instant)
    }

    func leaveIfFinished() {
        guard phase == .finishing, outstanding.messages == 0 else { return }
        leave()
    }

    private func leave() {
        phase = .leaving
        instance.disconnect()
        planFlush()
    }

    /// Ends the connection in any phase. The socket closes with the instance.
    func close(_ reason: MQTTError) {
        guard phase != .closed else { return }
        let error = phase == .leaving ? .stopped : named(reason)
        phase = .closed
        watch = nil
        limit.disarm()
        subscriptionLimit.disarm()
        keepAliveTimer.disarm()
        instance.abandon()
        guard let answer else { return deliver(.closed(error)) }
        answer.resume(returning: .failure(error))
        self.answer = nil
    }

    /// Names the subscription if nothing else can have ended the connection, and an end before the broker has said anything.
    private func named(_ reason: MQTTError) -> MQTTError {
        if phase == .active, reason.mayBeCausedByMessage, let packet = subscriptions.unanswered {
            hasEndedSubscribing = true
            return outstanding.messages == 0 ? .subscriptionEndsConnection(packet, reason) : reason
        }
        guard phase == .greeting, configuration.tls == nil, reason.code == .connectionLost else { return reason }
        return MQTTError(
            .connectionLost,
            MQTTError.unanswered + "closed it without an answer to MQTT \(version.rawValue)",
            underlying: reason.underlying)
    }

    private func limitReached() {
        switch phase {
        case .opening: close(MQTTError(.nameNotResolved, "no answer from the resolver in time"))
        case .connecting:
            isOverdue = true
            close(MQTTError(.unreachable, "no answer in time"))
        case .greeting:
            let wanted = configuration.tls == nil ? "" : "TLS and "
            close(
                MQTTError(
                    .timeout, MQTTError.unanswered + "did not answer to \(wanted)MQTT \(version.rawValue)"))
        case .active, .finishing, .leaving, .closed: close(.stopped)
        }
    }
}
