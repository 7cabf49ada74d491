import EventLoop
import MQTT
import Time

extension BrokerSession {
    /// Subscribes, and waits until everything that is retained has come.
    ///
    /// A broker answers in order: what it retains for a subscription is on its way before it answers a message that was
    /// published afterwards, even if it refuses that. The message goes to ``answers``, where no other client reads.
    ///
    /// - Returns: all messages that have come meanwhile.
    /// - Throws: `noConnection` when the broker does not answer.
    func snapshot(of filters: [String]) async throws(ClientFailure) -> [MQTTMessage] {
        subscribe(to: filters)
        let marker = publish(answers)
        var messages: [MQTTMessage] = []
        let deadline = Instant.now + Self.patience
        while let signal = await next(until: deadline) {
            switch signal {
            case .message(let message): messages.append(message)
            case .taken(marker), .refused(marker, _): return messages
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .connected, .taken, .refused: break
            }
        }
        throw .lost("no answer within \(Self.patience.components.seconds) s")
    }
}
