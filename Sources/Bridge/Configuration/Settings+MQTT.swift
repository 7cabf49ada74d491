import JacquardProtocol

extension Settings {
    /// The connection to the broker.
    public struct MQTT: Hashable, Sendable {
        /// The protocol version.
        public enum Version: String, CaseIterable, Sendable {
            /// MQTT 5, and 3.1.1 if the broker refuses it.
            case automatic = "auto"
            /// MQTT 5 only.
            case v5 = "5"
            /// MQTT 3.1.1 only.
            case v311 = "3.1.1"
        }

        /// The order in which the nodes are tried.
        public enum Order: String, CaseIterable, Sendable {
            /// As listed.
            case listed
            /// From a node that follows from the bridge's name, so that many bridges spread over the nodes.
            case spread
        }

        /// Name or address, without a port; of several nodes, the first one.
        public var host = "127.0.0.1"
        /// 1 to 65535; by default 1883, with TLS 8883; of several nodes, that of the first one.
        public var port = 1883
        /// The nodes of the broker, if several are configured.
        public var hosts: [BrokerHost]?
        /// The domain whose records of type SRV name the nodes of the broker.
        public var serviceDomain: String?
        /// The order in which the nodes are tried.
        public var order = Order.listed
        /// Whether the first node is tried first after each pause.
        public var prefersFirst = false
        /// The protocol version.
        public var version = Version.automatic
        /// The first levels of every topic of the bridge, without a slash at either end.
        public var baseTopic = "jacquard"
        /// The client ID; by default `jacquard-<instance>`.
        public var clientID: String
        /// The user name, if the broker requires one.
        public var username: String?
        /// The password, from the file, the environment or a password file.
        public var password: Secret?
        /// The file that the password was read from, as the configuration names it.
        public var passwordFile: String?
        /// Whether the password is in the configuration file itself, so that readers of that file know it.
        public var isPasswordInFile = false
        /// The keep-alive interval; whole seconds.
        public var keepalive: Duration = .seconds(30)
        /// nil: no TLS.
        public var tls: TLS?

        /// The addresses of the broker: of its nodes, or the only one.
        public var nodes: [(host: String, port: Int)] {
            hosts?.map { ($0.host, $0.port ?? defaultPort) } ?? [(host, port)]
        }

        /// Sets the nodes, and host and port to those of the first one.
        public mutating func setHosts(_ hosts: [BrokerHost]) {
            self.hosts = hosts
            host = hosts.first?.host ?? host
            port = hosts.first?.port ?? defaultPort
        }

        /// The port where none is configured.
        fileprivate var defaultPort: Int { tls == nil ? 1883 : 8883 }

        /// The default client ID.
        public static func clientID(of instance: String) -> String { "jacquard-\(instance)" }
    }

    /// TLS of the connection to the broker.
    public struct TLS: Hashable, Sendable {
        /// Certificates of the trusted authorities; nil: the system's store.
        public var authorityFile: String?
        /// The client certificate; only together with `keyFile`.
        public var certificateFile: String?
        /// The private key of `certificateFile`.
        public var keyFile: String?
        /// Whether the broker's name is not checked against its certificate.
        public var isInsecure = false
    }
}

extension Settings {
    /// The rows of `mqtt`. Swift 6.2 cannot type-check them in one expression.
    static var mqttKeys: [ConfigurationKey<Settings>] { mqttNodeKeys + mqttSessionKeys + tlsKeys }

