import Bridge
import BrokerAccess
import Configuration
import EventLoop
import Logging
import MQTT
import MQTTTypes
import Time

/// The bridge's needs of a broker: what the broker announces, and what has come of trying it.
struct BrokerAbilities: Hashable, Sendable {
    /// Something that the bridge needs.
    enum Ability: Hashable, Sendable, CaseIterable {
        case acknowledgedMessages, retainedMessages, will, subscriptions, emptyMessages
        /// A message as large as the largest announcement.
        case largeMessages
    }

    /// The outcome of a trial.
    enum Outcome: Hashable, Sendable {
        case works
        /// The broker has refused it, or has ended the connection; the text says how.
        case refused(String)
        /// Nothing has come; the topics may be forbidden.
        case nothing
    }

    /// The limits that the broker has announced (MQTT 5).
    var limits = BrokerLimits()
    /// The trials.
    var outcomes: [Ability: Outcome] = [:]
    /// The size of the large message.
    var bytes = 0

    /// Whether a subscription ends the connection.
    var refusesSubscriptions: Bool {
        if case .refused = outcomes[.subscriptions] { true } else { false }
    }

    /// Whether messages can be published and received as the bridge does it.
    var takesMessages: Bool {
        guard limits.maximumQoS > 0, !refusesSubscriptions else { return false }
        return if case .refused = outcomes[.acknowledgedMessages] { false } else { true }
    }
}

/// Tries each ability on a connection of its own, because a broker may end it, and MQTT 3.1.1 has no other answer.
@LoopActor
struct BrokerAbilityTrials {
    let configuration: Settings
    let log: Logger

    /// The time limit for a message to the broker and back.
    private static let patience = Duration.seconds(2)

    /// Runs all trials, one after the other.
    ///
    /// - Parameter limits: what the broker has announced. What it excludes is not tried.
    /// - Returns: the outcomes.
    func run(_ limits: BrokerLimits) async -> BrokerAbilities {
        var abilities = BrokerAbilities(limits: limits)
        abilities.bytes = configuration.homeAssistant.largestAnnouncement
        let qos = limits.maximumQoS > 0 ? MQTTQoS.atLeastOnce : .atMostOnce
        if qos == .atLeastOnce {
            let outcome = await loop("qos", Array("doctor".utf8), qos)
            // If QoS 0 fails as well, it is a matter of the topics.
            let isOther = outcome == .works ? false : await loop("qos", Array("doctor".utf8), .atMostOnce) != .works
            abilities.outcomes[.acknowledgedMessages] = isOther ? .nothing : outcome
        }
        if limits.isRetainAvailable { abilities.outcomes[.retainedMessages] = await retained() }
        abilities.outcomes[.will] = await will()
        abilities.outcomes[.subscriptions] = await subscriptions()
        let largest = abilities.takesMessages ? qos : .atMostOnce
        abilities.outcomes[.emptyMessages] = await loop("empty", [], largest)
        if abilities.bytes > 0 {
            let payload = [UInt8](repeating: UInt8(ascii: "x"), count: abilities.bytes)
            abilities.outcomes[.largeMessages] = await loop("large", payload, largest)
        }
        return abilities
    }

    /// Publishes a message to a topic that it subscribes to.
    private func loop(_ name: String, _ payload: [UInt8], _ qos: MQTTQoS) async -> BrokerAbilities.Outcome {
        await withSession { session in
            let topic = session.answers + "/" + name
            session.subscribe(to: [topic])
            let ticket = session.send(MQTTMessage(topic: topic, payload: payload, qos: qos))
            return await wait(session, for: topic, ticket)
        }
    }

    /// Publishes a retained message, and subscribes to its topic afterwards, twice if nothing comes: a cluster may store it late.
    private func retained() async -> BrokerAbilities.Outcome {
        await withSession { session in
            let topic = session.answers + "/retained"
            let message = MQTTMessage(topic: topic, payload: Array("doctor".utf8), isRetained: true)
            let ticket = session.send(message)
            session.subscribe(to: [topic])
            var outcome = await wait(session, for: topic, ticket)
            if outcome == .nothing {
                session.unsubscribe(from: [topic])
                session.subscribe(to: [topic])
                outcome = await wait(session, for: topic, ticket)
            }
            if outcome == .works {
                _ = session.send(MQTTMessage(topic: topic, payload: [], isRetained: true))
            }
            return outcome
        }
    }

    /// Ends a connection without a word, and waits for its will.
    private func will() async -> BrokerAbilities.Outcome {
        await withSession { session in
            let topic = session.answers + "/will"
            session.subscribe(to: [topic])
            // A broker may serve connections side by side: a will that overtakes the subscription does not come.
            let ticket = session.send(MQTTMessage(topic: topic, payload: Array("subscribed".utf8)))
            if case .refused(let text) = await wait(session, for: topic, ticket) { return .refused(text) }
            let message = MQTTMessage(topic: topic, payload: Array("doctor".utf8))
            let other = BrokerSession(configuration, will: message, log: log)
            if case .failed(_, let text) = await other.connect() {
                await other.close()
                return .refused(text)
            }
            await other.abandon()
            return await wait(session, for: topic, nil)
        }
    }

    /// Subscribes as the bridge does, to one filter after the other.
    private func subscriptions() async -> BrokerAbilities.Outcome {
        await withSession(isCareful: true) { session in
            var filters = session.topics.filters
            if !configuration.groups.isEmpty { filters += session.topics.groupFilters }
            if configuration.homeAssistant.discovery { filters.append(configuration.homeAssistant.statusTopic) }
            let topic = session.answers + "/subscriptions"
            session.subscribe(to: filters + [topic])
            // Leaves when the last subscription is answered, and comes only then.
            let ticket = session.send(MQTTMessage(topic: topic, payload: Array("doctor".utf8)))
            return await wait(session, for: topic, ticket, isSubscription: true)
        }
    }

