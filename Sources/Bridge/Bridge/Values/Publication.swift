import JSON

/// A message for the broker, with its delivery rules.
public struct Publication: Equatable, Sendable {
    /// How a message is stored while the broker is away. Determines the retain flag as well.
    public enum Kind: Hashable, Sendable {
        /// Retained state: the latest of each topic is stored, and published on each connection.
        case fact
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
    }

    /// The topic.
    public var topic: String
    /// The payload; empty clears a retained topic.
    public var payload: [UInt8]
    /// 0 or 1.
    public var qos: UInt8
    /// Whether the topic is a response topic chosen by the sender of a command, which the broker may refuse.
    var isForRequester = false
    /// The delivery rules.
    public var kind: Kind
    /// MQTT 5: the broker drops the message after this many seconds; nil for no limit.
    public var messageExpirySeconds: UInt32?
    /// At most one property of MQTT 5: a result has no trace, and a gesture no correlation data. Publications are copied
    /// several times on the path of a gesture, and are therefore small.
    private enum Property: Hashable, Sendable {
        case none
        case correlationData([UInt8])
        case traceParent([UInt8])
    }
    /// Identifies the gesture for its trace; `none` for all other messages.
    var gesture = GestureMark.none
    private var property = Property.none

    /// Creates a message.
    public init(
        topic: String,
        payload: [UInt8],
        qos: UInt8 = 1,
        kind: Kind,
        messageExpirySeconds: UInt32? = nil,
        correlationData: [UInt8]? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.kind = kind
        self.messageExpirySeconds = messageExpirySeconds
        if let correlationData { property = .correlationData(correlationData) }
    }

    /// MQTT 5: correlation data of the command.
    public var correlationData: [UInt8]? {
        get { if case .correlationData(let data) = property { data } else { nil } }
        set { property = newValue.map { .correlationData($0) } ?? .none }
    }

    /// MQTT 5: the value of the user property `traceparent` (W3C Trace Context); nil for none. It takes the place of
    /// correlation data.
    public internal(set) var traceParent: [UInt8]? {
        get { if case .traceParent(let value) = property { value } else { nil } }
        set { property = newValue.map { .traceParent($0) } ?? .none }
    }

    /// Whether it has the retain flag.
    public var isRetained: Bool {
        switch kind {
        case .fact, .reminder, .correction: true
        case .event, .result, .stream: false
        }
    }

    /// Whether it clears a retained topic.
    var isClearing: Bool { isRetained && payload.isEmpty }
}

extension Publication {
    /// A fact whose payload is a word or number.
    static func fact(_ topic: String, word: String, qos: UInt8 = 1) -> Publication {
        Publication(topic: topic, payload: Array(word.utf8), qos: qos, kind: .fact)
    }

    /// An empty fact, which clears the retained topic.
    static func noFact(_ topic: String) -> Publication {
        Publication(topic: topic, payload: [], kind: .fact)
    }

    /// A fact whose payload is a JSON document.
    static func fact(_ topic: String, _ document: some Encodable) -> Publication {
        Publication(topic: topic, payload: JSONText.bytes(of: document), kind: .fact)
    }

    /// The same fact, to be published even if the broker already has it.
    var reminder: Publication {
        var copy = self
        copy.kind = .reminder
        return copy
    }
}

/// A message that the broker delivered for one of ``BridgeState/subscriptions``.
public struct IncomingMessage: Hashable, Sendable {
    /// The topic.
    public var topic: String
    /// Arbitrary bytes.
    public var payload: [UInt8]
    /// Whether it has the retain flag.
    public var isRetained: Bool
    /// MQTT 5: an additional topic for the result.
    public var responseTopic: String?
    /// MQTT 5: returned unchanged with the result.
    public var correlationData: [UInt8]?
    /// MQTT 5: the remaining message expiry in seconds; limits the lifetime as `ttl_ms` does.
    public var messageExpirySeconds: UInt32?

    /// Creates a message.
    public init(
        topic: String,
        payload: [UInt8],
        isRetained: Bool = false,
        responseTopic: String? = nil,
        correlationData: [UInt8]? = nil,
        messageExpirySeconds: UInt32? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.responseTopic = responseTopic
        self.correlationData = correlationData
        self.messageExpirySeconds = messageExpirySeconds
    }
}