    private static var mqttNodeKeys: [ConfigurationKey<Settings>] {
        [
            .section(
                "mqtt", "The connection to the broker.",
                relations: [
                    .exclusive("host", "hosts"), .exclusive("port", "hosts"), .exclusive("host", "srv"),
                    .exclusive("port", "srv"), .exclusive("hosts", "srv"), .exclusive("password", "password_file"),
                ]
            ).option("Broker", "Empty for the broker of Home Assistant"),
            ConfigurationKey(
                "mqtt.host", \.mqtt.host, .hostName, .reconnection, "Name or address of the broker."
            ).option("Host", "Name or address of the broker").defaulting(hasUsualDefault: true) {
                $0.mqtt.host = $0.mqtt.hosts?.first?.host ?? initial.mqtt.host
            },
            ConfigurationKey(
                "mqtt.port", \.mqtt.port, .integer(1...65535), .reconnection,
                "The broker's port. Default: 1883, with tls 8883."
            ).example("1883", comment: "1 to 65535. Default: 1883, with tls 8883.").option(
                "Port", "Default: 1883, with TLS 8883", form: "port"
            ).defaulting { $0.mqtt.port = $0.mqtt.hosts?.first?.port ?? $0.mqtt.defaultPort },
            ConfigurationKey(
                "mqtt.hosts", \.mqtt.hosts, .brokerHosts, .reconnection,
                """
                Alternative to host and port: the nodes of a broker cluster. If one fails, the bridge connects to the \
                next one at once. The port has the same default.
                """
            ).example(
                "[broker-1.lan:1883, broker-2.lan:1883, \"[2001:db8::3]:1883\"]",
                comment: """
                    Alternative to host and port: the nodes of a broker cluster, up to 16. If one fails, the bridge \
                    connects to the next one at once. The port has the same default.
                    """, isAlternative: true
            ).withoutOption("the supervisor has one broker, and so has a home"),
            ConfigurationKey(
                "mqtt.srv", \.mqtt.serviceDomain, .domain, .reconnection,
                """
                Alternative to host and port: a domain whose DNS records _mqtt._tcp, with tls _secure-mqtt._tcp, of \
                type SRV name the nodes of a broker cluster.
                """
            ).example("example.org", isAlternative: true).withoutOption("as mqtt.hosts"),
            ConfigurationKey(
                "mqtt.order", \.mqtt.order, .choice, .reconnection,
                """
                listed: try the nodes in this order. spread: start at a node that depends on instance, so that many \
                bridges share the nodes.
                """
            ).withoutOption("as mqtt.hosts"),
            ConfigurationKey(
                "mqtt.prefer_first", \.mqtt.prefersFirst, .boolean, .reconnection,
                "true: after a lost connection and after each pause, try the first node first, instead of the next one."
            ).withoutOption("as mqtt.hosts"),
        ]
    }

    private static var mqttSessionKeys: [ConfigurationKey<Settings>] {
        [
            ConfigurationKey(
                "mqtt.version", \.mqtt.version, .choice, .reconnection,
                "The protocol version: auto is 5, or 3.1.1 if the broker refuses it."
            ).example(comment: "The protocol: auto (5, and 3.1.1 if the broker refuses it), 5, 3.1.1.").option(
                "Protocol version", "auto is 5, or 3.1.1 if the broker refuses it"),
            ConfigurationKey(
                "mqtt.base_topic", \.mqtt.baseTopic, .topic, .nextStart,
                "The first level, or levels, of all topics of the bridge."
            ).option("Base topic"),
            ConfigurationKey(
                "mqtt.client_id", \.mqtt.clientID, .text(bytes: 128), .reconnection,
                "The MQTT client ID, unique on the broker. Default: jacquard-<instance>."
            ).example("jacquard-attic").option("Client ID", "Unique on the broker").defaulting {
                $0.mqtt.clientID = MQTT.clientID(of: $0.instance)
            },
            ConfigurationKey(
                "mqtt.username", \.mqtt.username, .credential, .reconnection,
                "The user name for the broker. Default: none."
            ).example("bridge").option("User name", ""),
            ConfigurationKey(
                "mqtt.password", \.mqtt.password, .password, .reconnection,
                "The password in plain text. Only the bridge should be able to read the file then."
            ).example(
                "secret",
                comment: """
                    The password in plain text. Only the bridge should be able to read this file then. Default: none.
                    """
            ).option("Password", ""),
            // A password that changed is a difference of `mqtt.password`.
            ConfigurationKey(
                "mqtt.password_file", \.mqtt.storedPassword, .passwordFile, .none,
                "Alternative to password: a file with one line, or the name of a systemd credential."
            ).example(
                "/etc/jacquard2mqtt/password",
                comment: """
                    Alternative to password: a file with one line, or the name of a systemd credential. Relative paths \
                    start at the folder of this file; this applies to all paths below.
                    """, isAlternative: true
            ).withoutOption("the supervisor keeps the option password"),
            // The interval is sent in two bytes, and libmosquitto refuses less than five seconds.
            // Source: MQTT 5.0, section 3.1.2.10; mosquitto.h, `mosquitto_connect`.
            ConfigurationKey(
                "mqtt.keepalive_s", \.mqtt.keepalive, .wholeSeconds(5...65535), .reconnection,
                "The MQTT keep-alive interval in seconds."
            ).option("Keep-alive interval", "In seconds, 5 to 65535. Default: 30"),
        ]
    }

