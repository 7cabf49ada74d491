import EventLoop
import Glibc
import Logging
import MQTTTypes
import TestSupport
import Text

@testable import MQTT

/// A client that records all events.
@LoopActor
final class TestClient {
    let client: MQTTClient
    let log = MemorySink(level: .debug)
    private(set) var events: [MQTTEvent] = []
    /// The test's work in the handler, when the event comes.
    var react: ((MQTTEvent) -> Void)?

    init(_ configuration: MQTTConfiguration) {
        client = MQTTClient(configuration: configuration, log: Logger("mqtt", to: log))
        client.onEvent = { [weak self] event in
            self?.events.append(event)
            self?.react?(event)
        }
        client.start()
    }

    var messages: [MQTTMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var acknowledged: [UInt64] {
        events.compactMap { if case .acknowledged(let ticket, _) = $0 { ticket } else { nil } }
    }

    var sessions: [MQTTSession] {
        events.compactMap { if case .connected(let session) = $0 { session } else { nil } }
    }

    var errors: [MQTTError] {
        events.compactMap { if case .disconnected(let error, _) = $0 { error } else { nil } }
    }

    /// The records at or above the level of what an operator reads.
    var warnings: [LogRecord] { log.records.filter { $0.level >= .warning } }

    func connected(times count: Int = 1) async throws {
        try await until("the connection") { self.sessions.count >= count }
    }

    /// Subscribes and waits until the subscription works, which a message to itself shows.
    func subscribe(_ filters: String..., qos: MQTTQoS = .atLeastOnce) async throws {
        let probe = "probe/\(client.isConnected)/\(events.count)"
        let all = try (filters + [probe]).map { (try MQTTTopicFilter($0), qos) }
        client.subscribe(to: all)
        try client.publish(MQTTMessage(topic: probe, payload: [], qos: .atLeastOnce), ticket: .max)
        try await until("the subscription") { self.messages.contains { $0.topic == probe } }
    }
}

extension MQTTClient {
    /// Breaks the connection without a word to the broker, as a network that goes away does.
    func cut() {
        guard let descriptor = connection?.instance.descriptor else { return }
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}

extension MQTTConfiguration {
    /// The host of a broker with one node.
    var host: String {
        get { address.host }
        set { nodes = [MQTTAddress(host: newValue, port: address.port)] }
    }

    /// The port of a broker with one node.
    var port: UInt16 {
        get { address.port }
        set { nodes = [MQTTAddress(host: address.host, port: newValue)] }
    }

    /// For a broker on the loopback interface, with short pauses that do not vary.
    static func test(_ port: UInt16, _ identifier: String = "jacquard-test") -> MQTTConfiguration {
        var configuration = MQTTConfiguration(host: "127.0.0.1", port: port, clientIdentifier: identifier)
        configuration.shortestRetry = .milliseconds(20)
        configuration.longestRetry = .milliseconds(100)
        configuration.random = { 0 }
        return configuration
    }
}

/// Runs a test's body with a broker and a client that is connected to it; both are gone afterwards.
func withClient(
    options: [String] = [], _ change: @escaping @Sendable (inout MQTTConfiguration) -> Void = { _ in },
    _ body: @escaping @LoopActor @Sendable (TestClient, PrivateBroker) async throws -> Void
) async throws {
    try await onLoop {
        let broker = try await PrivateBroker(options: options)
        var configuration = MQTTConfiguration.test(broker.port)
        change(&configuration)
        let client = TestClient(configuration)
        try await client.connected()
        try await body(client, broker)
        await client.client.stop()
    }
}
