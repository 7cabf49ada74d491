import Bridge
import BrokerAccess
import EventLoop
import MQTT
import MQTTTypes
import Time

/// A replay in progress.
@LoopActor
struct ReplayRun {
    private let base: String
    private let session: BrokerSession
    private var open: Set<UInt64> = []
    private var retained: Set<String> = []
    /// The number of published events.
    private(set) var published = 0

    /// Maximum number of messages that the broker has not acknowledged.
    private static let window = 20

    init(base: String, _ session: BrokerSession) {
        self.base = base
        self.session = session
    }

    /// Publishes the facts, then each event when it is due. Events with an earlier time than the one before, after the clock
    /// was set back, follow at once.
    mutating func publish(_ replay: EventReplay, speed: Int, longestPause: Duration?) async throws(ClientFailure) {
        for fact in replay.facts { try await publish(fact) }
        var due = Instant.now
        var last = replay.events.first?.unixMilliseconds ?? 0
        for event in replay.events {
            let pause = Duration.milliseconds(max(0, event.unixMilliseconds - last))
            due += min(pause, longestPause ?? pause) / speed
            last = event.unixMilliseconds
            try await wait(until: due)
            try await publish(event)
            published += 1
        }
        try await settle(to: 0)
    }

    private mutating func publish(_ message: EventReplay.Message) async throws(ClientFailure) {
        let topic = "\(base)/\(message.topic)"
        if message.isRetained { retained.insert(topic) }
        let message = MQTTMessage(
            topic: topic, payload: message.payload, qos: .atLeastOnce, isRetained: message.isRetained)
        open.insert(session.send(message))
        try await settle(to: Self.window)
    }

    /// Removes the retained messages.
    mutating func clear() async throws(ClientFailure) {
        for topic in retained.sorted() {
            open.insert(session.clear(topic))
            try await settle(to: Self.window)
        }
        try await settle(to: 0)
    }

    /// Handles signals until a time.
    private mutating func wait(until due: Instant) async throws(ClientFailure) {
        while due > .now, let signal = await session.next(until: due) { try handle(signal) }
    }

    /// Waits until the broker has acknowledged all messages but a few.
    private mutating func settle(to count: Int) async throws(ClientFailure) {
        let deadline = Instant.now + BrokerSession.patience
        while open.count > count {
            guard let signal = await session.next(until: deadline) else {
                throw .lost("no answer within \(BrokerSession.patience.components.seconds) s")
            }
            try handle(signal)
        }
    }

    private mutating func handle(_ signal: BrokerSession.Signal) throws(ClientFailure) {
        switch signal {
        case .taken(let ticket): open.remove(ticket)
        case .refused(_, let error): throw .forbidden("\(base)/tag/+", error.code.name, AccessTable(replayBase: base))
        case .lost(let error): throw .lost(error.text)
        case .interrupted: throw .interrupted
        case .message, .connected: break
        }
    }
}
