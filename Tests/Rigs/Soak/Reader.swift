import EventLoop
import Logging
import MQTT
import MQTTTypes
import Text

/// A client that subscribes and can publish: the project's own client.
@LoopActor
final class Reader {
    /// Its subscriptions.
    struct Subscription {
        let identifier: String
        let filter: String
        let qos: MQTTQoS

        /// All topics, as an automation does.
        static let everything = Subscription(identifier: "soak-reader", filter: "#", qos: .atLeastOnce)
        /// All publications about tags. The broker passes it on without a queue.
        static let witness = Subscription(identifier: "soak-witness", filter: "jacquard/tag/#", qos: .atMostOnce)
    }

    /// Takes each message.
    var onMessage: ((MQTTMessage) -> Void)?
    /// Takes the number of each message of ours that the broker has acknowledged.
    var onAcknowledged: ((Int) -> Void)?
    /// Takes the end of each connection.
    var onDisconnected: (() -> Void)?
    private let client: MQTTClient

    /// Connects, and connects again sooner than the bridge does: what the bridge kept must find a reader.
    init(_ subscription: Subscription, port: UInt16) {
        var configuration = MQTTConfiguration(
            host: "127.0.0.1", port: port, clientIdentifier: subscription.identifier)
        // The longest freeze is no reason to connect again.
        configuration.keepAlive = .seconds(120)
        configuration.shortestRetry = .milliseconds(20)
        configuration.longestRetry = .milliseconds(40)
        configuration.sessionExpiry = .seconds(600)
        client = MQTTClient(configuration: configuration, log: Logger("reader", to: StreamSink(level: .error)))
        client.onEvent = { [unowned self] event in
            switch event {
            case .connected: subscribe(to: subscription)
            case .message(let message): onMessage?(message)
            case .acknowledged(let ticket, _): onAcknowledged?(Int(ticket))
            case .disconnected: onDisconnected?()
            case .rejected, .subscriptionRefused, .subscriptionGranted: break
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

    private func subscribe(to subscription: Subscription) {
        guard let filter = try? MQTTTopicFilter(subscription.filter) else { return }
        client.subscribe(to: [(filter, subscription.qos)])
    }
}
