import HTTPServer
import Text

/// Header values that the page's server parses itself.
enum RequestHeaders {
    /// The value of a cookie in a `Cookie` header; nil if it is absent or sent more than once.
    ///
    /// Two cookies with the same name come from two paths or domains, so one of them may be another site's.
    static func cookie(_ name: String, in header: String?) -> String? {
        guard let header else { return nil }
        let values = header.utf8.split(separator: UInt8(ascii: ";")).compactMap { part -> String? in
            let trimmed = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard let equals = trimmed.firstIndex(of: UInt8(ascii: "=")), trimmed[..<equals].elementsEqual(name.utf8)
            else { return nil }
            return String(Substring(trimmed[trimmed.index(after: equals)...]))
        }
        return values.count == 1 ? values[0] : nil
    }

    /// The host and port of an `Origin` header such as `http://host:8377`; nil for `null` and everything that is not an origin.
    static func host(ofOrigin origin: String) -> String? {
        for scheme in ["http://", "https://"] where origin.utf8.starts(with: scheme.utf8) {
            let host = String(Substring(origin.utf8.dropFirst(scheme.utf8.count)))
            return isHost(host) ? host.lowercased() : nil
        }
        return nil
    }

    /// Whether a text can be the value of a `Host` header: a name or an address, and optionally a port.
    static func isHost(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                ASCII.isAlphanumeric(byte) || "-._:[]".utf8.contains(byte)
            }
    }

    /// The port in the value of a `Host` header such as `host:8377` or `[::1]:8377`; nil without one.
    static func port(ofHost host: String?) -> UInt16? {
        guard let host, isHost(host), let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = host.utf8[..<colon], port = host.utf8[host.utf8.index(after: colon)...]
        // The address of IPv6 has colons of its own, and is in brackets.
        guard !name.contains(UInt8(ascii: ":")) || name.last == UInt8(ascii: "]"), port.allSatisfy(ASCII.isDigit)
        else { return nil }
        return UInt16(String(Substring(port)))
    }

    /// Whether a text is a path prefix as the Home Assistant supervisor sends it in `X-Ingress-Path`.
    static func isIngressPath(_ text: String) -> Bool {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 256 else { return false }
        let levels = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return levels.allSatisfy { level in
            !level.isEmpty && !level.elementsEqual("..".utf8) && !level.elementsEqual(".".utf8)
                && level.allSatisfy { ASCII.isAlphanumeric($0) || "-._~".utf8.contains($0) }
        }
    }

    /// The user of Home Assistant, as the supervisor adds it to each request; nil if it does not.
    /// Source: home-assistant/supervisor, supervisor/api/ingress.py.
    static func remoteUser(_ headers: [String: String]) -> String? {
        headers["x-remote-user-id"].flatMap { $0.utf8.count <= 64 ? $0 : nil }
    }

    /// The last address in `X-Forwarded-For`, the one that the nearest proxy has added; nil if it is not an address. A port, which some
    /// proxies add, is left out: each connection has another one.
    static func lastForwarded(_ header: String?) -> String? {
        guard let last = header?.split(separator: ",").last else { return nil }
        let text = ASCII.trimmed(last)
        if text.hasPrefix("[") {
            let parts = text.dropFirst().split(separator: "]", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].isEmpty || isPort(parts[1]) else { return nil }
            return PeerAddress.canonical(String(parts[0]))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return PeerAddress.canonical(parts.count == 2 && isPort(":" + parts[1]) ? String(parts[0]) : String(text))
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        text.first == ":" && (1...5).contains(text.dropFirst().utf8.count)
            && text.dropFirst().utf8.allSatisfy(ASCII.isDigit)
    }
}