    private static var tlsKeys: [ConfigurationKey<Settings>] {
        [
            .section(
                "mqtt.tls", "This key enables TLS, even without keys below it; true is the same, false disables TLS.",
                switch: \.mqtt.usesTLS, .reconnection, relations: [.together("certificate_file", "key_file")]
            ).example(
                comment: """
                    This key enables TLS, even without keys below it. "tls: true" is the same; "tls: false" disables \
                    TLS.
                    """
            ).option("Encryption (TLS)", enabled: "Encrypt the connection to the broker"),
            ConfigurationKey(
                "mqtt.tls.ca_file", \.mqtt.tlsValues.authorityFile, .certificate, .reconnection,
                "The trusted certificate authorities. Default: those of the system."
            ).example("/etc/jacquard2mqtt/ca.pem").option(
                "Trusted authorities", "A path such as /ssl/ca.pem. Default: those of Debian"),
            ConfigurationKey(
                "mqtt.tls.certificate_file", \.mqtt.tlsValues.certificateFile, .certificate, .reconnection,
                "The client certificate, if the broker requires one."
            ).example(
                "/etc/jacquard2mqtt/bridge.pem",
                comment: """
                    The client certificate, if the broker requires one, and its private key. Default: none.
                    """
            ).option("Client certificate", "A path below /ssl, if the broker requires a certificate"),
            ConfigurationKey(
                "mqtt.tls.key_file", \.mqtt.tlsValues.keyFile, .certificate, .reconnection,
                "The private key of certificate_file."
            ).example("/etc/jacquard2mqtt/bridge.key", comment: "").option(
                "Private key of the client certificate", "A path below /ssl"),
            ConfigurationKey(
                "mqtt.tls.insecure", \.mqtt.tlsValues.isInsecure, .boolean, .reconnection,
                "true: don't check the broker's name against its certificate. Logs a warning at every start."
            ).option("Don't check the broker's name", "Logs a warning at every start"),
        ]
    }
}

extension Settings.MQTT {
    /// Whether TLS is used; switching it on keeps the values that are there.
    fileprivate var usesTLS: Bool {
        get { tls != nil }
        set { tls = newValue ? tls ?? Settings.TLS() : nil }
    }

    /// The values of `mqtt.tls`; setting one switches TLS on.
    fileprivate var tlsValues: Settings.TLS {
        get { tls ?? Settings.TLS() }
        set { tls = newValue }
    }

    /// The password and the file that it was read from.
    fileprivate var storedPassword: StoredPassword? {
        get { passwordFile.flatMap { path in password.map { StoredPassword(path: path, password: $0) } } }
        set {
            passwordFile = newValue?.path
            password = newValue?.password
        }
    }
}

/// One node of a broker.
public struct BrokerHost: Hashable, Sendable {
    /// Host name or IP address.
    public let host: String
    /// 1 to 65535; nil: the default port.
    public let port: Int?

    /// Creates a node.
    public init(host: String, port: Int?) {
        self.host = host
        self.port = port
    }

    /// As it is written in the file: `host:port`, with brackets around an IPv6 address.
    public var text: String { (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") }
}

/// A password that was read from a file.
struct StoredPassword: Hashable {
    /// The file, as the configuration names it.
    let path: String
    /// Its contents.
    let password: Secret
}

/// A text that is never printed: all descriptions of it are `(redacted)`.
public struct Secret: Hashable, Sendable {
    /// The text itself; not for messages.
    public let value: String

    /// Wraps a text.
    public init(value: String) {
        self.value = value
    }

    /// Returns whether both have the same bytes.
    public static func == (left: Secret, right: Secret) -> Bool { ExactText(left.value) == ExactText(right.value) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { ExactText(value).hash(into: &hasher) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `(redacted)`.
    public var description: String { "(redacted)" }

    /// Always `(redacted)`.
    public var debugDescription: String { description }

    /// No children, because `dump` and failed expectations print the children of a value.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
