public import Bridge
import CommandLine
public import Configuration
public import EventLoop
public import Logging
public import MQTT
public import MQTTTypes
public import Time

/// A short-lived MQTT session with a random client ID.
@LoopActor
public final class BrokerSession {
    /// An event of the session.
    public enum Signal: Sendable {
        /// Connected or reconnected.
        case connected(MQTTVersion)
        /// The connection failed or was lost.
        case lost(MQTTError)
        /// A message was received.
        case message(MQTTMessage)
        /// The broker accepted the publication with this ticket.
        case taken(UInt64)
        /// The broker rejected the publication with this ticket.
        case refused(UInt64, MQTTError)
        /// The user pressed Ctrl-C.
        case interrupted
    }

    /// The time limit for connecting, and for an answer of the broker.
    public static let patience = Duration.seconds(5)

    /// The topics of the configured bridge, or of the one that was found instead.
    public private(set) var topics: BridgeTopics
    /// The response topic of this session (MQTT 5).
    public let answers: String
    private let client: MQTTClient
    private let broker: String
    private let mailbox = Mailbox<Signal>()
    private var isInterrupted = false
    /// Whether the client tries another node of the broker, or another version, without a pause.
    private var isRetriedAtOnce = false
    private var lastTicket: UInt64 = 0
    /// The protocol version of the connection.
    public private(set) var version = MQTTVersion.v5

    /// The addresses of the broker's name at which the last attempt has failed, in order.
    public private(set) var failedAddresses: [MQTTAddressFailure] = []
    /// The address of the last attempt.
    public private(set) var lastAddress: String?

    /// Creates a client ID that no other session has.
    public static func makeName() -> String {
        "jacquard-client-" + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Creates a session with the broker of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: the broker and the topics.
    ///   - name: the client ID.
    ///   - expiry: how long the broker keeps the session after the connection.
    ///   - will: the will; nil: none.
    ///   - isCareful: whether each SUBSCRIBE has one filter, so that one that ends the connection is named.
    ///   - log: the logger.
    public init(
        _ configuration: Settings, name: String = BrokerSession.makeName(), expiry: Duration = .zero,
        will: MQTTMessage? = nil, isCareful: Bool = false, log: Logger
    ) {
        topics = BridgeTopics(configuration)
        answers = topics.answers(to: name)
        var settings = MQTTConfiguration(configuration, identifier: name)
        settings.sessionExpiry = expiry
        settings.will = will
        settings.subscribesCarefully = isCareful
        // Ends before the wait for it.
        settings.connectDeadline = settings.nodes.count > 1 ? Self.patience / 2 : Self.patience * 4 / 5
        broker = settings.description
        client = MQTTClient(configuration: settings, log: log)
    }

    /// The limits that the broker has announced.
    public var limits: BrokerLimits { client.limits }

    /// Connects.
    ///
    /// - Throws: `noConnection` at the first permanent error, at the latest after ``patience``.
    public func open() async throws(ClientFailure) {
        let contact = await connect()
        guard !isInterrupted else { throw .interrupted }
        guard case .failed(let code, let text) = contact else { return }
        throw ClientFailure(
            exitCode: .noConnection, code: code, text: "There is no connection to the broker \(broker): \(text)",
            hint: "jacquard2mqtt doctor")
    }

    /// Connects, and returns the outcome, after ``patience`` at the latest. A server that is silent to MQTT 5 gets as much time for
    /// the other version.
    public func connect() async -> BrokerContact {
        client.onEvent = { [unowned self] in brokerReported($0) }
        client.start()
        var deadline = Instant.now + Self.patience
        var hasBeenSilent = false
        var contact = BrokerContact.silent
        while let signal = await mailbox.next(until: deadline) {
            switch signal {
            case .connected(let version):
                self.version = version
                return .accepted(version)
            case .lost(let error):
                // Of equal failures the first one is reported, as in the log of the bridge.
                if !contact.isFailure(error.code) || contact == .silent { contact = BrokerContact(error) }
                let isSilent = error.code == .timeout
                if !isRetriedAtOnce, error.isDefinite || isSilent { return contact }
                if isSilent, !hasBeenSilent { (hasBeenSilent, deadline) = (true, .now + Self.patience) }
            case .interrupted:
                isInterrupted = true
                return contact
            case .message, .taken, .refused: break
            }
        }
        return contact
    }

    /// Subscribes at QoS 0, so that the broker's in-flight limit does not delay retained messages.
    public func subscribe(to filters: [String]) {
        guard !filters.isEmpty else { return }
        client.subscribe(
            to: filters.compactMap { text in (try? MQTTTopicFilter(text)).map { ($0, MQTTQoS.atMostOnce) } })
    }

    /// Looks for the only bridge that is online, for a configuration that names none.
    ///
    /// - Returns: its name, whose topics the session has from then on; nil if the derived name is that of a bridge, or if none
    ///   or several others are online.
    /// - Throws: `noConnection` if the broker does not answer.
    public func findBridge() async throws(ClientFailure) -> String? {
        let messages = try await snapshot(of: [topics.state, topics.stateOfEveryBridge])
        unsubscribe(from: [topics.stateOfEveryBridge])
        let states = messages.filter { !$0.payload.isEmpty }.compactMap { message in
            topics.instance(ofStateTopic: message.topic).map { ($0, message.payload == Array("online".utf8)) }
        }
        let bridges = Dictionary(states) { $1 }
        var online = bridges.filter(\.value).keys.sorted()
        guard bridges[topics.instance] == nil else { return nil }
        if online.count > 1 {
            // Some of them may be online by their last message only.
            let asked = try await presences(of: online.map { BridgeTopics(base: topics.base, instance: $0) })
            online.removeAll { asked[$0] == .silent }
        }
        guard online.count == 1, let found = online.first else { return nil }
        topics = BridgeTopics(base: topics.base, instance: found)
        return found
    }

    /// Ends subscriptions.
    public func unsubscribe(from filters: [String]) {
        filters.compactMap { try? MQTTTopicFilter($0) }.forEach(client.unsubscribe)
    }

    /// Publishes at QoS 1.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - payload: a document or a bare word.
    ///   - correlation: the correlation data of the response (MQTT 5); nil: no response is expected.
    /// - Returns: the ticket that identifies the broker's answer. Without a connection there is no answer.
    @discardableResult
    public func publish(_ topic: String, _ payload: String = "", correlation: String? = nil) -> UInt64 {
        var message = MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce)
        if let correlation, version == .v5 {
            message.responseTopic = answers
            message.correlationData = Array(correlation.utf8)
        }
        return send(message)
    }

