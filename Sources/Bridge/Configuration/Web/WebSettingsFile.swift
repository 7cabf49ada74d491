import Glibc
import Text

extension WebSettings {
    /// The keys of the file.
    static let keys = [
        "address", "port", "users", "tls", "trusted_origins", "behind_proxy", "ingress", "metrics", "metrics_socket",
        "metrics_socket_group",
    ]

    /// Reads the file of the page.
    ///
    /// - Parameters:
    ///   - path: the file; nil: the default one, which may be missing.
    ///   - listens: whether the page opens its address itself, so that the rules for the address apply.
    ///   - readsCertificate: whether the certificate and the key must be readable.
    ///   - isPasswordHash: whether a text is a hash that the system supports.
    /// - Returns: the settings, or everything that is wrong with the file.
    public static func load(
        path: String?, listens: Bool = false, readsCertificate: Bool = false, isPasswordHash: (String) -> Bool
    ) -> Result<WebSettings, ConfigurationErrors> {
        let file = path ?? defaultPath
        do throws(FileError) {
            let contents = try FileContents(path: file, limit: ConfigurationFile.sizeLimit)
            return read(
                contents.bytes, file: file, listens: listens, readsCertificate: readsCertificate,
                isPasswordHash: isPasswordHash)
        } catch  where error.isMissing && path == nil {
            return .success(WebSettings())
        } catch {
            var findings = ConfigurationFindings()
            findings.add("cannot be read: \(error.reason(for: file))", at: .file)
            return .failure(findings.errors(in: file))
        }
    }

    /// Reads the text of a file.
    static func read(
        _ yaml: [UInt8], file: String, listens: Bool = false, readsCertificate: Bool = false,
        isPasswordHash: (String) -> Bool
    ) -> Result<WebSettings, ConfigurationErrors> {
        var reader = WebSettingsReader(
            folder: ConfigurationFolder(of: file), listens: listens, readsCertificate: readsCertificate)
        let settings = reader.settings(ConfigurationNodeBuilder.build(yaml, &reader.findings), isPasswordHash)
        return reader.findings.isEmpty ? .success(settings) : .failure(reader.findings.errors(in: file))
    }
}

/// Reads the keys of the page's file and collects what is wrong with them.
private struct WebSettingsReader {
    let folder: ConfigurationFolder
    let listens: Bool
    let readsCertificate: Bool
    var findings = ConfigurationFindings()

    mutating func settings(_ root: ConfigurationNode?, _ isPasswordHash: (String) -> Bool) -> WebSettings {
        var settings = WebSettings()
        let entries = entries(of: root, path: "", allowed: WebSettings.keys)
        read(entries["address"], "address", ipAddress, into: &settings.address)
        var port = Int(settings.port)
        read(entries["port"], "port", .integer(0...65535), into: &port)
        settings.port = UInt16(port)
        read(entries["behind_proxy"], "behind_proxy", .boolean, into: &settings.isBehindProxy)
        read(entries["ingress"], "ingress", .boolean, into: &settings.isIngress)
        for (index, item) in items(of: entries["trusted_origins"], "trusted_origins").enumerated() {
            if let origin = value(item, "trusted_origins.\(index)", pageOrigin) {
                settings.trustedOrigins.append(origin)
            }
        }
        readTLS(entries["tls"], into: &settings)
        readUsers(entries["users"], into: &settings, isPasswordHash)
        readMetrics(entries["metrics"], into: &settings)
        readMetricsSocket(entries["metrics_socket"], entries["metrics_socket_group"], into: &settings)
        if listens, findings.isEmpty, let refusal = settings.refusal(at: settings.address) {
            findings.add(refusal, path: "address", at: entries["address"]?.origin ?? .file)
        }
        return settings
    }

    /// Reads the last key, which depends on others.
    private mutating func readMetrics(_ node: ConfigurationNode?, into settings: inout WebSettings) {
        read(node, "metrics", .boolean, into: &settings.hasMetrics)
        guard settings.hasMetrics, let node else { return }
        if settings.isIngress {
            findings.add(
                "true with ingress, where only Home Assistant's supervisor may connect", path: "metrics",
                at: node.origin, allowed: "false")
        } else if settings.isBehindProxy, settings.users.isEmpty {
            findings.add(
                "true behind a proxy without users, where everyone could read them", path: "metrics", at: node.origin,
                allowed: "false, or add users")
        }
    }

    private mutating func readMetricsSocket(
        _ node: ConfigurationNode?, _ group: ConfigurationNode?, into settings: inout WebSettings
    ) {
        let limit = WebSettings.longestSocketPath
        if let node, let path = value(node, "metrics_socket", .text(bytes: 4095)).map(folder.resolve) {
            settings.metricsSocket = path
            if path.utf8.count > limit {
                findings.add(
                    "a path of \(path.utf8.count) bytes", path: "metrics_socket", at: node.origin,
                    allowed: "the path of a Unix socket of at most \(limit) bytes")
            }
        }
        guard let group else { return }
        settings.metricsSocketGroup = value(group, "metrics_socket_group", .text(bytes: 256))
        if node == nil {
            findings.add(
                "without metrics_socket", path: "metrics_socket_group", at: group.origin,
                allowed: "the name or number of a group, with metrics_socket")
        }
    }

