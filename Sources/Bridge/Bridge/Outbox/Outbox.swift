import MQTTTypes
public import Time

/// The outgoing messages: the current facts, and queued events and results.
///
/// Every publication passes through the outbox. With a connection it is delivered immediately, unless too many
/// deliveries are unacknowledged. Without a connection, facts are stored (the latest of each topic), events and results
/// are queued until they expire, and streams are dropped.
///
/// A publication for which the broker closes the connection would close every later connection as well. Publications
/// that were in flight when the broker closed a connection are therefore suspects: on the next connection each is sent
/// alone, with nothing else in flight. If the broker closes the connection again, the one in flight is the cause and is
/// dropped. All others are delivered. A dropped fact is sent again, alone, after a minute, two minutes and four minutes: a
/// cluster that loses a node may have closed the connections for that reason. Then it is only sent when it changes.
///
/// A node of a NATS cluster that loses a node acknowledges a retained message after four seconds without storing it. So a
/// fact that a node of a cluster acknowledges late is sent again, three times at once, and then after the same pauses.
///
/// A broker that has acknowledged nothing on a connection closes it for another reason: a node of a cluster that is
/// losing its cluster does so for every publication. Then nothing is dropped, and a suspect fact is sent after the
/// others on the next connection, so that they show which of the two reasons it is.
public struct Outbox: Sendable {
    /// A publication to pass to the client now.
    public struct Delivery: Equatable, Sendable {
        /// Passed back when the broker acknowledges the delivery; nil for QoS 0.
        public let ticket: UInt64?
        /// The message.
        public let publication: Publication
    }

    /// How commands are accepted, depending on the size of the queued results.
    public enum Intake: Hashable, Sendable {
        /// Commands are acknowledged immediately.
        case open
        /// Acknowledgements of commands are delayed, so that the broker delays further commands.
        case restrained
        /// Commands are rejected. Those of QoS 0, for example, arrive although acknowledgements are delayed.
        case closed
    }

    private struct Unacknowledged {
        let ticket: UInt64
        let topic: String
        /// When it was passed to the client.
        let sent: Instant
        /// nil for a fact: the next connection publishes it anyway.
        let message: Waiting?
        /// Whether it clears a fact, which is removed once the broker has acknowledged it.
        let isClearing: Bool
        /// Whether it is sent alone.
        let isSuspect: Bool
        /// Its payload if it has to reach the broker before the fact of its topic.
        let step: [UInt8]?
    }

    /// A connection to the broker.
    private struct Connection {
        /// How many deliveries may be unacknowledged.
        let window: Int
        /// Whether acknowledgements have a reason (MQTT 5).
        let hasReasons: Bool
        /// Whether it is to a node of a cluster.
        let isCluster: Bool
        /// Whether the broker has acknowledged a publication.
        var hasAcknowledged = false
    }

    private let window: Int
    private let maxResultBytes: Int
    /// nil without a connection.
    private var connection: Connection?
    private(set) var facts = FactMirror()
    private var factRetry = FactRetry()
    var backlog: Backlog
    private var unacknowledged = Queue<Unacknowledged>()
    private var lastTicket: UInt64 = 0
    private var lost = Dropped()
    var traces = GestureTraces()
    /// Number of acknowledged deliveries since the start.
    public private(set) var acknowledgements = 0
    /// How commands are accepted now.
    ///
    /// A result is never dropped while the broker is connected. So the broker has to hold back commands while results
    /// pile up. From `maxResultBytes` until half of it, intake is restrained: publications are sent in batches, the
    /// next one when the last is acknowledged, and command acknowledgements are sent with them. Each batch admits at
    /// most as many commands as the broker may have unacknowledged, which is fewer than the results in the batch. Two
    /// kinds of commands are not limited by that: those of QoS 0, and those of a broker that exceeds the receive
    /// maximum, as mosquitto 2.0 does with queued messages. At four times the limit, commands are rejected.
    public private(set) var intake = Intake.open

