import Bridge
import BrokerAccess
import EventLoop
import FoundationEssentials
import JSON
import Logging
import MQTT
import MQTTTypes
import Synchronization
import Terminal
import TestSupport

@testable import BridgeClient
@testable import Configuration

/// A bridge of the instance `attic` with configurable answers.
@LoopActor
final class FakeBridge {
    /// One message that the bridge publishes: where below `jacquard/`, or beside it after `../`, and what. `ID` stands for
    /// the id of the request.
    typealias Publication = (topic: String, payload: String)

    /// Its requests, in order.
    private(set) var requests: [MQTTMessage] = []
    /// Whether requests are answered on their response topic alone.
    var answersInPrivate = false
    private let client: MQTTClient
    private var answers: [String: [Publication]] = [:]
    /// Whether this bridge, and others of the broker, answer the question whether they are there.
    var isThere = true
    private var tickets: UInt64 = 0
    private var taken: UInt64 = 0

    /// Connects, with facts that are retained.
    init(_ broker: PrivateBroker, facts: [Publication] = [("bridge/attic/state", "online")]) async throws {
        let settings = MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientIdentifier: "bridge")
        client = MQTTClient(configuration: settings, log: Logger("bridge", to: MemorySink()))
        client.onEvent = { [unowned self] in handle($0) }
        client.start()
        try await until("the bridge is connected") { client.isConnected }
        for fact in facts { publish(fact, isRetained: true) }
        try await until("the facts are there") { taken == tickets }
    }

    /// Says what follows on a request, by its topic below `jacquard/`.
    func answer(_ topic: String, _ publications: [Publication]) {
        answers[topic] = publications
    }

    /// Publishes a message without a request.
    func publish(_ publication: Publication, isRetained: Bool = false) {
        tickets += 1
        let outside = "../"
        let topic =
            publication.topic.hasPrefix(outside)
            ? String(publication.topic.dropFirst(outside.count)) : "jacquard/" + publication.topic
        let message = MQTTMessage(
            topic: topic, payload: Array(publication.payload.utf8), qos: .atLeastOnce,
            isRetained: isRetained)
        try? client.publish(message, ticket: tickets)
    }

    /// Leaves.
    func stop() async {
        await client.stop()
    }

    private func handle(_ event: MQTTEvent) {
        switch event {
        case .connected:
            let filters = ["jacquard/bridge/+/request/+", "jacquard/tag/+/+/set"]
            client.subscribe(to: filters.compactMap { try? MQTTTopicFilter($0) }.map { ($0, .atLeastOnce) })
        case .message(let message): asked(message)
        case .acknowledged, .rejected: taken += 1
        case .disconnected, .subscriptionRefused, .subscriptionGranted: break
        }
    }

    private func asked(_ message: MQTTMessage) {
        let id = JSONValue(payload: message.payload)["id"]?.string ?? ""
        guard !id.hasPrefix("ask-") else {
            let topic = message.topic.dropFirst("jacquard/".count).replacing("/request/", with: "/response/")
            if isThere { publish((String(topic), #"{"id":"\#(id)","status":"ok","data":{}}"#)) }
            return
        }
        requests.append(message)
        for answer in answers[String(message.topic.dropFirst("jacquard/".count))] ?? [] {
            let payload = answer.payload.replacing("ID", with: id)
            guard answersInPrivate, let topic = message.responseTopic else {
                publish((answer.topic, payload))
                continue
            }
            let reply = MQTTMessage(
                topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, correlationData: message.correlationData)
            try? client.publish(reply, ticket: 0)
        }
    }
}

/// The output of a command.
final class Written: Sendable {
    private let state = Mutex<[(OutputChannel, String)]>([])
    private let limit: Int

    /// A reader who goes after so many lines.
    init(limit: Int = .max) {
        self.limit = limit
    }

    /// The lines of one channel.
    func lines(_ channel: OutputChannel) -> [String] {
        state.withLock { $0.filter { $0.0 == channel }.map(\.1) }
    }

    /// The one document on standard output; `null` if there is none, or more than one.
    var document: JSONValue {
        let lines = lines(.standardOutput)
        return lines.count == 1 ? JSONValue(payload: Array(lines[0].utf8)) : .null
    }

    /// A printer that writes here.
    func printer(isJSON: Bool) -> Printer {
        Printer(isJSON: isJSON) { channel, line in
            self.state.withLock {
                $0.append((channel, line))
                return $0.count < self.limit
            }
        }
    }
}

extension ClientContext {
    /// A context for the instance `attic` at a broker of a test. The user of a role has its name and the password `secret`.
    static func test(
        _ port: UInt16, _ written: Written, isJSON: Bool = false, version: Settings.MQTT.Version = .automatic,
        groups: [GroupSettings] = [], role: AccessRole? = nil, interruption: Interruption = Interruption()
    ) -> ClientContext {
        var configuration = Settings.test(port, version: version)
        configuration.mqtt.username = role?.rawValue
        configuration.mqtt.password = role.map { _ in Secret(value: "secret") }
        configuration.groups = groups
        return ClientContext(
            configuration: configuration, printer: written.printer(isJSON: isJSON),
            busAddress: "unix:path=/nonexistent", interruption: interruption, log: Logger("test", to: MemorySink()))
    }
}

extension Settings {
    /// The instance `attic` at a broker of a test.
    static func test(_ port: UInt16, version: MQTT.Version = .automatic) -> Settings {
        var mqtt = MQTT(clientID: "jacquard-attic")
        mqtt.port = Int(port)
        mqtt.version = version
        return Settings(instance: "attic", mqtt: mqtt)
    }
}
