import JSON
public import MQTTTypes

/// A message for the broker, with its delivery rules.
public struct Publication: Equatable, Sendable {
    /// How a message is stored while the broker is away. Determines the retain flag as well.
    public enum Kind: Hashable, Sendable {
        /// Retained state: the latest of each topic is stored, and published on each connection.
        case fact
        /// A fact that has to reach the broker although the next fact of its topic follows at once. If that has to wait, both do.
        case step
        /// A fact that is published even if the broker already has it, for subscribers that may have missed it.
        case reminder
        /// Retained state of another bridge, which this one corrects: queued for at most `lifetime`, and not published
        /// again on later connections.
        case correction(lifetime: Duration)
        /// A single occurrence: queued for at most `lifetime` from its submission.
        case event(lifetime: Duration)
        /// The result of a command: queued for at most `lifetime` from its submission.
        case result(lifetime: Duration)
        /// One of many samples: dropped if it cannot be sent immediately.
        case stream

        /// Whether its messages have the retain flag.
        fileprivate var isRetained: Bool {
            switch self {
            case .fact, .step, .reminder, .correction: true
            case .event, .result, .stream: false
            }
        }
    }

    /// The message, as the client sends it.
    public internal(set) var message: MQTTMessage
    /// The delivery rules.
    public var kind: Kind
    /// Whether the topic is a response topic chosen by the sender of a command, which the broker may refuse.
    var isForRequester = false
    /// Identifies the gesture for its trace; `none` for all other messages.
    var gesture = GestureMark.none

    /// Creates a message.
    public init(
        topic: String, payload: [UInt8], qos: MQTTQoS = .atLeastOnce, kind: Kind, messageExpirySeconds: UInt32? = nil
    ) {
        message = MQTTMessage(
            topic: topic, payload: payload, qos: qos, isRetained: kind.isRetained,
            messageExpirySeconds: messageExpirySeconds)
        self.kind = kind
    }

    /// The topic.
    public var topic: String { message.topic }
    /// The payload; empty clears a retained topic.
    public var payload: [UInt8] { message.payload }

    /// Whether it has to reach the broker before the next fact of its topic.
    var isStep: Bool { if case .step = kind { true } else { false } }

    /// Whether it clears a retained topic.
    var isClearing: Bool { message.isRetained && payload.isEmpty }
}

extension Publication {
    /// A fact whose payload is a word or number.
    static func fact(_ topic: String, word: String, qos: MQTTQoS = .atLeastOnce) -> Publication {
        Publication(topic: topic, payload: Array(word.utf8), qos: qos, kind: .fact)
    }

    /// An empty fact, which clears the retained topic.
    static func noFact(_ topic: String) -> Publication {
        Publication(topic: topic, payload: [], kind: .fact)
    }

    /// A fact whose payload is a JSON document.
    static func fact(_ topic: String, _ document: some JSONDocument) -> Publication {
        Publication(topic: topic, payload: JSONText.bytes(of: document), kind: .fact)
    }

    /// A fact whose payload is an object with these members.
    static func fact(_ topic: String, members: (inout JSONWriter) -> Void) -> Publication {
        Publication(topic: topic, payload: JSONText.objectBytes(members), kind: .fact)
    }

    /// One of many samples, as an object with these members.
    static func stream(_ topic: String, members: (inout JSONWriter) -> Void) -> Publication {
        .stream(topic, payload: JSONText.objectBytes(members))
    }

    /// One of many samples, as a JSON document.
    static func stream(_ topic: String, _ document: some JSONDocument) -> Publication {
        .stream(topic, payload: JSONText.bytes(of: document))
    }

    /// One of many samples, which may be lost.
    static func stream(_ topic: String, payload: [UInt8]) -> Publication {
        Publication(topic: topic, payload: payload, qos: .atMostOnce, kind: .stream)
    }

    /// The same fact, to be published even if the broker already has it.
    var reminder: Publication {
        var copy = self
        if !isStep { copy.kind = .reminder }
        return copy
    }
}
