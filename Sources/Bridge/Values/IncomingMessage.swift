/// A message that the broker delivered for one of ``BridgeState/subscriptions``.
public struct IncomingMessage: Hashable, Sendable {
    /// Where it was published.
    public var topic: String
    /// Any bytes at all.
    public var payload: [UInt8]
    /// Whether it came with the retain flag.
    public var isRetained: Bool
    /// MQTT 5: where the asker wants the result too.
    public var responseTopic: String?
    /// MQTT 5: what the asker wants to find in the result.
    public var correlationData: [UInt8]?
    /// MQTT 5: what is left of the message's life, in seconds; counts as `ttl_ms`.
    public var messageExpirySeconds: UInt32?

    /// Describes a message.
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