    private func withSession(
        isCareful: Bool = false, _ body: (BrokerSession) async -> BrokerAbilities.Outcome
    ) async -> BrokerAbilities.Outcome {
        let session = BrokerSession(configuration, isCareful: isCareful, log: log)
        if case .failed(_, let text) = await session.connect() {
            await session.close()
            return .refused(text)
        }
        let outcome = await body(session)
        await session.close()
        return outcome
    }

    private func wait(
        _ session: BrokerSession, for topic: String, _ ticket: UInt64?, isSubscription: Bool = false
    ) async -> BrokerAbilities.Outcome {
        let deadline = Instant.now + Self.patience
        while let signal = await session.next(until: deadline) {
            switch signal {
            // A broker may write the topic in another way; see the check of the topics.
            case .message(let message) where message.topic.utf8.count == topic.utf8.count: return .works
            case .refused(let refused, let error) where refused == ticket: return .refused(error.text)
            case .lost(let error):
                // Behind answered subscriptions it was the message.
                let isOther = isSubscription && error.code != .subscriptionEndsConnection
                return isOther ? .works : .refused(error.text)
            case .interrupted: return .nothing
            case .message, .connected, .taken, .refused: break
            }
        }
        return .nothing
    }
}

extension Settings.HomeAssistant {
    /// The size of the largest announcement; 0 if there is none.
    var largestAnnouncement: Int {
        guard discovery else { return 0 }
        return announcesDevices ? AnnouncementSize.device : AnnouncementSize.single
    }
}

/// Checks that the broker offers what the bridge needs.
enum BrokerLimitsCheck {
    /// Reports what is missing.
    static func finding(_ facts: BrokerFacts, _ homeAssistant: Settings.HomeAssistant) -> Finding {
        guard let abilities = facts.abilities else {
            return Finding(.brokerLimits, .skipped, "the broker could not be reached or does not accept the login")
        }
        // The trials need these topics.
        let isForbidden = facts.permissions.contains { trial in
            if trial.isOfClients, case .refused = trial.outcome { true } else { false }
        }
        if case .refused(let reason) = abilities.outcomes[.subscriptions] {
            return Finding(
                .brokerLimits, .failed, "subscriptions fail: \(reason)",
                remedies: ["look at the broker's log: an access list or a limit may end the connection"])
        }
        guard !isForbidden, abilities.outcomes[.acknowledgedMessages] != .nothing else {
            return Finding(.brokerLimits, .skipped, "not tried: the topics of clients cannot be used")
        }
        var failures: [(text: String, remedy: String)] = []
        let limits = abilities.limits
        func note(_ isMissing: Bool, _ ability: BrokerAbilities.Ability, _ name: String, _ remedy: String) {
            if isMissing {
                failures.append(("it announces that it has no \(name)", remedy))
            } else if let text = text(abilities.outcomes[ability], name) {
                failures.append((text, remedy))
            }
        }
        note(
            limits.maximumQoS == 0, .acknowledgedMessages, "messages of QoS 1",
            "set max_qos to 1 or 2 in mosquitto.conf, or use a broker with QoS 1")
        note(
            !limits.isRetainAvailable, .retainedMessages, "retained messages",
            "set retain_available to true in mosquitto.conf, or use a broker that keeps retained messages")
        note(false, .will, "wills", "use a broker that publishes the will of a client whose connection breaks")
        note(
            !limits.hasWildcards, .subscriptions, "subscriptions with wildcards",
            "look at the broker's log: an access list or a limit may end the connection")
        note(
            false, .emptyMessages, "messages without a payload",
            "send {} as the payload of commands that need none; use another broker to remove retained messages")
        if let size = size(abilities, homeAssistant) { failures.append(size) }
        guard !failures.isEmpty else {
            let size = abilities.bytes > 0 ? ", and of \(abilities.bytes) bytes" : ""
            return Finding(.brokerLimits, .ok, "QoS 1, retained messages, wills and messages without a payload\(size)")
        }
        return Finding(
            .brokerLimits, .failed, failures.map(\.text).joined(separator: "; "), remedies: failures.map(\.remedy))
    }

    private static func text(_ outcome: BrokerAbilities.Outcome?, _ name: String) -> String? {
        switch outcome {
        case nil, .works: nil
        case .refused(let reason): "\(name) fail: \(reason)"
        case .nothing: "\(name) fail: one was sent, and nothing came"
        }
    }

    private static func size(
        _ abilities: BrokerAbilities, _ homeAssistant: Settings.HomeAssistant
    ) -> (text: String, remedy: String)? {
        let bytes = abilities.bytes
        let limit = abilities.limits.maximumPacketSize.flatMap { $0 < bytes ? $0 : nil }
        let reason = limit.map { "it announces that it takes at most \($0) bytes" }
        guard bytes > 0, let text = reason ?? text(abilities.outcomes[.largeMessages], "messages of \(bytes) bytes")
        else { return nil }
        let isSmaller = homeAssistant.announcesDevices && limit ?? .max > AnnouncementSize.single
        let what = "announcements to Home Assistant have up to \(bytes)"
        return (
            "\(text); \(what)",
            (isSmaller ? "set home_assistant: {form: single}, whose messages have about 1,000 bytes, or " : "")
                + "raise the broker's limit (max_packet_size in mosquitto.conf)"
        )
    }
}
