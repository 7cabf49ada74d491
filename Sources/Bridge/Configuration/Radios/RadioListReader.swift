import Text

/// Reads the list `bluetooth.radios`.
struct RadioListReader {
    let path: String
    private static let allowed =
        "hci0 or another adapter of this host, or the keys of a radio: adapter, ssh, bus or esphome"

    /// Returns the radios; nil if anything is wrong, which is reported.
    func read(_ node: ConfigurationNode, _ reader: inout KeyReader) -> [RadioSettings]? {
        let before = reader.findings.count
        guard let items = items(of: node) else {
            if node.content != .unusable {
                let allowed = "1 to \(RadioSettings.limit) items: \(Self.allowed)"
                reader.findings.add("no list of radios", path: path, at: node.origin, allowed: allowed)
            }
            return nil
        }
        guard (1...RadioSettings.limit).contains(items.count) else {
            reader.findings.add(
                "a list of \(items.count)", path: path, at: node.origin, allowed: "1 to \(RadioSettings.limit) items")
            return nil
        }
        let isText = if case .scalar = node.content { true } else { false }
        var radios: [RadioSettings] = []
        for (index, item) in items.enumerated() {
            let itemPath = isText ? path : DisplayText.path(path, "\(index)")
            guard let radio = radio(item, itemPath, &reader) else { continue }
            if let problem = Self.conflict(of: radio, with: radios) {
                reader.findings.add(problem.text, path: itemPath, at: item.origin, allowed: problem.allowed)
            }
            radios.append(radio)
        }
        return reader.findings.count == before ? radios : nil
    }

    /// The items of the list. An environment variable can hold adapters of this host only, with commas between them: the other
    /// radios have keys.
    private func items(of node: ConfigurationNode) -> [ConfigurationNode]? {
        switch node.content {
        case .list(let items): return items
        case .scalar(let text, _):
            guard node.origin.isVariable else { return nil }
            return text.split(separator: ",", omittingEmptySubsequences: false).map {
                ConfigurationNode(content: .scalar(text: ASCII.trimmed($0), isPlain: false), origin: node.origin)
            }
        case .section, .unusable: return nil
        }
    }

    /// Two radios that cannot be told apart, or that would use one adapter.
    private static func conflict(
        of radio: RadioSettings, with others: [RadioSettings]
    ) -> (text: String, allowed: String)? {
        if others.contains(where: { $0.name == radio.name }) {
            return ("\(DisplayText.quoted(radio.name)) is the name of two radios", "a name for each radio")
        }
        if case .esphome(let proxy) = radio.place, others.contains(where: { $0.isProxy(at: proxy) }) {
            return ("two radios are the same proxy", "each proxy once")
        }
        let same = others.filter { $0.place == radio.place }
        let isAny = radio.adapter == .automatic
        if same.contains(where: { isAny || $0.adapter == radio.adapter || $0.adapter == .automatic }) {
            return ("two radios of one computer can be the same adapter", "each adapter once, and auto only alone")
        }
        return nil
    }

    private func radio(_ node: ConfigurationNode, _ path: String, _ reader: inout KeyReader) -> RadioSettings? {
        guard case .section(let entries) = node.content else {
            guard let adapter = reader.scalar(node, path, .adapter) else { return nil }
            return RadioSettings(name: Self.name(of: adapter.text), adapter: adapter)
        }
        var keys = RadioKeys(entries, path)
        let places = ["ssh", "bus", "esphome"].filter(keys.has)
        guard places.count < 2, !places.isEmpty || keys.has("adapter") else {
            let problem = places.isEmpty ? "a radio without a place" : places.joined(separator: " and ") + " together"
            reader.findings.add(problem, path: path, at: node.origin, allowed: Self.allowed)
            return nil
        }
        guard var radio = placed(places.first, &keys, node, &reader) else { return nil }
        switch keys.take("name", radioName, &reader) {
        case .absent: break
        case .wrong: return nil
        case .value(let name): radio.name = name
        }
        keys.reportUnknown(&reader)
        return radio
    }

    /// Reads the keys of one kind of radio; nil if one is wrong, which is reported.
    private func placed(
        _ kind: String?, _ keys: inout RadioKeys, _ node: ConfigurationNode, _ reader: inout KeyReader
    ) -> RadioSettings? {
        if kind == "esphome" { return proxy(&keys, node, &reader) }
        var adapter = Settings.Bluetooth.Adapter.automatic
        switch keys.take("adapter", .adapter, &reader) {
        case .absent: break
        case .wrong: return nil
        case .value(let value): adapter = value
        }
        switch kind {
        case "ssh":
            guard case .value(let target) = keys.take("ssh", .sshTarget, &reader) else { return nil }
            var ssh = RadioSettings.SSH(target: target)
            let file = ScalarRule<String>.path(in: reader.context.folder)
            if case .value(let port) = keys.take("port", .integer(1...65535), &reader) { ssh.port = port }
            if case .value(let path) = keys.take("identity_file", file, &reader) { ssh.identityFile = path }
            if case .value(let path) = keys.take("known_hosts_file", file, &reader) { ssh.knownHostsFile = path }
            return RadioSettings(name: Self.name(of: ssh.host), place: .ssh(ssh), adapter: adapter)
        case "bus":
            guard case .value(let address) = keys.take("bus", .busAddress, &reader) else { return nil }
            return RadioSettings(name: "bus", place: .bus(address), adapter: adapter)
        default: return RadioSettings(name: Self.name(of: adapter.text), adapter: adapter)
        }
    }

