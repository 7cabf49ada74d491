public import Time

/// What has to reach the broker: the facts of the present, and events and results that still wait.
///
/// Every publication passes through here. With a connection it is delivered at once, as long as not too many wait for
/// their acknowledgement. Without one, facts are kept (the latest of each topic), events and results wait until they
/// expire, and streams are dropped.
///
/// A publication that makes the broker close the connection would do so on every connection. Publications that were in
/// flight when the broker closed a connection are suspects: on the next one each is sent alone, with nothing else in
/// flight. If the connection is closed again, the one in flight is the reason; it is dropped. All others are delivered.
public struct Outbox: Sendable {
    /// A publication to hand to the client now.
    public struct Delivery: Hashable, Sendable {
        /// What to give back when the broker has acknowledged it; nil for QoS 0, which never is.
        public let ticket: UInt64?
        /// What to publish.
        public let publication: Publication
    }

    /// How commands are taken, by the size of their waiting results.
    public enum Intake: Hashable, Sendable {
        /// Commands are acknowledged at once.
        case open
        /// Acknowledgements of commands are held back, so that the broker waits with further ones.
        case restrained
        /// Commands are not taken: they come in spite of that, as those of QoS 0 do.
        case closed
    }

    private struct Unacknowledged {
        let ticket: UInt64
        let topic: String
        /// nil for a fact: the next connection gets it anyway.
        let message: Waiting?
        /// Whether a fact is cleared, which is forgotten when the broker has agreed.
        let isClearing: Bool
        /// Whether it is sent alone.
        let isSuspect: Bool
    }

    private let window: Int
    private let mostResultBytes: Int
    private var receiveMaximum = Int.max
    private var facts = FactMirror()
    private var backlog: Backlog
    private var unacknowledged = Queue<Unacknowledged>()
    private var lastTicket: UInt64 = 0
    private var isConnected = false
    private var lost = Dropped()
    /// How many deliveries the broker has acknowledged since the start.
    public private(set) var acknowledgements = 0
    /// How commands are to be taken now.
    ///
    /// A result is never dropped while the broker is connected. So the broker has to wait with commands while their results
    /// pile up. From `mostResultBytes` until half of it, intake is restrained: publications leave in batches, the next
    /// one when the last is acknowledged, and acknowledgements of commands leave with them. Each batch lets in at most as
    /// many commands as the broker may have unacknowledged, which is fewer than the batch holds results. Commands
    /// that come without acknowledgement (QoS 0) are not held up by that, nor is a broker that exceeds the receive maximum, as
    /// mosquitto 2.0 does with messages that it has queued: at four times the limit commands are not taken any more.
    public private(set) var intake = Intake.open

    /// An empty outbox without a connection.
    ///
    /// - Parameters:
    ///   - window: how many publications of QoS 1 may be with the client without an acknowledgement.
    ///   - mostEventBytes: how much memory waiting events may take; more are dropped.
    ///   - mostResultBytes: how much memory waiting results may take before commands are held up; without a connection
    ///     more are dropped.
    public init(window: Int = 100, mostEventBytes: Int = 16 << 20, mostResultBytes: Int = 4 << 20) {
        self.window = max(1, window)
        self.mostResultBytes = mostResultBytes
        backlog = Backlog(.init(events: mostEventBytes, results: mostResultBytes))
    }

    /// What was lost since the start.
    public var dropped: Dropped {
        var dropped = lost
        dropped.add(backlog.losses)
        return dropped
    }

    /// How many wait for their turn or for their acknowledgement.
    public var queued: Int { backlog.count + unacknowledged.count }

    /// What was lost since the last call; ``BridgeState/lost(_:at:)`` reports it.
    public mutating func takeLosses() -> Losses {
        guard !backlog.losses.isEmpty else { return Losses() }
        lost.add(backlog.losses)
        return backlog.takeLosses()
    }

    /// Takes a publication.
    ///
    /// - Returns: what to hand to the client now, in this order.
    public mutating func submit(_ publication: Publication, at now: Instant) -> [Delivery] {
        switch publication.kind {
        case .fact: return submitFact(publication)
        case .reminder: return submitReminder(publication)
        case .stream: return submitStream(publication)
        case .event, .result: break
        }
        let waiting = Waiting(publication, at: now)
        guard hasRoom, waiting.isResult ? backlog.isEmpty : backlog.hasOnlyResults else {
            backlog.append(waiting, isConnected: isConnected, at: now)
            updateIntake()
            return []
        }
        return [delivery(publication, message: waiting)]
    }

    /// Asks whether a command can be taken; one that cannot is counted as dropped.
    public mutating func takesCommand() -> Bool {
        guard intake == .closed else { return true }
        backlog.commandDropped()
        return false
    }

    /// There is a connection, and the subscriptions are made.
    ///
    /// - Parameters:
    ///   - receiveMaximum: how many publications of QoS 1 the broker takes without having acknowledged one.
    ///   - now: the present.
    /// - Returns: what to hand to the client now: the facts in the order of their first publication (the bridge's own
    ///   state comes first), then the events that have not expired, then the results.
    public mutating func connected(receiveMaximum: Int = .max, at now: Instant) -> [Delivery] {
        if isConnected { disconnected(at: now) }
        isConnected = true
        self.receiveMaximum = max(1, receiveMaximum)
        backlog.connected(factTopics: facts.putAllInLine(), at: now)
        return drain(at: now)
    }