    /// Creates an empty outbox without a connection.
    ///
    /// - Parameters:
    ///   - window: maximum number of unacknowledged publications of QoS 1.
    ///   - maxEventBytes: maximum memory of queued events; further events are dropped.
    ///   - maxResultBytes: memory of queued results from which commands are delayed. Without a connection, further
    ///     results are dropped.
    public init(window: Int = 100, maxEventBytes: Int = 16 << 20, maxResultBytes: Int = 4 << 20) {
        self.window = max(1, window)
        self.maxResultBytes = maxResultBytes
        backlog = Backlog(.init(events: maxEventBytes, results: maxResultBytes))
    }

    /// The messages lost since the start.
    public var dropped: Dropped {
        var dropped = lost
        dropped.add(backlog.losses)
        return dropped
    }

    /// Number of queued and unacknowledged messages.
    public var queued: Int { backlog.count + unacknowledged.count }

    /// Returns the losses since the last call; ``BridgeEvent/messagesLost(_:bytes:)`` reports them.
    public mutating func takeLosses() -> Losses {
        guard !backlog.losses.isEmpty else { return Losses() }
        lost.add(backlog.losses)
        var losses = backlog.takeLosses()
        losses.totalDropped = lost.total
        return losses
    }

    /// Returns whether a long queue has emptied since the last call: most of its memory can go back to the system.
    public mutating func takeEmptied() -> Bool { backlog.takeEmptied() }

    /// Submits a publication.
    ///
    /// - Parameters:
    ///   - publication: the publication.
    ///   - now: the current time.
    ///   - arrival: when the gesture arrived, for its trace; evaluated for gestures only.
    /// - Returns: the deliveries to pass to the client now, in this order.
    public mutating func submit(
        _ publication: Publication, at now: Instant, arrival: @autoclosure () -> GestureArrival? = nil
    ) -> [Delivery] {
        switch publication.kind {
        case .fact:
            let deliveries = submitFact(publication, at: now)
            return factRetry.isPending ? deliveries + retryFacts(at: now) : deliveries
        case .step: return submitStep(publication, at: now)
        case .reminder: return submitReminder(publication, at: now)
        case .stream: return submitStream(publication, at: now)
        case .event, .result, .correction: break
        }
        var waiting = Waiting(publication, at: now)
        if publication.gesture.isGesture {
            waiting.publication.gesture.number = traces.begin(
                publication.gesture, arrival() ?? GestureArrival(received: now, read: now), at: now)
        }
        guard hasRoom, waiting.isResult ? backlog.isEmpty : backlog.hasOnlyResults else {
            traces.note(waiting.publication.gesture.number, isConnected ? .waitedForWindow : .waitedForBroker)
            backlog.append(waiting, isConnected: isConnected, at: now)
            traceDropped(at: now)
            updateIntake()
            return []
        }
        return [delivery(waiting.publication, message: waiting, at: now)]
    }

    /// Keeps the facts of these topics up to date without publishing them, until ``republish(_:at:)``. Queued facts of these
    /// topics are not published either.
    public mutating func withhold(_ topics: [String]) {
        facts.withhold(topics)
    }

    /// Publishes the facts of these topics, even if the broker has them, and publishes their changes from now on.
    ///
    /// - Returns: the deliveries to pass to the client now.
    public mutating func republish(_ topics: [String], at now: Instant) -> [Delivery] {
        let queued = facts.release(topics)
        guard isConnected else { return [] }
        for topic in queued { backlog.append(factTopic: topic) }
        return drain(at: now)
    }

    /// Returns whether a command can be accepted, and counts a rejected one as dropped.
    public mutating func takesCommand() -> Bool {
        guard intake == .closed else { return true }
        backlog.commandDropped()
        return false
    }

