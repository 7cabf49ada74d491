import Bridge
import BrokerAccess
import Configuration
import EventLoop
import JSON
import Logging
import MQTT
import MQTTTypes
import Time

/// The state of the broker and of the bridge behind it.
struct BrokerFacts: Hashable, Sendable {
    /// The outcome of the connection.
    var contact: BrokerContact
    /// The addresses that were tried.
    var trials = AddressTrials()
    /// The tested topics; empty without a connection.
    var permissions: [TopicTrial] = []
    /// The broker's offer; nil without a connection.
    var abilities: BrokerAbilities?
    /// The retained `G/state`.
    var bridgeState: String?
    /// Whether the bridge answers; nil: its state is not `online`.
    var bridgePresence: BridgePresence?
    /// The retained `G/info`.
    var bridgeInfo: JSONValue?
    /// The retained `G/health`.
    var bridgeHealth: JSONValue?
    /// The retained message on Home Assistant's status topic.
    var homeAssistantStatus: String?
}

/// A test of one topic: a message is published to it while it is subscribed.
struct TopicTrial: Hashable, Sendable {
    /// The outcome of a test.
    enum Outcome: Hashable, Sendable {
        /// No answer yet.
        case pending
        /// The message was received again.
        case returned
        /// The broker rejected it, with this reason.
        case refused(String)
        /// The message came with this topic.
        case altered(String)
        /// The broker accepted the message, but did not deliver it.
        case swallowed
    }

    /// The topic.
    let topic: String
    /// The topic filter that an access control list needs to allow it.
    let rule: String
    /// Whether it is a topic of clients, which other trials use.
    var isOfClients = false
    /// The outcome.
    var outcome = Outcome.pending
}

/// Logs in as the bridge would, reads retained messages, and tests topics that no program uses.
struct BrokerProbe: Sendable {
    /// The configuration with broker and user name.
    let configuration: Settings
    /// For log records of the library.
    let log: Logger

    /// Connects to each node of a broker with several; empty if only one address is configured.
    @LoopActor
    func nodes() async -> [NodeContact] {
        guard configuration.mqtt.nodes.count > 1 else { return [] }
        var contacts: [NodeContact] = []
        for (host, port) in configuration.mqtt.nodes {
            var node = configuration
            (node.mqtt.hosts, node.mqtt.host, node.mqtt.port) = (nil, host, port)
            let session = BrokerSession(node, log: log)
            let contact = await session.connect()
            await session.close()
            let outcome = configuration.mqtt.tls == nil ? contact : contact.ofEncryption
            contacts.append(NodeContact(host: host, port: port, contact: outcome))
        }
        return contacts
    }

    /// Returns the facts; those that are not available are nil or empty.
    @LoopActor
    func facts() async -> BrokerFacts {
        let session = BrokerSession(configuration, log: log)
        let contact = await session.connect()
        var facts = BrokerFacts(contact: configuration.mqtt.tls == nil ? contact : contact.ofEncryption)
        facts.trials = AddressTrials(failures: session.failedAddresses, last: session.lastAddress)
        if case .accepted(let version) = contact {
            let refusal = await sessionRefusal(version)
            let abilities = await BrokerAbilityTrials(configuration: configuration, log: log).run(session.limits)
            facts.abilities = abilities
            // The rest needs QoS 1.
            if abilities.takesMessages { await read(session, &facts) }
            if let refusal { facts.contact = refusal }
        }
        await session.close()
        return facts
    }

    /// Begins a session that outlasts its connection, as the bridge does.
    ///
    /// - Returns: the refusal of the session; nil if there is none.
    @LoopActor
    private func sessionRefusal(_ version: MQTTVersion) async -> BrokerContact? {
        let name = BrokerSession.makeName()
        let session = BrokerSession(configuration, name: name, expiry: .seconds(1), log: log)
        let contact = await session.connect()
        await session.close()
        if case .failed(MQTTError.Code.sessionRefused.name, _) = contact { return contact }
        // With MQTT 3.1.1 it does not expire.
        guard version == .v311, case .accepted = contact else { return nil }
        let end = BrokerSession(configuration, name: name, log: log)
        _ = await end.connect()
        await end.close()
        return nil
    }

