/// The quality of service. QoS 2 is not used by the bridge.
public enum MQTTQoS: UInt8, Sendable, Hashable {
    /// QoS 0: sent once; may be lost.
    case atMostOnce = 0
    /// QoS 1: acknowledged; may be duplicated.
    case atLeastOnce = 1
}

/// A user property of MQTT 5: a name and a value, without a meaning for the broker. One word in size, because it is an
/// argument of every publication.
public struct MQTTUserProperty: Sendable, Hashable {
    private let words: [String]

    /// The name.
    public var name: String { words[0] }
    /// The value.
    public var value: String { words[1] }

    /// Creates a property.
    public init(_ name: String, _ value: String) {
        words = [name, value]
    }
}

/// A message to publish, or a received one.
///
/// The last three fields exist in MQTT 5 only. With 3.1.1 they are not sent, and nil in received messages.
public struct MQTTMessage: Sendable, Hashable {
    /// Topic name, 1 to 65,535 bytes, without wildcards and control characters.
    public var topic: String
    /// The payload. An empty retained message deletes the broker's retained message.
    public var payload: [UInt8]
    /// Quality of service.
    public var qos: MQTTQoS
    /// The retain flag. In a received message: as set by the sender (MQTT 5), or whether it was retained (3.1.1).
    public var isRetained: Bool
    /// The message expiry interval in seconds. In a received message, the remaining time.
    public var messageExpirySeconds: UInt32?
    /// The topic for the response to a request.
    public var responseTopic: String?
    /// Data that the response to a request must contain, at most 65,535 bytes.
    public var correlationData: [UInt8]?

    /// Creates a message.
    public init(
        topic: String, payload: [UInt8], qos: MQTTQoS = .atMostOnce, isRetained: Bool = false,
        messageExpirySeconds: UInt32? = nil, responseTopic: String? = nil, correlationData: [UInt8]? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.messageExpirySeconds = messageExpirySeconds
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }
}