    private mutating func readTLS(_ node: ConfigurationNode?, into settings: inout WebSettings) {
        guard let node else { return }
        let names = ["certificate_file", "key_file"]
        let entries = entries(of: node, path: "tls", allowed: names)
        let readsCertificate = readsCertificate
        let file = ScalarRule<String>.path(in: folder).map { path throws(Rejection) in
            if readsCertificate { try ConfigurationFile.checkCertificate(path) }
            return path
        }
        settings.certificateFile = value(entries["certificate_file"], "tls.certificate_file", file)
        settings.keyFile = value(entries["key_file"], "tls.key_file", file)
        for name in names where entries[name] == nil {
            findings.add("missing", path: "tls.\(name)", at: node.origin, allowed: "the path of a PEM file")
        }
    }

    private mutating func readUsers(
        _ node: ConfigurationNode?, into settings: inout WebSettings, _ isPasswordHash: (String) -> Bool
    ) {
        for (index, item) in items(of: node, "users").enumerated() {
            let path = "users.\(index)"
            let entries = entries(of: item, path: path, allowed: ["name", "password", "role"])
            for name in ["name", "password", "role"] where entries[name] == nil {
                findings.add("missing", path: "\(path).\(name)", at: item.origin)
            }
            let name = value(entries["name"], path + ".name", userName)
            let password = value(entries["password"], path + ".password", ScalarRule<String>.text(bytes: 384).hidden())
            let role = value(entries["role"], path + ".role", .choice(of: WebSettings.roles))
            if let password, !isPasswordHash(password) {
                let problem = "not a hash of a password; \"jacquard2mqtt-web password\" prints one"
                findings.add(problem, path: path + ".password", at: item.origin)
            }
            guard let name, let password, let role else { continue }
            if settings.users.contains(where: { $0.name == name }) {
                findings.add("the same name as an earlier user", path: path + ".name", at: item.origin)
            }
            settings.users.append(.init(name: name, password: Secret(value: password), role: role))
        }
    }

    // MARK: Nodes

    private mutating func entries(
        of node: ConfigurationNode?, path: String, allowed: [String]
    ) -> [String: ConfigurationNode] {
        guard let node, !node.isNull, node.content != .unusable else { return [:] }
        guard case .section(let entries) = node.content else {
            findings.add("no keys", path: path, at: node.origin, allowed: allowed.joined(separator: ", "))
            return [:]
        }
        var known: [String: ConfigurationNode] = [:]
        for entry in entries {
            if !allowed.contains(entry.key) {
                findings.addUnknown(entry, at: path, allowed: allowed) { Spelling.hint(for: $0, in: allowed) }
            } else {
                known[entry.key] = entry.value
            }
        }
        return known
    }

    private mutating func items(of node: ConfigurationNode?, _ path: String) -> [ConfigurationNode] {
        guard let node, !node.isNull, node.content != .unusable else { return [] }
        guard case .list(let items) = node.content else {
            findings.add("not a list", path: path, at: node.origin, allowed: "items that begin with \"- \"")
            return []
        }
        return items
    }

    private mutating func value<Value>(_ node: ConfigurationNode?, _ path: String, _ rule: ScalarRule<Value>) -> Value?
    {
        guard let node, node.content != .unusable else { return nil }
        guard case .scalar(let text, _) = node.content, !node.isNull else {
            findings.add("not one value", path: path, at: node.origin, allowed: rule.allowed)
            return nil
        }
        do throws(Rejection) {
            return try rule.parse(text)
        } catch {
            findings.add(rule.problem(with: text, error), path: path, at: node.origin, allowed: rule.allowed)
            return nil
        }
    }

    private mutating func read<Value>(
        _ node: ConfigurationNode?, _ path: String, _ rule: ScalarRule<Value>, into target: inout Value
    ) {
        if let value = value(node, path, rule) { target = value }
    }
}

/// The name of a user. Source: RFC 7617, section 2: a colon ends the name in the header of a login.
private var userName: ScalarRule<String> {
    let rule = ScalarRule<String>.text(bytes: 64)
    return ScalarRule(allowed: "\(rule.allowed) and colons") { text throws(Rejection) in
        let name = try rule.parse(text)
        guard !name.contains(":") else { throw Rejection("holds a colon, which ends the name in a login (HTTP Basic)") }
        return name
    }
}

/// A literal IP address.
private var ipAddress: ScalarRule<String> {
    ScalarRule(allowed: "an IPv4 or IPv6 address such as 127.0.0.1") {
        text throws(Rejection) in
        var four = in_addr()
        var six = in6_addr()
        guard inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1 else {
            throw Rejection("is not an IP address")
        }
        return text
    }
}

/// The scheme, host and port of a page.
private var pageOrigin: ScalarRule<String> {
    ScalarRule(allowed: "an origin such as https://home.example, without a path") {
        text throws(Rejection) in
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { throw Rejection("is not an origin") }
        let host = text.drop { $0 != "/" }.dropFirst(2)
        let isHost = host.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._:[]".utf8.contains($0) }
        guard !host.isEmpty, isHost else { throw Rejection("is not an origin") }
        return text.lowercased()
    }
}
