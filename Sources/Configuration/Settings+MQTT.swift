extension Settings {
    /// How the broker is reached.
    public struct MQTT: Hashable, Sendable {
        /// The keys of `mqtt`.
        enum Key: String, ConfigurationKey {
            case host, port, version
            case baseTopic = "base_topic"
            case clientID = "client_id"
            case username, password
            case passwordFile = "password_file"
            case keepalive = "keepalive_s"
            case tls
        }

        /// The protocol spoken with the broker.
        public enum Version: String, CaseIterable, Sendable {
            /// MQTT 5, and 3.1.1 when the broker refuses it.
            case automatic = "auto"
            /// MQTT 5 only.
            case v5 = "5"
            /// MQTT 3.1.1 only.
            case v311 = "3.1.1"
        }

        /// Name or address, without a port.
        public var host = "127.0.0.1"
        /// 1 to 65535; 1883, and with TLS 8883, unless it is configured.
        public var port = 1883
        /// Which protocol.
        public var version = Version.automatic
        /// What every topic of the bridge begins with; no slash at either end.
        public var baseTopic = "jacquard"
        /// The client id; `jacquard-<instance>` unless it is configured.
        public var clientID: String
        /// The user name, if the broker asks for one.
        public var username: String?
        /// The password, wherever it came from.
        public var password: Secret?
        /// The file that the password was read from, as the configuration names it.
        public var passwordFile: String?
        /// Whether the password stands in the configuration file itself, so that who may read the file knows it.
        public var isPasswordInFile = false
        /// After how much silence a ping is sent; whole seconds.
        public var keepalive: Duration = .seconds(30)
        /// nil: no TLS.
        public var tls: TLS?

        /// The client id where none is configured.
        public static func clientID(of instance: String) -> String { "jacquard-\(instance)" }
    }

    /// How the connection to the broker is secured.
    public struct TLS: Hashable, Sendable {
        /// The keys of `mqtt.tls`.
        enum Key: String, ConfigurationKey {
            case authorityFile = "ca_file"
            case certificateFile = "certificate_file"
            case keyFile = "key_file"
            case insecure
        }

        /// Certificates of the authorities to trust; nil: the system's store.
        public var authorityFile: String?
        /// The bridge's own certificate; only together with `keyFile`.
        public var certificateFile: String?
        /// The private key of `certificateFile`.
        public var keyFile: String?
        /// Whether the broker's name is left unchecked.
        public var isInsecure = false
    }
}

/// A text that must not be seen: however it is printed, only that it is one can be read.
public struct Secret: Hashable, Sendable {
    /// The text itself; for the call that needs it, never for a message.
    public let value: String
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `(redacted)`.
    public var description: String { "(redacted)" }

    /// Always `(redacted)`.
    public var debugDescription: String { description }

    /// No children: `dump` and failed expectations look into a value, not at its description.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
