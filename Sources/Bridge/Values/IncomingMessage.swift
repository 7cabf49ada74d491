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
