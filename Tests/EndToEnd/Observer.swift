import EventLoop
import Foundation
import Logging
import MQTT
import MQTTTypes
import TestSupport

/// A client that subscribes to all topics and can publish. Uses the project's own client on a separate connection.
@LoopActor
final class Observer {
    /// Everything that came, in order.
    private(set) var messages: [MQTTMessage] = []
    private let client: MQTTClient
    private var tickets: UInt64 = 0
    /// Whether the broker sends all topics on the current connection.
    private(set) var isSubscribed = false
    /// How many messages to itself have come back.
    private var echoes = 0
    private let name = "observer-\(UUID().uuidString)"

    /// Connects and subscribes, by default to all topics.
    init(port: UInt16, filters: [String] = ["#"]) async throws {
        client = MQTTClient(
            configuration: MQTTConfiguration(host: "127.0.0.1", port: port, clientIdentifier: name),
            log: Logger("observer", to: MemorySink()))
        client.onEvent = { [unowned self] event in
            switch event {
            case .connected:
                client.subscribe(
                    to: (filters + [name]).compactMap { filter in
                        (try? MQTTTopicFilter(filter)).map { ($0, .atLeastOnce) }
                    })
                // The broker handles it after the subscription, and returns it.
                try? publish(name, "")
            case .message(let message) where message.topic.hasPrefix("observer-"):
                guard message.topic == name else { return }
                isSubscribed = true
                echoes += 1
            case .message(let message): messages.append(message)
            case .disconnected: isSubscribed = false
            case .acknowledged, .rejected, .subscriptionRefused, .subscriptionGranted: break
            }
        }
        client.start()
        try await until("the observer is subscribed") { isSubscribed }
    }

    /// The payloads of a topic, oldest first. Topics are compared as bytes.
    func payloads(of topic: String) -> [String] {
        messages.filter { $0.topic.utf8.elementsEqual(topic.utf8) }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    /// The latest payload of a topic.
    func latest(_ topic: String) -> String? { payloads(of: topic).last }

    /// The latest connections and errors of tags, for a test that has failed.
    var facts: String {
        Set(messages.map(\.topic)).filter { $0.hasSuffix("/connection") || $0.hasSuffix("/health") }.sorted()
            .map { "\($0) \(latest($0) ?? "")" }.joined(separator: "\n")
    }

    /// The latest payload of a topic as a JSON object.
    func document(_ topic: String) -> [String: Any] {
        guard let text = latest(topic) else { return [:] }
        return Self.object(text)
    }

    /// A JSON object; empty when the text is none.
    static func object(_ text: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }

    /// Says something.
    func publish(_ topic: String, _ payload: String, isRetained: Bool = false) throws {
        try publish(
            MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, isRetained: isRetained))
    }

    /// Says something with all that MQTT 5 allows.
    func publish(_ message: MQTTMessage) throws {
        tickets += 1
        try client.publish(message, ticket: tickets)
    }

    /// Publishes a message; waits while the client has too many without an acknowledgement.
    func insist(_ message: MQTTMessage) async throws {
        do throws(MQTTError) {
            tickets += 1
            try client.publish(message, ticket: tickets)
        } catch {
            guard error.code == .backlogFull else { throw error }
            try await until("room for a message") { (try? publish(message)) != nil }
        }
    }

    /// Waits until everything has come that the broker has received before.
    func catchUp() async throws {
        let before = echoes
        try publish(name, "")
        try await until("the observer has everything", within: .seconds(60)) { echoes > before }
    }

    /// Forgets what has come so far.
    func forget() {
        messages.removeAll()
    }

    /// Leaves.
    func stop() async {
        await client.stop()
    }
}
