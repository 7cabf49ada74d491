import EventLoop
import Logging
import MQTT

/// A client that subscribes to all topics and can publish: the project's own client.
@LoopActor
final class Reader {
    /// Takes each message.
    var onMessage: ((MQTTMessage) -> Void)?
    /// Takes the number of each message of ours that the broker has acknowledged.
    var onAcknowledged: ((Int) -> Void)?
    private let client: MQTTClient

    /// Connects, and connects again sooner than the bridge does: what the bridge kept must find a reader.
    init(port: UInt16) {
        var configuration = MQTTConfiguration(host: "127.0.0.1", port: port, clientIdentifier: "soak-reader")
        configuration.shortestRetry = .milliseconds(20)
        configuration.longestRetry = .milliseconds(40)
        configuration.sessionExpiry = .seconds(600)
        client = MQTTClient(configuration: configuration, log: Logger("reader", to: StreamSink(level: .error)))
        client.onEvent = { [unowned self] event in
            switch event {
            case .connected: subscribe()
            case .message(let message): onMessage?(message)
            case .acknowledged(let ticket, _): onAcknowledged?(Int(ticket))
            case .rejected, .subscriptionRefused, .subscriptionGranted, .disconnected: break
            }
        }
        client.start()
    }

    var isConnected: Bool { client.isConnected }

    /// Says something. Without a connection it is not said at all.
    func publish(_ message: MQTTMessage, number: Int) {
        try? client.publish(message, ticket: UInt64(number))
    }

    func stop() async {
        await client.stop()
    }

    private func subscribe() {
        guard let everything = try? MQTTTopicFilter("#") else { return }
        client.subscribe(to: [(everything, .atLeastOnce)])
    }
}
