internal import EventLoop
public import MQTTTypes

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

    /// The order in which the nodes of a broker are tried.
    public enum Order: Sendable, Hashable {
        /// As listed.
        case listed
        /// From a node that follows from the key, and from there as listed. Clients with different keys spread over the
        /// nodes.
        case spread(key: String)
    }

    /// The addresses of the broker, at least one: the nodes of a cluster, or the only one.
    public var nodes: [MQTTAddress]
    /// The name of records of type SRV that replace ``nodes``; nil: none. See ``ServiceLookup``.
    public var service: String?
    /// The order in which the nodes are tried. Nodes of records of type SRV are ordered by priority first.
    public var order = Order.listed
    /// Whether the client tries the first node of the order first after each pause.
    public var prefersFirst = false
    /// Version of the protocol.
    public var version = Version.automatic
    /// The client's name at the broker, at least one byte. Two clients with one identifier disconnect each other.
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
    /// The message that the broker publishes when the connection breaks: topic, payload, QoS and retain flag.
    public var will: MQTTMessage?
    /// Whether each SUBSCRIBE has one filter from the first connection on; otherwise only after a connection that has ended with
    /// an unanswered SUBSCRIBE.
    public var subscribesCarefully = false
    /// How long TCP, TLS and the broker's answer may take together.
    public var connectDeadline = Duration.seconds(10)
    /// Shortest pause between two attempts.
    public var shortestRetry = Duration.milliseconds(500)
    /// Longest pause between two attempts.
    public var longestRetry = Duration.seconds(30)
    /// Source of the jitter: a number from 0 up to, but not including, 1.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Creates the link of each attempt to connect. A simulation replaces it.
    package var makeLink: @LoopActor @Sendable (MQTTConfiguration, BrokerLinkPlan) throws(MQTTError) -> any BrokerLink =
        {
            configuration, plan throws(MQTTError) in try MosquittoInstance(configuration, plan)
        }

    /// The resolver's answer about a host; replaced in tests.
    package var addresses: @Sendable (String) -> Result<[String], MQTTError> = BrokerAddresses.addresses

    /// Finds the nodes of ``service``, for tests without a name server.
    var lookUp: @Sendable (String, Order) -> Result<[MQTTAddress], MQTTError> = ServiceLookup.nodes

    /// A configuration with the defaults of the contract.
    public init(host: String, port: UInt16 = 1883, clientIdentifier: String) {
        nodes = [MQTTAddress(host: host, port: port)]
        self.clientIdentifier = clientIdentifier
    }
}

extension MQTTConfiguration {
    /// The address of a connection, which has only one; see ``at(_:)``.
    var address: MQTTAddress { nodes.first ?? MQTTAddress(host: "127.0.0.1", port: 1883) }

    /// The configuration of a connection to one node.
    func at(_ node: Int) -> MQTTConfiguration {
        var copy = self
        if nodes.indices.contains(node) { copy.nodes = [nodes[node]] }
        return copy
    }
}

/// The address of a broker, or of one node of it.
public struct MQTTAddress: Sendable, Hashable, CustomStringConvertible {
    /// Host name or IP address.
    public let host: String
    /// TCP port.
    public let port: UInt16

    /// Creates an address.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension MQTTConfiguration: CustomStringConvertible, CustomReflectable {
    /// The addresses, as a log line names the broker.
    public var description: String { nodes.map(\.description).joined(separator: ", ") }

    /// Nothing but the broker's addresses, so that no dump shows the password.
    public var customMirror: Mirror { Mirror(self, children: ["nodes": description]) }
}