    /// The connection has ended. What the broker has not acknowledged is sent again on the next one.
    ///
    /// - Parameters:
    ///   - isClosedByBroker: whether a publication may be the reason.
    ///   - now: the present.
    public mutating func disconnected(isClosedByBroker: Bool = false, at now: Instant) {
        isConnected = false
        let messages = unacknowledged.all.compactMap { isClosedByBroker ? convict($0) : $0.message }
        backlog.disconnected(unacknowledged: messages, at: now)
        unacknowledged.replaceAll([])
        updateIntake()
    }

    /// Where a delivery goes that the broker has not acknowledged; nil for an unknown ticket.
    ///
    /// - Returns: the topic, and whether the sender of a command has chosen it.
    public func destination(of ticket: UInt64) -> (topic: String, isChosenByAsker: Bool)? {
        unacknowledged.all.first { $0.ticket == ticket }.map { ($0.topic, $0.message?.message.isForAsker == true) }
    }

    /// The broker has acknowledged a delivery; an unknown ticket, or one of an earlier connection, means nothing.
    ///
    /// - Returns: what to hand to the client now that there is room.
    public mutating func acknowledged(_ ticket: UInt64, at now: Instant) -> [Delivery] {
        if let acknowledged = removeUnacknowledged(ticket) {
            acknowledgements += 1
            facts.clearSuspicion(acknowledged.topic)
            if acknowledged.isClearing { facts.cleared(acknowledged.topic) }
        }
        return backlog.isEmpty ? [] : drain(at: now)
    }

    /// The broker or the client has refused a delivery, which is not sent again.
    ///
    /// - Parameters:
    ///   - ticket: of the delivery; nil for one without.
    ///   - now: the present.
    /// - Returns: what to hand to the client now that there is room.
    public mutating func refused(_ ticket: UInt64?, at now: Instant) -> [Delivery] {
        backlog.refused(nil)
        return ticket.map { acknowledged($0, at: now) } ?? []
    }
}

extension Outbox {
    /// Whether one more may be in flight. A suspect is alone there.
    private var hasRoom: Bool {
        isConnected && unacknowledged.count < min(window, receiveMaximum) && unacknowledged.first?.isSuspect != true
    }

    private mutating func removeUnacknowledged(_ ticket: UInt64) -> Unacknowledged? {
        if unacknowledged.first?.ticket == ticket { return unacknowledged.removeFirst() }
        let all = unacknowledged.all
        unacknowledged.replaceAll(all.filter { $0.ticket != ticket })
        return all.first { $0.ticket == ticket }
    }

    /// The broker has closed the connection with a delivery in flight: suspects it, or drops one that was alone.
    ///
    /// - Returns: the message that has to be sent again.
    private mutating func convict(_ delivery: Unacknowledged) -> Waiting? {
        guard delivery.isSuspect else {
            guard var message = delivery.message else {
                facts.suspect(delivery.topic)
                return nil
            }
            message.isSuspect = true
            return message
        }
        if delivery.message == nil { facts.drop(delivery.topic) }
        backlog.refused(delivery.topic)
        return nil
    }

    private mutating func submitFact(_ fact: Publication) -> [Delivery] {
        guard facts.keep(fact), isConnected else { return [] }
        let isAlone = unacknowledged.isEmpty || !facts.isSuspect(fact.topic)
        if fact.qos == 0 || (hasRoom && isAlone && backlog.hasOnlyResults) {
            return delivery(factOf: fact.topic).map { [$0] } ?? []
        }
        backlog.append(factTopic: fact.topic)
        facts.waits(fact.topic)
        return []
    }

    private mutating func submitReminder(_ reminder: Publication) -> [Delivery] {
        facts.repeats(reminder.topic)
        var fact = reminder
        fact.kind = .fact
        return submitFact(fact)
    }

    private mutating func submitStream(_ publication: Publication) -> [Delivery] {
        guard isConnected, queued < window else {
            lost.streams += 1
            return []
        }
        return [delivery(publication, message: nil)]
    }

    private mutating func drain(at now: Instant) -> [Delivery] {
        defer { updateIntake() }
        // In batches: see `intake`.
        guard intake == .open || unacknowledged.isEmpty else { return [] }
        var deliveries: [Delivery] = []
        while hasRoom, let item = backlog.first(at: now), unacknowledged.isEmpty || !isSuspect(item) {
            backlog.removeFirst()
            switch item {
            case .fact(let topic): if let delivery = delivery(factOf: topic) { deliveries.append(delivery) }
            case .message(let waiting): deliveries.append(delivery(waiting.shortened(at: now), message: waiting))
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

    private mutating func delivery(factOf topic: String) -> Delivery? {
        let isSuspect = facts.isSuspect(topic)
        return facts.publish(topic).map { delivery($0, message: nil, isSuspect: isSuspect) }
    }

    /// Hands over a publication; the message, if any, is what to send again when the connection breaks.
    private mutating func delivery(
        _ publication: Publication, message: Waiting?, isSuspect: Bool = false
    ) -> Delivery {
        guard publication.qos > 0 else { return Delivery(ticket: nil, publication: publication) }
        lastTicket += 1
        unacknowledged.append(
            Unacknowledged(
                ticket: lastTicket, topic: publication.topic, message: message, isClearing: publication.isClearing,
                isSuspect: isSuspect || message?.isSuspect == true))
        return Delivery(ticket: lastTicket, publication: publication)
    }

    private mutating func updateIntake() {
        let bytes = backlog.resultBytes
        switch intake {
        case _ where !isConnected: intake = .open
        case _ where bytes >= 4 * mostResultBytes: intake = .closed
        case .closed where bytes > 2 * mostResultBytes: break
        case _ where bytes >= mostResultBytes: intake = .restrained
        case .restrained where bytes > mostResultBytes / 2: break
        default: intake = .open
        }
    }
}
