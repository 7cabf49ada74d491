import JSON

/// One message for the broker, with what has to happen to it while the broker is away.
public struct Publication: Hashable, Sendable {
    /// The four fates of a message; they also decide about the retain flag.
    public enum Kind: Hashable, Sendable {
        /// True until told otherwise: retained; the latest of each topic is kept, and published on each connection.
        case fact
        /// A fact that somebody may have missed: goes out even when the broker has it already.
        case reminder
        /// Happened once: waits its turn for so long, counted from its submission.
        case event(lifetime: Duration)
        /// The answer to a command: waits its turn for so long, counted from its submission.
        case result(lifetime: Duration)
        /// One of many samples: dropped when it cannot go out at once.
        case stream
    }

    /// Where to.
    public var topic: String
    /// What; empty clears a retained topic.
    public var payload: [UInt8]
    /// 0 or 1.
    public var qos: UInt8
    /// Its fate.
    public var kind: Kind
    /// MQTT 5: the broker drops it when it is older, in seconds; nil for no limit.
    public var messageExpirySeconds: UInt32?
    /// MQTT 5: the bytes by which the asker of a command knows its answer.
    public var correlationData: [UInt8]?
    /// Whether the asker of a command has chosen the topic: whether it is allowed there is no concern of the bridge.
    var isForAsker = false

    /// Describes a message.
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
        self.correlationData = correlationData
    }

    /// Whether it has the retain flag: facts do, nothing else does.
    public var isRetained: Bool { kind == .fact || kind == .reminder }

    /// Whether it takes back what the broker has retained.
    var isClearing: Bool { isRetained && payload.isEmpty }
}

extension Publication {
    /// A fact whose payload is one word or number as it is.
    static func fact(_ topic: String, word: String, qos: UInt8 = 1) -> Publication {
        Publication(topic: topic, payload: Array(word.utf8), qos: qos, kind: .fact)
    }

    /// A fact that is no more: the broker forgets what it has retained.
    static func noFact(_ topic: String) -> Publication {
        Publication(topic: topic, payload: [], kind: .fact)
    }

    /// A fact whose payload is a JSON document.
    static func fact(_ topic: String, _ document: some Encodable) -> Publication {
        Publication(topic: topic, payload: JSONText.bytes(of: document), kind: .fact)
    }

    /// The same, whether or not the broker has it.
    var reminder: Publication {
        var copy = self
        copy.kind = .reminder
        return copy
    }
}