    /// Publishes a message.
    ///
    /// - Returns: the ticket that identifies the broker's answer. Without a connection there is no answer.
    public func send(_ message: MQTTMessage) -> UInt64 {
        lastTicket += 1
        do throws(MQTTError) {
            try client.publish(message, ticket: lastTicket)
        } catch {
            // The signal `lost` reports a missing connection.
            if error.code != .notConnected { mailbox.put(.refused(lastTicket, error)) }
        }
        return lastTicket
    }

    /// Removes the retained message of a topic.
    ///
    /// - Returns: the ticket that identifies the broker's answer.
    public func clear(_ topic: String) -> UInt64 {
        send(MQTTMessage(topic: topic, payload: [], qos: .atLeastOnce, isRetained: true))
    }

    /// Subscribes, and waits until all retained messages have been received, and all others that the broker has sent before.
    ///
    /// A broker answers in order: it sends the retained messages of a subscription before its answer to a later publication,
    /// even if it rejects that. The publication goes to ``answers``, to which no other client subscribes.
    ///
    /// - Returns: all messages that were received meanwhile.
    /// - Throws: `noConnection` if the broker does not answer.
    public func snapshot(of filters: [String]) async throws(ClientFailure) -> [MQTTMessage] {
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

    /// Waits for the next signal.
    ///
    /// - Returns: nil at the deadline.
    public func next(until deadline: Instant?) async -> Signal? {
        await mailbox.next(until: deadline)
    }

    /// Ends a wait for signals.
    public func interrupt() {
        mailbox.put(.interrupted)
    }

    /// Disconnects, and waits until the broker has everything that was published, but at most this long.
    public func close(within limit: Duration = .seconds(1)) async {
        client.onEvent = nil
        await client.stop(within: limit)
    }

    /// Ends the connection without telling the broker, which then publishes the will.
    public func abandon() async {
        client.onEvent = nil
        await client.abandon()
    }

    private func noteAddresses() {
        (failedAddresses, lastAddress) = (client.failedAddresses, client.lastAddress)
    }

    private func brokerReported(_ event: MQTTEvent) {
        switch event {
        case .connected(let session):
            noteAddresses()
            mailbox.put(.connected(session.version))
        case .disconnected(let error, let pause):
            isRetriedAtOnce = pause == .zero
            noteAddresses()
            mailbox.put(.lost(error))
        case .message(let message): mailbox.put(.message(message))
        case .acknowledged(let ticket, _): mailbox.put(.taken(ticket))
        case .rejected(let ticket, let error): mailbox.put(.refused(ticket, error))
        case .subscriptionRefused, .subscriptionGranted: break
        }
    }
}
