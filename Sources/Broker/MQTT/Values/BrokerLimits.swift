/// The limits that a broker announces when it accepts a connection (MQTT 5, section 3.2.2.3). The defaults are those of the specification; with
/// MQTT 3.1.1 nothing is announced.
public struct BrokerLimits: Sendable, Hashable {
    /// The largest packet that the broker accepts, in bytes; nil: no limit is announced.
    public var maximumPacketSize: Int?
    /// The highest quality of service that the broker accepts: 0, 1 or 2.
    public var maximumQoS = 2
    /// Whether the broker stores retained messages.
    public var isRetainAvailable = true
    /// Whether topic filters may have wildcards.
    public var hasWildcards = true

    /// Creates the limits of a broker that announces none.
    public init() {}
}
