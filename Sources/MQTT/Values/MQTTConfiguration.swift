/// The configuration of a client: broker, credentials, TLS and timeouts.
public struct MQTTConfiguration: Sendable {
    /// The MQTT version to use.
    public enum Version: Sendable, Hashable {
        /// MQTT 5, and 3.1.1 once the broker has refused it.
        case automatic
        /// MQTT 5 only.
        case v5
        /// MQTT 3.1.1 only.
        case v311
    }

    /// The TLS configuration. Its presence enables TLS.
    public struct TLS: Sendable, Hashable {
        /// PEM file of the authorities to trust; nil means the system's store.
        public var caFile: String?
        /// PEM file of the client's certificate; goes with `keyFile`.
        public var certificateFile: String?
        /// PEM file of the client's key, not encrypted.
        public var keyFile: String?
        /// Takes a certificate of any host. It must still be signed by a trusted authority.
        public var isInsecure: Bool

        /// Describes the encryption.
        public init(
            caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil, isInsecure: Bool = false
        ) {
            self.caFile = caFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.isInsecure = isInsecure
        }
    }

    /// Name or address of the broker.
    public var host: String
    /// TCP port of the broker.
    public var port: UInt16
    /// Version of the protocol.
    public var version = Version.automatic
    /// Who the client is to the broker, at least one byte. Two clients with one identifier throw each other out.
    public var clientIdentifier: String
    /// User name; nil sends none.
    public var username: String?
    /// Password; needs a user name with MQTT 3.1.1.
    public var password: String?
    /// How long the connection may be silent before it is probed, whole seconds, 5 s to 18 h; the broker may shorten it.
    public var keepAlive = Duration.seconds(30)
    /// Encryption; nil means none.
    public var tls: TLS?
    /// How long the broker keeps subscriptions and messages for a client that has gone, whole seconds.
    public var sessionExpiry = Duration.seconds(30)
    /// What the broker publishes when the connection breaks. Topic, payload, QoS and retain flag count.
    public var will: MQTTMessage?
    /// How long TCP, TLS and the broker's answer may take together.
    public var connectDeadline = Duration.seconds(10)
    /// Shortest pause between two attempts.
    public var shortestRetry = Duration.milliseconds(500)
    /// Longest pause between two attempts.
    public var longestRetry = Duration.seconds(30)
    /// Source of the jitter: a number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// What the resolver says of a host, for tests on machines with one family only.
    var families: @Sendable (String) -> Result<[AddressFamily], MQTTError> = AddressFamily.families

    /// A configuration with the defaults of the contract.
    public init(host: String, port: UInt16 = 1883, clientIdentifier: String) {
        self.host = host
        self.port = port
        self.clientIdentifier = clientIdentifier
    }
}

extension MQTTConfiguration: CustomStringConvertible, CustomReflectable {
    /// `host:port`, as a log line names the broker.
    public var description: String { "\(host):\(port)" }

    /// Nothing but the broker's name, so that no dump shows the password.
    public var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }
}