    /// Handles a new connection, after the subscriptions are made.
    ///
    /// - Parameters:
    ///   - receiveMaximum: how many unacknowledged publications of QoS 1 the broker accepts.
    ///   - hasReasons: whether acknowledgements have a reason (MQTT 5).
    ///   - isCluster: whether the broker has several nodes.
    ///   - now: the current time.
    /// - Returns: the deliveries to pass to the client now: the facts in the order of their first publication (the
    ///   bridge's own state first), then the events that have not expired, then the results.
    public mutating func connected(
        receiveMaximum: Int = .max, hasReasons: Bool = true, isCluster: Bool = false, at now: Instant
    ) -> [Delivery] {
        if isConnected { disconnected(at: now) }
        connection = Connection(
            window: min(window, max(1, receiveMaximum)), hasReasons: hasReasons, isCluster: isCluster)
        backlog.connected(factTopics: facts.queueAll(), at: now)
        traceDropped(at: now)
        return drain(at: now)
    }

    /// Handles the end of a connection. Unacknowledged messages are sent again on the next one.
    ///
    /// - Parameters:
    ///   - isClosedByBroker: whether a publication may be the cause.
    ///   - now: the current time.
    public mutating func disconnected(isClosedByBroker: Bool = false, at now: Instant) {
        let hasAcknowledged = connection?.hasAcknowledged == true
        connection = nil
        for delivery in unacknowledged.all.reversed() {
            if let step = delivery.step { facts.restore(step: step, of: delivery.topic) }
        }
        let messages = unacknowledged.all.compactMap {
            isClosedByBroker ? interrupted($0, hasAcknowledged: hasAcknowledged, at: now) : $0.message
        }
        for gesture in backlog.gestures { traces.note(gesture.number, .waitedForBroker) }
        for message in messages { traces.interrupted(message.publication.gesture.number) }
        backlog.disconnected(unacknowledged: messages, at: now)
        traceDropped(at: now)
        unacknowledged.replaceAll([])
        updateIntake()
    }

    /// Handles a broker that the bridge leaves for another one. Unacknowledged messages are not sent again; results are for
    /// this broker only.
    ///
    /// - Returns: the queued messages to pass to the client now, with those that clear facts; none without a connection, which loses the
    ///   results.
    public mutating func left(at now: Instant) -> [Publication] {
        let clearings = isConnected ? facts.queuedClearings : []
        let messages = backlog.left(isConnected: isConnected, at: now)
        unacknowledged.replaceAll([])
        disconnected(at: now)
        return messages.map { $0.shortened(at: now) } + clearings
    }

    /// Returns the destination of an unacknowledged delivery; nil for an unknown ticket.
    ///
    /// - Returns: the topic, and whether it is a response topic chosen by the sender of a command.
    public func destination(of ticket: UInt64) -> (topic: String, isChosenByRequester: Bool)? {
        unacknowledged.all.first { $0.ticket == ticket }.map {
            ($0.topic, $0.message?.publication.isForRequester == true)
        }
    }

    /// Handles an acknowledgement. Unknown tickets and those of earlier connections are ignored.
    ///
    /// - Parameters:
    ///   - ticket: the delivery's ticket.
    ///   - reason: the reason of MQTT 5.
    ///   - now: the current time.
    /// - Returns: the deliveries that now fit into the window.
    public mutating func acknowledged(_ ticket: UInt64, reason: UInt8 = 0, at now: Instant) -> [Delivery] {
        ended(ticket, .acknowledged, reason: connection?.hasReasons == true ? reason : nil, at: now)
    }

    /// Handles a delivery that the broker or the client has refused. It is not sent again.
    ///
    /// - Parameters:
    ///   - ticket: the delivery's ticket; nil for a delivery without one.
    ///   - reason: the broker's reason; nil if the client has refused it.
    ///   - now: the current time.
    /// - Returns: the deliveries that now fit into the window.
    public mutating func refused(_ ticket: UInt64?, reason: UInt8? = nil, at now: Instant) -> [Delivery] {
        backlog.refused(nil)
        return ticket.map { ended($0, reason == nil ? .unsendable : .refused, reason: reason, at: now) } ?? []
    }

