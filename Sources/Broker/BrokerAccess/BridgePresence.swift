public import Bridge
import EventLoop
import JSON
import MQTT
public import MQTTTypes
import Time

/// Whether a bridge answers whose last message says `online`.
///
/// A broker keeps that message for good if it was away when the bridge ended, so that the bridge's will was never published.
public enum BridgePresence: Hashable, Sendable {
    /// The bridge answers.
    case answers
    /// The broker has taken the request, and the bridge does not answer it.
    case silent
    /// The broker does not let this user ask.
    case unknown
}

/// The cause of a bridge that is online by its last message and does not answer: the same words for every command.
public enum SilentBridge {
    /// How long a bridge has for its answer.
    public static let patience = Duration.seconds(3)
    /// The state of such a bridge, for people.
    public static let state = "online by its last message, does not answer"
    /// The remedies, the most likely one first.
    public static let remedies = [
        "start it again: sudo systemctl restart jacquard2mqtt", "if it will not be started again: jacquard2mqtt clear",
    ]
}

extension BrokerSession {
    /// Asks the configured bridge whether it is there.
    public func presence() async throws(ClientFailure) -> BridgePresence {
        try await presences(of: [topics])[topics.instance] ?? .unknown
    }

    /// Asks several bridges at once.
    ///
    /// - Parameter bridges: the topics of each.
    /// - Returns: by their names; all of them.
    /// - Throws: `noConnection` and `interrupted`.
    public func presences(of bridges: [BridgeTopics]) async throws(ClientFailure) -> [String: BridgePresence] {
        var poll = PresencePoll(bridges, token: "ask-" + String(UInt64.random(in: .min ... .max), radix: 36))
        // A broker of version 3.1.1 does not say whether it has taken a message: then it has to come back.
        let isSilent = version != .v5
        subscribe(to: [answers] + bridges.flatMap { poll.filters($0, withEcho: isSilent) })
        var tickets: [UInt64: String] = [:]
        for bridge in bridges {
            let (id, document) = (poll.id(of: bridge.instance), poll.document(for: bridge.instance))
            tickets[publish(bridge.request(PresencePoll.verb), document, correlation: id)] = bridge.instance
        }
        defer { unsubscribe(from: bridges.flatMap { poll.filters($0, withEcho: isSilent) }) }
        let deadline = Instant.now + SilentBridge.patience
        while poll.isOpen, let signal = await next(until: deadline) {
            switch signal {
            case .message(let message): poll.received(message)
            case .taken(let ticket): if !isSilent { tickets[ticket].map { poll.taken($0) } }
            case .refused(let ticket, _): tickets[ticket].map { poll.refused($0) }
            case .lost(let error): throw .lost(error.text)
            case .interrupted: throw .interrupted
            case .connected: break
            }
        }
        return poll.result
    }
}

/// Questions to bridges, and what is known about their answers.
public struct PresencePoll: Sendable {
    /// A request that changes nothing and that the bridge answers at once.
    public static let verb = "health"

    private let topics: [String: BridgeTopics]
    private let token: String
    private var found: [String: BridgePresence] = [:]
    private var delivered: Set<String> = []

    /// Creates a poll without answers.
    ///
    /// - Parameters:
    ///   - bridges: the topics of each bridge.
    ///   - token: distinguishes this poll from others.
    public init(_ bridges: [BridgeTopics], token: String) {
        topics = Dictionary(bridges.map { ($0.instance, $0) }) { first, _ in first }
        self.token = token
    }

    /// The `id` of the request to a bridge.
    func id(of instance: String) -> String { "\(token)-\(instance)" }

    /// The payload of the request to a bridge.
    public func document(for instance: String) -> String { JSONValue.object(["id": .string(id(of: instance))]).text }

    /// The topics on which the answer can arrive, and with an echo that of the request.
    func filters(_ bridge: BridgeTopics, withEcho: Bool) -> [String] {
        [bridge.response(Self.verb)] + (withEcho ? [bridge.request(Self.verb)] : [])
    }

    /// Whether an answer is missing.
    var isOpen: Bool { found.count < topics.count }

    /// The broker has taken the request.
    public mutating func taken(_ instance: String) { delivered.insert(instance) }

    /// The broker has refused the request.
    public mutating func refused(_ instance: String) { found[instance] = .unknown }

    /// The bridge has published a message. It is there, whether it answers or not.
    public mutating func heard(_ instance: String) { if topics[instance] != nil { found[instance] = .answers } }

    /// Takes an answer, or the request itself.
    ///
    /// - Returns: whether the message belongs to this poll.
    @discardableResult
    public mutating func received(_ message: MQTTMessage) -> Bool {
        guard !message.isRetained else { return false }
        let id = JSONValue(payload: message.payload)["id"]?.string
        let correlation = message.correlationData.map { String(decoding: $0, as: UTF8.self) }
        guard let topics = topics.values.first(where: { [id, correlation].contains(self.id(of: $0.instance)) }) else {
            return false
        }
        if message.topic == topics.request(Self.verb) {
            delivered.insert(topics.instance)
        } else {
            found[topics.instance] = .answers
        }
        return true
    }

    /// The result.
    public var result: [String: BridgePresence] {
        topics.mapValues { found[$0.instance] ?? (delivered.contains($0.instance) ? .silent : .unknown) }
    }
}
