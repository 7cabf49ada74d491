import EventLoop
import MQTT
import Time

/// Publishes to topics that it subscribes to, and sees which messages come back.
@LoopActor
struct TopicTrials {
    let session: BrokerSession
    private(set) var trials: [TopicTrial]
    private var tickets: [UInt64: Int] = [:]

    /// How long a message may be on its way there and back.
    private static let patience = Duration.seconds(2)

    /// Trials that have not begun.
    init(session: BrokerSession, trials: [TopicTrial]) {
        self.session = session
        self.trials = trials
    }

    /// Tries all of them at once.
    func outcome() async -> [TopicTrial] {
        var copy = self
        await copy.run()
        return copy.trials
    }

    private mutating func run() async {
        session.subscribe(to: trials.map(\.topic))
        for index in trials.indices { tickets[session.publish(trials[index].topic)] = index }
        let deadline = Instant.now + Self.patience
        while isUnderWay, let signal = await session.next(until: deadline) { take(signal) }
        end(as: .swallowed)
    }

    private var isUnderWay: Bool { trials.contains { $0.outcome == .pending } }

    private mutating func take(_ signal: BrokerSession.Signal) {
        switch signal {
        case .message(let message):
            if let index = trials.firstIndex(where: { $0.topic == message.topic }) { trials[index].outcome = .returned }
        case .refused(let ticket, let error):
            if let index = tickets[ticket] { trials[index].outcome = .refused(error.code.name) }
        // Some versions of mosquitto answer a forbidden message by closing the connection.
        case .lost(let error): end(as: .refused(error.code.name))
        case .connected, .taken, .interrupted: break
        }
    }

    private mutating func end(as outcome: TopicTrial.Outcome) {
        for index in trials.indices where trials[index].outcome == .pending { trials[index].outcome = outcome }
    }
}
