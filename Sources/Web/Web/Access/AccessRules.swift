import HTTPServer
import Text

/// How users identify themselves.
enum Authentication: Hashable, Sendable {
    /// By name and password.
    case users
    /// By a one-time link, on a loopback address without users.
    case link
    /// Home Assistant has checked the user; only its supervisor may connect.
    case ingress
}

/// Decides which requests are handled, before any session is looked up.
struct AccessRules: Hashable, Sendable {
    /// The address of Home Assistant's supervisor in its container network.
    /// Source: developers.home-assistant.io, "Presenting your app", section "Ingress".
    static let supervisor = "172.30.32.2"

    /// How users identify themselves.
    var authentication = Authentication.link
    /// Whether a reverse proxy is in front, whose `X-Forwarded-For` and `X-Forwarded-Host` count; see ``isProxy(_:)``.
    var isBehindProxy = false
    /// Origins other than the request's own host that may send a `POST`, such as `https://home.example`.
    var trustedOrigins: Set<String> = []
    /// The address that is accepted with ``Authentication/ingress``.
    var ingressPeer = Self.supervisor

    /// Returns whether a peer may send requests at all.
    func admits(peer: String, headers: [String: String]) -> Bool {
        guard authentication == .ingress else { return true }
        return peer == ingressPeer && headers["x-ingress-path"].map(RequestHeaders.isIngressPath) == true
    }

    /// Returns whether `Host` is an IP address, `localhost`, or the host of a trusted origin.
    ///
    /// Any other name may belong to a site that has pointed it to this host, so that its scripts reach the page as their own
    /// ("DNS rebinding"). With encryption, the certificate protects from that; behind a proxy, the proxy knows its names.
    func isOwnHost(_ headers: [String: String]) -> Bool {
        guard authentication != .ingress, !isBehindProxy else { return true }
        let host = headers["host"]?.lowercased() ?? ""
        let name = host.prefix { $0 != ":" }
        guard !name.isEmpty else { return false }
        return host.hasPrefix("[") || name.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
            || name == "localhost" || name.hasSuffix(".localhost")
            || trustedOrigins.contains { RequestHeaders.host(ofOrigin: $0)?.prefix { $0 != ":" } == name }
    }

    /// Returns whether the origin of a `POST` is the page itself or a trusted one.
    func trusts(_ headers: [String: String], from peer: String) -> Bool {
        guard let origin = headers["origin"], let host = RequestHeaders.host(ofOrigin: origin) else { return false }
        if trustedOrigins.contains(origin.lowercased()) { return true }
        var own = [headers["host"]]
        if isProxy(peer) || authentication == .ingress { own.append(headers["x-forwarded-host"]) }
        return own.contains { $0?.lowercased() == host }
    }

    /// The port of the page's address in the browser; nil for the usual port of the protocol. A proxy may have replaced `Host`.
    func port(_ headers: [String: String], from peer: String) -> UInt16? {
        let isForwarded = isProxy(peer) || authentication == .ingress
        return RequestHeaders.port(
            ofHost: isForwarded ? headers["x-forwarded-host"] ?? headers["host"] : headers["host"])
    }

    /// Returns whether a peer can be the reverse proxy: it is on this host or in a private network. Other peers could send any
    /// address in `X-Forwarded-For`.
    func isProxy(_ peer: String) -> Bool { isBehindProxy && PeerAddress.isPrivate(peer) }

    /// The address that wrong passwords are counted for.
    func address(peer: String, headers: [String: String]) -> String {
        guard isProxy(peer) else { return peer }
        return RequestHeaders.lastForwarded(headers["x-forwarded-for"]) ?? peer
    }
}
