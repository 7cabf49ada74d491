public import MQTTTypes

/// A version of the protocol.
public enum MQTTVersion: String, Sendable, Hashable {
    /// MQTT 5.0.
    case v5 = "5"
    /// MQTT 3.1.1.
    case v311 = "3.1.1"
}

/// The result of a connection to the broker.
public struct MQTTSession: Sendable, Hashable {
    /// The MQTT version in use.
    public let version: MQTTVersion
    /// Whether the broker had stored the session. If so, its subscriptions exist, and queued messages may arrive.
    public let isSessionPresent: Bool
    /// The connected node of a broker with several; nil if only one address is configured.
    public var node: MQTTAddress?
    /// The limits that the broker has announced.
    public var limits: BrokerLimits

    /// Creates a session description.
    public init(
        version: MQTTVersion, isSessionPresent: Bool, node: MQTTAddress? = nil, limits: BrokerLimits = BrokerLimits()
    ) {
        self.version = version
        self.isSessionPresent = isSessionPresent
        self.node = node
        self.limits = limits
    }
}

/// An event of a client. Sent on the loop, in order.
public enum MQTTEvent: Sendable, Hashable {
    /// The broker has accepted the connection. Messages of an earlier connection are not resent: publish them
    /// again.
    case connected(MQTTSession)
    /// The connection has ended or could not be made. Pending tickets get no result.
    ///
    /// `retryIn` is nil after ``MQTTClient/stop(within:reconnectingFor:)``.
    case disconnected(MQTTError, retryIn: Duration?)
    /// A message was received.
    case message(MQTTMessage)
    /// A QoS 1 message was acknowledged, or a QoS 0 message was written to the socket. The reason is that of MQTT 5's
    /// PUBACK (``MQTTReason``); 0 with 3.1.1.
    case acknowledged(ticket: UInt64, reason: UInt8)
    /// The broker has refused a QoS 1 message (MQTT 5), for instance by its access control list, or the client has refused
    /// a message that had waited for a subscription.
    case rejected(ticket: UInt64, MQTTError)
    /// The broker has refused a subscription: its topics deliver no messages. Sent once for each connection. Unless the
    /// reason is definite, the client repeats the subscription.
    case subscriptionRefused(MQTTTopicFilter, MQTTError)
    /// The broker has granted a subscription that it had refused on this connection.
    case subscriptionGranted(MQTTTopicFilter)
}
