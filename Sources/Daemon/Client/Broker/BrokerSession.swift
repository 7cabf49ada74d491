import Bridge
import CommandLine
import Configuration
import EventLoop
import Logging
import MQTT
import Time

/// A short-lived MQTT session with a random client id.
@LoopActor
final class BrokerSession {
    /// What comes in, in its order.
    enum Signal: Sendable {
        /// The broker has accepted us, at first or again.
        case connected(MQTTVersion)
        /// There is no connection, or it was lost.
        case lost(MQTTError)
        /// A message has come.
        case message(MQTTMessage)
        /// The broker has taken the publication of this ticket.
        case taken(UInt64)
        /// The broker has refused the publication of this ticket.
        case refused(UInt64, MQTTError)
        /// The user wants an end.
        case interrupted
    }

    /// How long a broker may take to accept us, and to answer.
    static let patience = Duration.seconds(5)

    /// The topics of the bridge that the configuration names.
    let topics: BridgeTopics
    /// Where answers for us alone come.
    let answers: String
    private let client: MQTTClient
    private let broker: String
    private let mailbox = Mailbox<Signal>()
    private var isInterrupted = false
    private var lastTicket: UInt64 = 0
    private(set) var version = MQTTVersion.v5

    /// Prepares a visit to the broker of a configuration.
    init(_ configuration: Settings, log: Logger) {
        let name = "jacquard-client-" + String(UInt64.random(in: .min ... .max), radix: 36)
        topics = BridgeTopics(configuration)
        answers = topics.answers(to: name)
        var settings = configuration.client(identifier: name)
        settings.sessionExpiry = .zero
        settings.connectDeadline = Self.patience
        broker = settings.description
        client = MQTTClient(configuration: settings, log: log)
    }

    /// Connects.
    ///
    /// - Throws: `noConnection` as soon as it is clear that it will not work, at most after ``patience``.
    func open() async throws(ClientFailure) {
        let contact = await connect()
        guard !isInterrupted else { throw .interrupted }
        guard case .failed(let code, let text) = contact else { return }
        throw ClientFailure(
            exitCode: .noConnection, code: code, text: "There is no connection to the broker \(broker): \(text)",
            hint: "jacquard2mqtt doctor")
    }

    /// Connects, and says what became of it.
    func connect() async -> BrokerContact {
        client.onEvent = { [unowned self] in brokerReported($0) }
        client.start()
        let deadline = Instant.now + Self.patience
        var contact = BrokerContact.silent
        while let signal = await mailbox.next(until: deadline) {
            switch signal {
            case .connected(let version):
                self.version = version
                return .accepted(version)
            case .lost(let error):
                contact = BrokerContact(error)
                if error.isDefinite { return contact }
            case .interrupted:
                isInterrupted = true
                return contact
            case .message, .taken, .refused: break
            }
        }
        return contact
    }

    /// Subscribes; retained messages come at QoS 0, so that no window holds them back.
    func subscribe(to filters: [String]) {
        client.subscribe(
            to: filters.compactMap { text in (try? MQTTTopicFilter(text)).map { ($0, MQTTQoS.atMostOnce) } })
    }

    /// Publishes at QoS 1.
    ///
    /// - Parameters:
    ///   - topic: where.
    ///   - payload: what; a document or a bare word.
    ///   - correlation: what an answer to us alone is known by (MQTT 5); nil: none is wanted.
    /// - Returns: the ticket by which the broker's answer is known; without a connection that never comes.
    @discardableResult
    func publish(_ topic: String, _ payload: String = "", correlation: String? = nil) -> UInt64 {
        lastTicket += 1
        var message = MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce)
        if let correlation, version == .v5 {
            message.responseTopic = answers
            message.correlationData = Array(correlation.utf8)
        }
        // It fails only without a connection, which has its own signal.
        try? client.publish(message, ticket: lastTicket)
        return lastTicket
    }

    /// Removes what is retained on a topic.
    ///
    /// - Returns: the ticket by which the broker's answer is known.
    func clear(_ topic: String) -> UInt64 {
        lastTicket += 1
        let message = MQTTMessage(topic: topic, payload: [], qos: .atLeastOnce, isRetained: true)
        try? client.publish(message, ticket: lastTicket)
        return lastTicket
    }

    /// The next signal.
    func next(until deadline: Instant?) async -> Signal? {
        await mailbox.next(until: deadline)
    }

    /// Ends a wait for signals.
    func interrupt() {
        mailbox.put(.interrupted)
    }

    /// Says goodbye.
    func close() async {
        client.onEvent = nil
        await client.stop(within: .seconds(1))
    }

    private func brokerReported(_ event: MQTTEvent) {
        switch event {
        case .connected(let session): mailbox.put(.connected(session.version))
        case .disconnected(let error, _): mailbox.put(.lost(error))
        case .message(let message): mailbox.put(.message(message))
        case .acknowledged(let ticket): mailbox.put(.taken(ticket))
        case .rejected(let ticket, let error): mailbox.put(.refused(ticket, error))
        case .subscriptionRefused: break
        }
    }
}
