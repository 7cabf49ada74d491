/// How hard the sender tries. The contract of the bridge does without QoS 2.
public enum MQTTQoS: UInt8, Sendable, Hashable {
    /// QoS 0: written once, perhaps lost.
    case atMostOnce = 0
    /// QoS 1: acknowledged, perhaps doubled.
    case atLeastOnce = 1
}

/// A message as it is published or received.
///
/// The last three fields exist in MQTT 5 only: with 3.1.1 they are not sent and are nil on arrival.
public struct MQTTMessage: Sendable, Hashable {
    /// Topic name, 1 to 65,535 bytes, without wildcards and control characters.
    public var topic: String
    /// Any bytes. Empty and retained: the broker forgets what it retained.
    public var payload: [UInt8]
    /// Quality of service.
    public var qos: MQTTQoS
    /// Sent: the broker shall keep it. Received: the sender asked so (MQTT 5), or it is a kept one (3.1.1).
    public var isRetained: Bool
    /// After how many seconds the broker shall no longer deliver it; received: what is left of them.
    public var messageExpirySeconds: UInt32?
    /// Where the sender of a request waits for the answer.
    public var responseTopic: String?
    /// What the sender of a request wants to find in the answer, at most 65,535 bytes.
    public var correlationData: [UInt8]?

    /// Describes a message.
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