    private mutating func ended(
        _ ticket: UInt64, _ outcome: GestureTrace.Outcome, reason: UInt8?, at now: Instant
    ) -> [Delivery] {
        if let delivery = removeUnacknowledged(ticket) {
            acknowledgements += 1
            connection?.hasAcknowledged = true
            if facts.clearSuspicion(delivery.topic) { factRetry.succeeded() }
            if delivery.isClearing {
                facts.cleared(delivery.topic)
            } else if connection?.isCluster == true, delivery.message == nil, outcome == .acknowledged {
                factAcknowledged(delivery, at: now)
            }
            if let gesture = delivery.message?.publication.gesture, gesture.isGesture {
                traces.ended(gesture.number, outcome, reason: reason, at: now)
            }
        }
        return backlog.isEmpty ? [] : drain(at: now)
    }
}

extension Outbox {
    private var isConnected: Bool { connection != nil }

    /// Whether another delivery may be in flight. A suspect is sent alone.
    private var hasRoom: Bool {
        guard let connection else { return false }
        return unacknowledged.count < connection.window && unacknowledged.first?.isSuspect != true
    }

    private mutating func removeUnacknowledged(_ ticket: UInt64) -> Unacknowledged? {
        if unacknowledged.first?.ticket == ticket { return unacknowledged.removeFirst() }
        let all = unacknowledged.all
        unacknowledged.replaceAll(all.filter { $0.ticket != ticket })
        return all.first { $0.ticket == ticket }
    }

    /// Handles a delivery that was in flight when the broker closed the connection: marks it as suspect, or drops it if
    /// it was alone, and the broker takes others.
    ///
    /// - Returns: the message to send again.
    private mutating func interrupted(
        _ delivery: Unacknowledged, hasAcknowledged: Bool, at now: Instant
    ) -> Waiting? {
        guard delivery.isSuspect else {
            guard var message = delivery.message else {
                facts.suspect(delivery.topic)
                return nil
            }
            message.isSuspect = true
            return message
        }
        guard hasAcknowledged || !facts.hasOthers(than: delivery.topic) else {
            if delivery.message == nil { facts.postpone(delivery.topic) }
            return delivery.message
        }
        if delivery.message == nil {
            if facts.drop(delivery.topic) { factRetry.plan(at: now) }
        }
        backlog.refused(delivery.topic)
        if let gesture = delivery.message?.publication.gesture { traces.ended(gesture.number, .closing, at: now) }
        return nil
    }

    /// An acknowledgement that takes as long is late. A node of a NATS cluster gives up storing after 4 s.
    private static let lateness = Duration.seconds(3)

    /// Handles an acknowledgement by a node of a cluster. The caller sends what is queued.
    private mutating func factAcknowledged(_ delivery: Unacknowledged, at now: Instant) {
        guard now - delivery.sent >= Self.lateness else { return facts.acknowledgedInTime(delivery.topic) }
        switch facts.acknowledgedLate(delivery.topic) {
        case .repetition: backlog.append(factTopic: delivery.topic)
        case .pause: factRetry.plan(at: now)
        case .nothing: break
        }
    }

    private mutating func submitFact(_ fact: Publication, at now: Instant) -> [Delivery] {
        guard facts.keep(fact), isConnected else { return [] }
        let isAlone = unacknowledged.isEmpty || !facts.isSuspect(fact.topic)
        if fact.message.qos == .atMostOnce || (hasRoom && isAlone && backlog.hasOnlyResults) {
            return delivery(factOf: fact.topic, at: now).map { [$0] } ?? []
        }
        backlog.append(factTopic: fact.topic)
        facts.waits(fact.topic)
        return []
    }

