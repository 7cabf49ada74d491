/// The quality of service. QoS 2 is not used by the bridge.
public enum MQTTQoS: UInt8, Sendable, Hashable {
    /// QoS 0: sent once; may be lost.
    case atMostOnce = 0
    /// QoS 1: acknowledged; may be duplicated.
    case atLeastOnce = 1
}

/// A user property of MQTT 5: a name and a value, without a meaning for the broker.
public struct MQTTUserProperty: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a property.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A message to publish, or a received one.
///
/// The last four fields exist in MQTT 5 only. With 3.1.1 they are not sent, and nil in received messages.
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
    /// At most one. Messages are copied several times on the path of a gesture, which rarely has one of these properties.
    private var rare: [RareProperties] = []

    private struct RareProperties: Hashable, Sendable {
        var responseTopic: String?
        var correlationData: [UInt8]?
        var userProperty: MQTTUserProperty?
    }

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
        guard responseTopic != nil || correlationData != nil else { return }
        properties = RareProperties(responseTopic: responseTopic, correlationData: correlationData)
    }

    /// The topic for the response to a request.
    public var responseTopic: String? {
        get { rare.first?.responseTopic }
        set { properties.responseTopic = newValue }
    }

    /// Data that the response to a request must contain, at most 65,535 bytes.
    public var correlationData: [UInt8]? {
        get { rare.first?.correlationData }
        set { properties.correlationData = newValue }
    }

    /// A user property; nil in received messages.
    public var userProperty: MQTTUserProperty? {
        get { rare.first?.userProperty }
        set { properties.userProperty = newValue }
    }

    private var properties: RareProperties {
        get { rare.first ?? RareProperties() }
        set { rare = newValue == RareProperties() ? [] : [newValue] }
    }
}
