/// The configuration of the web page, from its own file: address, users and encryption. The broker is that of the bridge's
/// configuration.
public struct WebSettings: Hashable, Sendable {
    /// A user of the page.
    public struct User: Hashable, Sendable {
        /// The name for the login.
        public let name: String
        /// A hash of crypt(3).
        public let password: Secret
        /// `viewer`, `automation` or `admin`.
        public let role: String
    }

    /// The roles of users.
    public static let roles = ["viewer", "automation", "admin"]
    /// The file of an installed page; only this one may be missing.
    public static let defaultPath = "/etc/jacquard2mqtt/web.yaml"

    /// The IP address to listen on.
    public var address = "127.0.0.1"
    /// The TCP port; 0 chooses a free one.
    public var port: UInt16 = 8377
    /// The users; empty on a loopback address: a one-time link.
    public var users: [User] = []
    /// PEM file of the certificates of TLS; nil: plain HTTP.
    public var certificateFile: String?
    /// PEM file of the private key.
    public var keyFile: String?
    /// Origins other than the page's own that may send commands, such as `https://home.example`.
    public var trustedOrigins: [String] = []
    /// Whether a reverse proxy is in front.
    public var isBehindProxy = false
    /// Whether Home Assistant's supervisor is in front.
    public var isIngress = false
    /// Whether `GET metrics` returns the metrics of a bridge.
    public var hasMetrics = false
    /// The path of a Unix socket with `GET metrics`; nil: none.
    public var metricsSocket: String?
    /// The name or number of the group that may connect to it; nil: only the page's user.
    public var metricsSocketGroup: String?

    /// The most bytes of the path of a Unix socket. Source: unix(7), `sun_path` with its zero byte.
    public static let longestSocketPath = 107

    /// The default settings.
    public init() {}

    /// Returns why the page must not be served at an IP address, or nil if it may.
    public func refusal(at address: String) -> String? {
        if isIngress || Self.isLoopback(address) { return nil }
        if users.isEmpty {
            return "\(address) can be reached from other hosts: add users, or set address to 127.0.0.1"
        }
        if certificateFile == nil, !isBehindProxy {
            return
                "passwords would be sent to \(address) without encryption: set tls, or behind_proxy if a proxy encrypts"
        }
        return nil
    }

    /// Whether an IP address belongs to this host only.
    public static func isLoopback(_ address: String) -> Bool {
        address == "::1"
            || (address.hasPrefix("127.") && address.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) })
    }
}