    @LoopActor
    private func read(_ session: BrokerSession, _ facts: inout BrokerFacts) async {
        let topics = session.topics
        let status = configuration.homeAssistant.statusTopic
        do throws(ClientFailure) {
            for message in try await session.snapshot(of: [topics.state, topics.info, topics.health, status]) {
                let text = String(decoding: message.payload, as: UTF8.self)
                switch message.topic {
                case topics.state: facts.bridgeState = text
                case topics.info: facts.bridgeInfo = JSONValue(payload: message.payload)
                case topics.health: facts.bridgeHealth = JSONValue(payload: message.payload)
                case status: facts.homeAssistantStatus = text
                default: break
                }
            }
            if facts.bridgeState == "online" { facts.bridgePresence = try await session.presence() }
            let isOnline = facts.bridgeState == "online" && facts.bridgePresence != .silent
            let trials = Self.trials(topics, configuration.homeAssistant, isBridgeOnline: isOnline)
            facts.permissions = await TopicTrials(session: session, trials: trials).run()
        } catch {
            facts.contact = .failed(code: error.code, text: error.text)
        }
    }

    /// One topic of each kind. A command is tested only if no bridge would answer it.
    private static func trials(
        _ topics: BridgeTopics, _ homeAssistant: Settings.HomeAssistant, isBridgeOnline: Bool
    ) -> [TopicTrial] {
        var trials = [
            TopicTrial(topic: topics.response("doctor"), rule: topics.everythingOfBridge),
            TopicTrial(topic: topics.tag("doctor", "probe/result"), rule: topics.everything(of: nil)),
            TopicTrial(topic: topics.answers(to: "doctor"), rule: topics.everythingOfClients, isOfClients: true),
        ]
        if !isBridgeOnline {
            trials.append(TopicTrial(topic: topics.tag("doctor", "probe/set"), rule: topics.tag("+", "+/set")))
        }
        if homeAssistant.discovery {
            let topic = "\(homeAssistant.prefix)/jacquard2mqtt/doctor/probe"
            trials.append(TopicTrial(topic: topic, rule: "\(homeAssistant.prefix)/#"))
        }
        return trials
    }
}

/// Publishes to topics that it subscribes to, and checks which messages it receives.
@LoopActor
struct TopicTrials {
    let session: BrokerSession
    private(set) var trials: [TopicTrial]
    private var tickets: [UInt64: Int] = [:]

    /// The time limit for a message to the broker and back.
    private static let patience = Duration.seconds(2)

    /// Creates tests that have not begun.
    init(session: BrokerSession, trials: [TopicTrial]) {
        self.session = session
        self.trials = trials
    }

    /// Runs all tests at the same time.
    func run() async -> [TopicTrial] {
        var copy = self
        await copy.perform()
        return copy.trials
    }

    private mutating func perform() async {
        session.subscribe(to: trials.map(\.topic))
        for index in trials.indices { tickets[session.publish(trials[index].topic, Self.payload(index))] = index }
        let deadline = Instant.now + Self.patience
        while isUnderWay, let signal = await session.next(until: deadline) { take(signal) }
        end(as: .swallowed)
    }

    /// Shows which message has come if the broker changes its topic.
    private static func payload(_ index: Int) -> String { "doctor \(index)" }

    private var isUnderWay: Bool { trials.contains { $0.outcome == .pending } }

    private mutating func take(_ signal: BrokerSession.Signal) {
        switch signal {
        case .message(let message):
            let payload = String(decoding: message.payload, as: UTF8.self)
            guard let index = trials.indices.first(where: { Self.payload($0) == payload }) else { break }
            trials[index].outcome = trials[index].topic == message.topic ? .returned : .altered(message.topic)
        case .refused(let ticket, let error):
            if let index = tickets[ticket] { trials[index].outcome = .refused(error.code.name) }
        // Some versions of mosquitto close the connection after a forbidden message.
        case .lost(let error): end(as: .refused(error.code.name))
        case .connected, .taken, .interrupted: break
        }
    }

    private mutating func end(as outcome: TopicTrial.Outcome) {
        for index in trials.indices where trials[index].outcome == .pending { trials[index].outcome = outcome }
    }
}
