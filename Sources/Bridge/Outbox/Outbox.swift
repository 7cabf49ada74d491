public import Time

/// What has to reach the broker: the facts of the present, and what happened and still waits.
///
/// Every publication passes through here. While there is a connection it goes straight on, as long as not too many
/// wait for their acknowledgement. While there is none, facts are kept (the latest of each topic), events and results
/// wait until they expire, and streams are dropped.
public struct Outbox: Sendable {
    /// A publication to hand to the client now.
    public struct Delivery: Hashable, Sendable {
        /// What to give back when the broker has acknowledged it; nil for QoS 0, which never is.
        public let ticket: UInt64?
        /// What to publish.
        public let publication: Publication
    }

    /// What was lost since the start.
    public struct Dropped: Hashable, Sendable {
        /// Too old, or too many.
        public let events: Int
        /// Too old, or too many.
        public let results: Int
        /// No connection, or a broker that does not keep up.
        public let streams: Int

        /// All of them.
        public var total: Int { events + results + streams }
    }

    private struct Unacknowledged {
        let ticket: UInt64
        let topic: String
        /// nil for a fact: the next connection gets it anyway.
        let message: Waiting?
        /// Whether a fact is taken back, which is forgotten when the broker has agreed.
        let isClearing: Bool
    }

    private let window: Int
    private var facts = FactMirror()
    private var backlog: Backlog
    private var unacknowledged = Queue<Unacknowledged>()
    private var lastTicket: UInt64 = 0
    private var isConnected = false
    private var droppedStreams = 0
    /// How many deliveries the broker has acknowledged since the start.
    public private(set) var acknowledgements = 0

    /// An empty outbox without a connection.
    ///
    /// - Parameters:
    ///   - window: how many publications of QoS 1 may be with the client without an acknowledgement.
    ///   - mostEvents: how many events may wait; more are dropped.
    ///   - mostResults: how many results may wait; more are dropped.
    public init(window: Int = 100, mostEvents: Int = 100_000, mostResults: Int = 1_000) {
        self.window = max(1, window)
        backlog = Backlog(mostEvents: mostEvents, mostResults: mostResults)
    }

    /// What was lost since the start.
    public var dropped: Dropped {
        Dropped(events: backlog.droppedEvents, results: backlog.droppedResults, streams: droppedStreams)
    }

    /// How many wait for their turn or for their acknowledgement.
    public var queued: Int { backlog.count + unacknowledged.count }

    /// How many events of each topic were dropped since the last call; ``BridgeState/eventsDropped(_:at:)`` counts them.
    public mutating func takeDroppedEvents() -> [String: Int] {
        backlog.takeDroppedEvents()
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
        guard isOpen else {
            backlog.append(waiting, at: now)
            return []
        }
        return [delivery(publication, message: waiting)]
    }

    /// A connection is there, and the subscriptions are made.
    ///
    /// - Returns: what to hand to the client now: the facts in the order of their first publication (the bridge's own
    ///   state comes first), then what has waited and not expired.
    public mutating func connected(at now: Instant) -> [Delivery] {
        if isConnected { disconnected(at: now) }
        isConnected = true
        backlog.connected(factTopics: facts.putAllInLine(), at: now)
        return drain(at: now)
    }

    /// The connection is gone. What the broker has not acknowledged is sent again on the next one.
    public mutating func disconnected(at now: Instant) {
        isConnected = false
        facts.forgetProgress()
        backlog.disconnected(unacknowledged: unacknowledged.all.compactMap(\.message), at: now)
        unacknowledged.replaceAll([])
    }

    /// Where a delivery goes that the broker has not acknowledged; nil for an unknown ticket.
    ///
    /// - Returns: the topic, and whether the asker of a command has chosen it.
    public func destination(of ticket: UInt64) -> (topic: String, isChosenByAsker: Bool)? {
        unacknowledged.all.first { $0.ticket == ticket }.map { ($0.topic, $0.message?.message.isForAsker == true) }
    }

    /// The broker has acknowledged a delivery; an unknown ticket, or one of an earlier connection, means nothing.
    ///
    /// - Returns: what to hand to the client now that there is room.
    public mutating func acknowledged(_ ticket: UInt64, at now: Instant) -> [Delivery] {
        if let acknowledged = removeUnacknowledged(ticket) {
            acknowledgements += 1
            if acknowledged.isClearing { facts.cleared(acknowledged.topic) }
        }
        return backlog.isEmpty ? [] : drain(at: now)
    }
}

extension Outbox {
    private var hasRoom: Bool { isConnected && unacknowledged.count < window }

    /// Whether a publication may overtake nobody by going straight on.
    private var isOpen: Bool { hasRoom && backlog.isEmpty }

    private mutating func removeUnacknowledged(_ ticket: UInt64) -> Unacknowledged? {
        if unacknowledged.first?.ticket == ticket { return unacknowledged.removeFirst() }
        let all = unacknowledged.all
        unacknowledged.replaceAll(all.filter { $0.ticket != ticket })
        return all.first { $0.ticket == ticket }
    }

    private mutating func submitFact(_ fact: Publication) -> [Delivery] {
        guard facts.keep(fact), isConnected else { return [] }
        if fact.qos == 0 || isOpen { return delivery(factOf: fact.topic).map { [$0] } ?? [] }
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
        guard hasRoom else {
            droppedStreams += 1
            return []
        }
        return [delivery(publication, message: nil)]
    }

    private mutating func drain(at now: Instant) -> [Delivery] {
        var deliveries: [Delivery] = []
        while hasRoom, let item = backlog.popFirst(at: now) {
            switch item {
            case .fact(let topic): if let delivery = delivery(factOf: topic) { deliveries.append(delivery) }
            case .message(let waiting): deliveries.append(delivery(waiting.shortened(at: now), message: waiting))
            }
        }
        return deliveries
    }

    private mutating func delivery(factOf topic: String) -> Delivery? {
        facts.publish(topic).map { delivery($0, message: nil) }
    }

    /// Hands over a publication; the message, if any, is what to send again when the connection breaks.
    private mutating func delivery(_ publication: Publication, message: Waiting?) -> Delivery {
        guard publication.qos > 0 else { return Delivery(ticket: nil, publication: publication) }
        lastTicket += 1
        unacknowledged.append(
            Unacknowledged(
                ticket: lastTicket, topic: publication.topic, message: message, isClearing: publication.isClearing))
        return Delivery(ticket: lastTicket, publication: publication)
    }
}
