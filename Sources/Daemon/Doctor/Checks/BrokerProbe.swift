import Bridge
import Configuration
import EventLoop
import JSON
import Logging
import MQTT

/// What was found out about the broker.
struct BrokerFacts: Hashable, Sendable {
    /// What became of the connection.
    var contact: BrokerContact
    /// What came of a message to each topic that was tried; empty if the broker was not reached.
    var permissions: [TopicTrial] = []
    /// `G/state`, if it is retained.
    var bridgeState: String?
    /// `G/info`, if it is retained.
    var bridgeInfo: JSONValue?
    /// `G/health`, if it is retained.
    var bridgeHealth: JSONValue?
    /// What Home Assistant retains on its status topic, if anything.
    var homeAssistantStatus: String?
}

/// What came of a message that was published to a topic, with a subscription to it.
struct TopicTrial: Hashable, Sendable {
    /// What came of it.
    enum Outcome: Hashable, Sendable {
        /// Nothing yet.
        case pending
        /// It came back.
        case returned
        /// The broker has refused it, with its word for the reason.
        case refused(String)
        /// The broker has taken it and it did not come back: one of the two is silently forbidden.
        case swallowed
    }

    /// The topic that was tried.
    let topic: String
    /// The filter of the broker's access control list that would allow it.
    let rule: String
    /// What came of it.
    var outcome = Outcome.pending
}

/// Logs in as the bridge would, looks, and tries topics that mean nothing to anybody.
struct BrokerProbe: Sendable {
    /// Which broker, and the user name.
    let configuration: Settings
    /// For what the library reports.
    let log: Logger

    /// Gathers the facts; what cannot be asked is left out.
    @LoopActor
    func facts() async -> BrokerFacts {
        let session = BrokerSession(configuration, log: log)
        let contact = await session.connect()
        var facts = BrokerFacts(contact: configuration.mqtt.tls == nil ? contact : contact.ofEncryption)
        if case .accepted = contact { await look(session, &facts) }
        await session.close()
        return facts
    }

    @LoopActor
    private func look(_ session: BrokerSession, _ facts: inout BrokerFacts) async {
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
            let trials = Self.trials(topics, configuration.homeAssistant, isBridgeOnline: facts.bridgeState == "online")
            facts.permissions = await TopicTrials(session: session, trials: trials).outcome()
        } catch {
            facts.contact = .failed(code: error.code, text: error.text)
        }
    }

    /// One topic of each kind. A command is tried only while no bridge would answer it.
    private static func trials(
        _ topics: BridgeTopics, _ homeAssistant: Settings.HomeAssistant, isBridgeOnline: Bool
    ) -> [TopicTrial] {
        var trials = [
            TopicTrial(topic: topics.response("doctor"), rule: topics.everythingOfBridge),
            TopicTrial(topic: topics.tag("doctor", "probe/result"), rule: topics.everything(of: nil)),
            TopicTrial(topic: topics.answers(to: "doctor"), rule: topics.everythingOfClients),
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
