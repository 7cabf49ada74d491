/// Why a connection to a proxy failed or ended.
public enum ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The proxy has another key.
    case wrongKey
    /// The proxy requires encryption, and no key is configured.
    case encryptionRequired
    /// The proxy does not encrypt, although a key is configured.
    case notEncrypted
    /// The proxy refused the handshake, for this reason.
    case handshakeRefused(String)
    /// A message was changed, repeated or lost on its way.
    case notAuthentic
    /// The received bytes are malformed.
    case malformed(String)
    /// Another client uses the proxy. If `wasOurs`, it has taken the proxy from this one.
    case taken(wasOurs: Bool)
    /// The proxy's API has another version, or its firmware is too old.
    case unsuitable(String)
    /// The device is none: its configuration has no `bluetooth_proxy`.
    case noProxy
    /// The proxy passes advertisements on, and cannot connect devices.
    case connectsNothing
    /// The proxy did not respond in time.
    case silent
    /// The proxy ended the connection.
    case closed
    /// The connection could not be made, or was lost.
    case network(String)

    /// The error, and the remedy if the user has to do something.
    public var description: String {
        switch self {
        case .wrongKey: "the proxy has another key; copy the key of its ESPHome configuration (api, encryption, key)"
        case .encryptionRequired: "the proxy requires encryption; set key_file"
        case .notEncrypted: "the proxy does not encrypt; set a key in its ESPHome configuration (api, encryption, key)"
        case .handshakeRefused(let reason): "the proxy refused the handshake: \(reason)"
        case .notAuthentic: "a message is not authentic"
        case .malformed(let part): "malformed: \(part)"
        case .taken(wasOurs: false): "another client uses the proxy, which serves one only"
        case .taken(wasOurs: true): "another client has taken the proxy, which serves one only"
        case .unsuitable(let reason): reason
        case .noProxy: "the device has no bluetooth_proxy in its ESPHome configuration"
        case .connectsNothing:
            "the proxy only passes on what it receives; set bluetooth_proxy, active: true in its ESPHome configuration (an ESP32 or a Pico W: other boards cannot connect devices)"
        case .silent: "the proxy does not respond"
        case .closed: "the proxy ended the connection"
        case .network(let text): text
        }
    }
}