    /// Reads the keys of a proxy.
    private func proxy(
        _ keys: inout RadioKeys, _ node: ConfigurationNode, _ reader: inout KeyReader
    ) -> RadioSettings? {
        guard case .value(let host) = keys.take("esphome", proxyHost, &reader) else { return nil }
        var proxy = RadioSettings.ESPHome(host: host.host, port: host.port ?? RadioSettings.ESPHome.defaultPort)
        let isEncrypted = keys.has("key_file")
        let key = proxyKey(reader.context)
        proxy.keyFile = keys.text("key_file")
        if case .value(let key) = keys.take("key_file", key, &reader) { proxy.key = key }
        let (insecure, place) = (keys.take("insecure", .boolean, &reader), keys.origin("insecure") ?? node.origin)
        switch (insecure, isEncrypted) {
        case (.value(true), true):
            let problem = "set to true together with key_file"
            reader.findings.add(problem, path: keys.path("insecure"), at: place, allowed: "one of the two")
        case (.absent, false), (.value(false), false):
            reader.findings.add(
                "missing", path: keys.path("key_file"), at: node.origin,
                allowed: "\(key.allowed); or insecure: true for a proxy without encryption, in a network of your own")
        default: break
        }
        let dedicated = keys.take("dedicated", .boolean, &reader)
        if dedicated == .absent || dedicated == .value(false) {
            reader.findings.add(
                dedicated == .absent ? "missing" : "no proxy for this bridge only", path: keys.path("dedicated"),
                at: keys.origin("dedicated") ?? node.origin,
                allowed: "true, for a proxy that neither Home Assistant nor another bridge uses: it serves one client")
        }
        return RadioSettings(name: Self.name(of: host.host), place: .esphome(proxy))
    }

    /// The name of a radio without one: that of its adapter or host, with dashes in an address.
    private static func name(of place: String) -> String {
        String(place.map { $0 == ":" || $0 == "%" ? "-" : $0 }.prefix(32))
    }
}

/// The keys of one item, which are taken one by one.
private struct RadioKeys {
    /// A key that was taken.
    enum Taken<Value: Equatable>: Equatable {
        case absent
        /// The value is wrong, which is reported.
        case wrong
        case value(Value)
    }

    private let entries: [ConfigurationNode.Entry]
    private let item: String
    private var taken: [String] = []

    init(_ entries: [ConfigurationNode.Entry], _ path: String) {
        self.entries = entries
        item = path
    }

    func path(_ key: String) -> String { DisplayText.path(item, key) }
    func origin(_ key: String) -> ConfigurationOrigin? { node(key)?.origin }
    func has(_ key: String) -> Bool { node(key) != nil }

    /// The text of a value; nil if there is none.
    func text(_ key: String) -> String? {
        if case .scalar(let text, _)? = node(key)?.content { text } else { nil }
    }

    private func node(_ key: String) -> ConfigurationNode? { entries.first { $0.key == key }?.value }

    mutating func take<Value>(_ key: String, _ rule: ScalarRule<Value>, _ reader: inout KeyReader) -> Taken<Value> {
        taken.append(key)
        guard let node = node(key) else { return .absent }
        return reader.scalar(node, path(key), rule).map { .value($0) } ?? .wrong
    }

    /// Reports each key that was not taken. The allowed ones are those that could have been.
    func reportUnknown(_ reader: inout KeyReader) {
        for entry in entries where !taken.contains(entry.key) {
            reader.findings.addUnknown(entry, at: item, allowed: taken) { Spelling.hint(for: $0, in: taken) }
        }
    }
}

extension RadioSettings {
    fileprivate func isProxy(at other: ESPHome) -> Bool {
        if case .esphome(let proxy) = place { proxy.host == other.host && proxy.port == other.port } else { false }
    }
}

/// The host of a proxy.
private var proxyHost: ScalarRule<BrokerHost> {
    ScalarRule(
        allowed: "a host name or address, with a port that is not 6053, such as 192.0.2.7 or loft.local:6054",
        parse: ScalarRule.brokerHost.parse)
}

/// A file with the key of a proxy.
private func proxyKey(_ context: ReadingContext) -> ScalarRule<Secret> {
    ScalarRule(
        allowed: "a file or a systemd credential with the key of the proxy's configuration (api, encryption, key)"
    ) { text throws(Rejection) in
        let secret = try context.readPassword(try ScalarRule<String>.text(bytes: 4095).parse(text))
        let characters = secret.value.utf8
        let isKey =
            characters.count == 44 && characters.last == UInt8(ascii: "=")
            && characters.dropLast().allSatisfy { ASCII.isAlphanumeric($0) || "+/".utf8.contains($0) }
        guard isKey else { throw Rejection("does not hold 32 bytes in base64, which are 44 characters") }
        return secret
    }
}

/// The name of a radio.
private var radioName: ScalarRule<String> {
    ScalarRule.word(limit: 32, alphabet: "0-9 A-Z a-z _ . -") {
        ASCII.isOfWord($0) || $0 == UInt8(ascii: ".")
    }
}
