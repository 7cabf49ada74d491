import JacquardProtocol
public import Text

extension ScalarRule where Value == String {
    /// A Bluetooth address; becomes upper case.
    static var address: ScalarRule {
        ScalarRule(allowed: "six pairs of hexadecimal digits such as F0:00:00:00:00:01") { text throws(Rejection) in
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let arePairs = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isHexadecimal) }
            guard parts.count == 6, arePairs else { throw Rejection("is not a Bluetooth address") }
            return text.uppercased()
        }
    }

    /// A host's name or address. A value is not shown: a URL in its place often holds a password.
    static var hostName: ScalarRule {
        ScalarRule(allowed: "a host name or address; port, user and password have keys of their own") {
            text throws(Rejection) in
            guard !text.isEmpty else { throw Rejection("is empty") }
            guard text.utf8.count <= 253 else { throw Rejection("is too long") }
            guard text.utf8.allSatisfy(isOfHost) else { throw Rejection("holds characters that no host name has") }
            // Two colons or more are an IPv6 address.
            guard text.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1 else {
                throw Rejection("holds a port; write it to mqtt.port")
            }
            return text
        }.hidden()
    }

    /// The address of a page for browsers, or of one within Home Assistant, which rejects the device for a wrong one.
    static var pageAddress: ScalarRule {
        ScalarRule(allowed: "an address such as http://192.168.1.5:8377/ of at most 512 bytes") {
            text throws(Rejection) in
            let schemes = ["http://", "https://", "homeassistant://"]
            guard let scheme = schemes.first(where: { text.hasPrefix($0) }), text.utf8.count <= 512 else {
                throw Rejection("is not the address of a page")
            }
            let rest = text.utf8.dropFirst(scheme.utf8.count)
            let server = rest.prefix { $0 != UInt8(ascii: "/") }
            let parts = server.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let isPort = parts.count == 1 || (parts.count == 2 && UInt16(Substring(parts[1])) != nil)
            guard let host = parts.first, !host.isEmpty, isPort,
                host.allSatisfy({ ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }),
                rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
            else { throw Rejection("is not the address of a page") }
            return text
        }
    }

    /// A domain of DNS. A value is not shown, as with `hostName`.
    static var domain: ScalarRule {
        word(limit: 230, alphabet: "0-9 A-Z a-z . _ -") { ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }.hidden()
    }

    /// A topic that other levels are appended to, or that stands for itself.
    ///
    /// Source: MQTT 5.0, sections 4.7.1 (wildcards), 4.7.2 (`$` belongs to the broker).
    public static var topic: ScalarRule {
        let rule = text(bytes: 128)
        let allowed = "\(rule.allowed), + and #, no $ in front, no empty level"
        return ScalarRule(allowed: allowed) { text throws(Rejection) in
            let topic = try rule.parse(text)
            guard !topic.contains(where: { $0 == "+" || $0 == "#" }) else { throw Rejection("holds a wildcard") }
            guard !topic.hasPrefix("$") else { throw Rejection("begins with $") }
            guard !topic.hasPrefix("/"), !topic.hasSuffix("/") else { throw Rejection("begins or ends with a slash") }
            guard topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
                throw Rejection("holds an empty level")
            }
            return topic
        }
    }

    /// A user name or password of MQTT. Source: MQTT 5.0, 1.5.4.
    static var credential: ScalarRule { text(bytes: 65535).hidden() }

    /// A path; a relative one counts from the configuration file's folder.
    static func path(in folder: ConfigurationFolder) -> ScalarRule {
        let rule = text(bytes: 4095)
        return ScalarRule(allowed: "a path, absolute or from the folder of the configuration file") {
            text throws(Rejection) in folder.resolve(try rule.parse(text))
        }
    }
}

extension ScalarRule where Value == String {
    /// A path that node_exporter takes for metrics. Source: its README, "Textfile Collector".
    static func metricsFile(in folder: ConfigurationFolder) -> ScalarRule {
        let rule = path(in: folder)
        return ScalarRule(allowed: "\(rule.allowed), whose name ends with .prom") { text throws(Rejection) in
            let path = try rule.parse(text)
            guard path.hasSuffix(".prom") else { throw Rejection("does not end with .prom") }
            return path
        }
    }
}

extension ScalarRule where Value == BrokerHost {
    /// A host's name or address, with a port if it is not the default one. A value is not shown, as with `hostName`.
    static var brokerHost: ScalarRule {
        let allowed = "a host name or address with a port, such as broker.lan:1883 or [::1]:1883"
        return ScalarRule(allowed: allowed) { text throws(Rejection) in
            let (host, port) = try parts(of: text)
            guard !host.isEmpty else { throw Rejection("is empty") }
            guard host.utf8.count <= 253 else { throw Rejection("is too long") }
            guard host.utf8.allSatisfy(isOfHost) else { throw Rejection("holds characters that no host name has") }
            guard let port else { return BrokerHost(host: String(host), port: nil) }
            guard port.utf8.allSatisfy(ASCII.isDigit), port.first != "0", let number = UInt16(port) else {
                throw Rejection("holds a port that is not 1 to 65535")
            }
            return BrokerHost(host: String(host), port: Int(number))
        }.hidden()
    }