    private mutating func submitStep(_ step: Publication, at now: Instant) -> [Delivery] {
        let isAlone = unacknowledged.isEmpty || !facts.isSuspect(step.topic)
        guard hasRoom, isAlone, backlog.hasOnlyResults, !facts.isWithheld(step.topic) else {
            // The fact of the topic follows, and is queued.
            facts.keep(step: step.payload, of: step.topic)
            return []
        }
        return [delivery(step, message: nil, isSuspect: facts.isSuspect(step.topic), at: now)]
    }

    /// Queues the doubtful facts when their retry is due. The health document, a fact, is submitted each minute.
    private mutating func retryFacts(at now: Instant) -> [Delivery] {
        guard isConnected, factRetry.takeDue(at: now) else { return [] }
        for topic in facts.queueDoubtful() { backlog.append(factTopic: topic) }
        return drain(at: now)
    }

    private mutating func submitReminder(_ reminder: Publication, at now: Instant) -> [Delivery] {
        facts.repeats(reminder.topic)
        var fact = reminder
        fact.kind = .fact
        return submitFact(fact, at: now)
    }

    private mutating func submitStream(_ publication: Publication, at now: Instant) -> [Delivery] {
        guard isConnected, queued < window else {
            lost.streams += 1
            return []
        }
        return [delivery(publication, message: nil, at: now)]
    }

    private mutating func drain(at now: Instant) -> [Delivery] {
        defer { updateIntake() }
        // Sends in batches, see `intake`.
        guard intake == .open || unacknowledged.isEmpty else { return [] }
        defer { traceDropped(at: now) }
        var deliveries: [Delivery] = []
        while hasRoom, let item = backlog.first(at: now), unacknowledged.isEmpty || !isSuspect(item) {
            backlog.removeFirst()
            switch item {
            case .fact(let topic): if let delivery = delivery(factOf: topic, at: now) { deliveries.append(delivery) }
            case .message(let waiting):
                deliveries.append(delivery(waiting.shortened(at: now), message: waiting, at: now))
            }
        }
        return deliveries
    }

    private func isSuspect(_ item: Backlog.Item) -> Bool {
        switch item {
        case .fact(let topic): facts.isSuspect(topic)
        case .message(let waiting): waiting.isSuspect
        }
    }

    private mutating func delivery(factOf topic: String, at now: Instant) -> Delivery? {
        let isSuspect = facts.isSuspect(topic)
        if let step = facts.takeStep(of: topic) {
            backlog.append(factTopic: topic)
            return delivery(step, message: nil, isSuspect: isSuspect, at: now)
        }
        return facts.publish(topic).map { delivery($0, message: nil, isSuspect: isSuspect, at: now) }
    }

    /// Creates a delivery. The message, if any, is sent again after a lost connection.
    private mutating func delivery(
        _ publication: Publication, message: Waiting?, isSuspect: Bool = false, at now: Instant
    ) -> Delivery {
        guard publication.message.qos != .atMostOnce else { return Delivery(ticket: nil, publication: publication) }
        lastTicket += 1
        if publication.gesture.isGesture { traces.delivered(publication.gesture.number, at: now) }
        unacknowledged.append(
            Unacknowledged(
                ticket: lastTicket, topic: publication.topic, sent: now, message: message,
                isClearing: publication.isClearing, isSuspect: isSuspect || message?.isSuspect == true,
                step: publication.isStep ? publication.payload : nil))
        return Delivery(ticket: lastTicket, publication: publication)
    }

    private mutating func updateIntake() {
        let bytes = backlog.resultBytes
        switch intake {
        case _ where !isConnected: intake = .open
        case _ where bytes >= 4 * maxResultBytes: intake = .closed
        case .closed where bytes > 2 * maxResultBytes: break
        case _ where bytes >= maxResultBytes: intake = .restrained
        case .restrained where bytes > maxResultBytes / 2: break
        default: intake = .open
        }
    }
}
