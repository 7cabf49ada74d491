/// A version of the protocol.
public enum MQTTVersion: String, Sendable, Hashable {
    /// MQTT 5.0.
    case v5 = "5"
    /// MQTT 3.1.1.
    case v311 = "3.1.1"
}

/// What the broker has agreed to.
public struct MQTTSession: Sendable, Hashable {
    /// The version that is spoken.
    public let version: MQTTVersion
    /// Whether the broker still had the session: subscriptions are then in place, and messages may have waited.
    public let isSessionPresent: Bool

    /// Describes a session.
    public init(version: MQTTVersion, isSessionPresent: Bool) {
        self.version = version
        self.isSessionPresent = isSessionPresent
    }
}

/// What a client tells its owner, on the loop, in the order in which it happened.
public enum MQTTEvent: Sendable, Hashable {
    /// The broker has accepted the connection. Nothing of an earlier connection is sent again: publish anew.
    case connected(MQTTSession)
    /// The connection has ended or could not be made. Tickets that were not answered will not be.
    ///
    /// `retryIn` is nil after ``MQTTClient/stop(within:)``.
    case disconnected(MQTTError, retryIn: Duration?)
    /// A message has come.
    case message(MQTTMessage)
    /// A QoS 1 message was acknowledged, or a QoS 0 message was written to the socket.
    case acknowledged(ticket: UInt64)
    /// The broker has refused a QoS 1 message (MQTT 5), for instance by its access control list.
    case rejected(ticket: UInt64, MQTTError)
    /// The broker has refused a subscription: nothing will come on its topics.
    case subscriptionRefused(MQTTTopicFilter, MQTTError)
}