    /// The host without brackets, and what follows the colon behind it; nil without a colon.
    private static func parts(of text: String) throws(Rejection) -> (Substring, Substring?) {
        guard text.hasPrefix("[") else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return (text[...], nil) }
            guard !parts[1].contains(":") else { throw Rejection("is an IPv6 address without brackets") }
            return (parts[0], parts[1])
        }
        guard let end = text.firstIndex(of: "]") else { throw Rejection("holds a [ without ]") }
        let (host, rest) = (text[..<end].dropFirst(), text[end...].dropFirst())
        guard !rest.isEmpty else { return (host, nil) }
        guard rest.first == ":" else { throw Rejection("holds something other than a port after ]") }
        return (host, rest.dropFirst())
    }
}

extension ScalarRule where Value == Settings.Bluetooth.Adapter {
    /// `auto`, a name of the kernel, or an address.
    static var adapter: ScalarRule {
        let address = ScalarRule<String>.address
        return ScalarRule(allowed: "auto, hci and a number, or an address such as F0:00:00:00:00:01") {
            text throws(Rejection) in
            if text == "auto" { return .automatic }
            if text.hasPrefix("hci"), (1...3).contains(text.utf8.count - 3),
                text.utf8.dropFirst(3).allSatisfy(ASCII.isDigit)
            {
                return .name(text)
            }
            guard let address = try? address.parse(text) else { throw Rejection("is not an adapter") }
            return .address(address)
        }
    }
}

extension ScalarRule where Value == String {
    /// The bridge's name in topics. Source: the MQTT contract, `[a-z0-9-]{1,32}`.
    static var instance: ScalarRule {
        word(limit: InstanceName.lengthLimit, alphabet: "a-z 0-9 -", where: InstanceName.isAllowed)
    }

    /// A user and a host for the SSH client. Neither can begin with a dash, which the client would take for an option.
    public static var sshTarget: ScalarRule {
        let word = word(limit: 253, alphabet: "0-9 A-Z a-z _ . : @ -") {
            ASCII.isOfWord($0) || ".:@".utf8.contains($0)
        }
        return ScalarRule(allowed: "a host such as hall.lan, or a user and a host such as pi@hall.lan") {
            text throws(Rejection) in
            let target = try word.parse(text)
            let parts = target.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasPrefix(".") }),
                parts.count == 1 || !parts[0].contains(":")
            else { throw Rejection("is no user and host") }
            // Two colons or more are an IPv6 address.
            guard target.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1 else {
                throw Rejection("holds a port; write it to port, on the command line to --port")
            }
            return target
        }
    }

    /// The address of a bus of D-Bus. Source: D-Bus specification, "Server Addresses".
    static var busAddress: ScalarRule {
        let text = text(bytes: 1024)
        return ScalarRule(allowed: "an address of D-Bus such as unix:path=/run/dbus/system_bus_socket") {
            address throws(Rejection) in
            let address = try text.parse(address)
            let transport = address.prefix { $0 != ":" }
            guard !transport.isEmpty, transport.endIndex < address.endIndex,
                transport.utf8.allSatisfy(ASCII.isOfWord)
            else { throw Rejection("is no address of D-Bus") }
            return address
        }
    }

    /// A vendor or product number as `T/gear` shows it; becomes lower case.
    static var gearNumber: ScalarRule {
        ScalarRule(allowed: "four pairs of hexadecimal digits such as 74-a8-ce-54") { text throws(Rejection) in
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            let arePairs = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isHexadecimal) }
            guard parts.count == 4, arePairs else { throw Rejection("is not a number of gear") }
            return text.lowercased()
        }
    }
}

extension ScalarRule where Value == TagID {
    /// A tag's name in topics and in Home Assistant's object ids.
    static var tagID: ScalarRule {
        let word = ScalarRule<String>.word(
            limit: TagID.longest, alphabet: "0-9 A-Z a-z _ -", where: ASCII.isOfWord)
        return word.map { text throws(Rejection) in
            guard let id = TagID(text) else { throw Rejection("is no id of a tag") }
            return id
        }
    }

    /// The id that a tag gets. On the command line, `all` stands for all tags.
    static var ownTagID: ScalarRule {
        ScalarRule(allowed: "\(tagID.allowed), and not all") { text throws(Rejection) in
            let id = try tagID.parse(text)
            guard id.text != "all" else { throw Rejection("stands for all tags on the command line") }
            return id
        }
    }
}

private func isOfHost(_ byte: UInt8) -> Bool {
    // The percent sign begins the zone of a link-local address.
    ASCII.isAlphanumeric(byte) || "-._:%".utf8.contains(byte)
}
