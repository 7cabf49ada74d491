import Text

/// One radio of the list `bluetooth.radios`.
public struct RadioSettings: Hashable, Sendable {
    /// The place of a radio.
    public enum Place: Hashable, Sendable {
        /// An adapter of this host.
        case here
        /// BlueZ of another computer, over SSH.
        case ssh(SSH)
        /// BlueZ on another bus: a D-Bus address.
        case bus(String)
    }

    /// How another computer is reached.
    public struct SSH: Hashable, Sendable {
        /// The user and the host, such as `pi@hall.lan`, or the host only.
        public var target: String
        /// The port; nil: 22, or what the SSH client is configured to use.
        public var port: Int?
        /// The private key; nil: the keys of the SSH client.
        public var identityFile: String?
        /// The file with the host key.
        public var knownHostsFile = defaultKnownHostsFile

        /// The default of ``knownHostsFile``.
        public static let defaultKnownHostsFile = "/etc/jacquard2mqtt/ssh/known_hosts"
    }

    /// The name in topics and logs.
    public var name: String
    /// Its place.
    public var place = Place.here
    /// The adapter there.
    public var adapter = Settings.Bluetooth.Adapter.automatic

    /// Upper bound on radios.
    static let limit = 16

    /// The radio as it could be written on one line.
    var text: String {
        switch place {
        case .here: name == adapter.text ? name : "\(name)=\(adapter.text)"
        case .ssh(let ssh): "\(name)=ssh:\(ssh.target)/\(adapter.text)"
        case .bus(let address): "\(name)=bus:\(address)/\(adapter.text)"
        }
    }
}

extension ValueType where Value == [RadioSettings] {
    /// The radios: a list whose items are the adapter's name, or keys.
    static var radios: ValueType {
        let adapter = ValueType<Settings.Bluetooth.Adapter>.adapter.schema
        let name: SchemaNode = ["type": "string", "pattern": "^[0-9A-Za-z_.-]{1,32}$"]
        func keys(_ kind: String, _ schema: SchemaNode, _ more: SchemaNode = [:]) -> SchemaNode {
            let properties: SchemaNode = .object([(kind, schema), ("name", name), ("adapter", adapter)]) + more
            return [
                "type": "object", "additionalProperties": false, "required": .list([.string(kind)]),
                "properties": properties,
            ]
        }
        let path: SchemaNode = ["$ref": "#/definitions/path"]
        let ssh = keys(
            "ssh", ["type": "string", "pattern": "^([0-9A-Za-z_][0-9A-Za-z_.-]*@)?[0-9A-Za-z:][0-9A-Za-z._:-]*$"],
            [
                "port": ["type": "integer", "minimum": 1, "maximum": 65535], "identity_file": path,
                "known_hosts_file": path,
            ])
        let bus = keys("bus", ["type": "string", "minLength": 1])
        let here: SchemaNode = [
            "type": "object", "additionalProperties": false, "required": ["adapter"],
            "properties": ["adapter": adapter, "name": name],
        ]
        let schema: SchemaNode = [
            "type": "array", "minItems": 1, "maxItems": .integer(RadioSettings.limit),
            "items": ["anyOf": [adapter, here, ssh, bus]],
        ]
        return ValueType(schema: schema, text: { $0.map(\.text).joined(separator: ", ") }) { node, path, reader in
            RadioListReader(path: path).read(node, &reader)
        }
    }
}

/// Reads the list `bluetooth.radios`.
private struct RadioListReader {
    let path: String
    private static let allowed = "hci0 or another adapter of this host, or the keys ssh or bus with name and adapter"

    /// Returns the radios; nil if anything is wrong, which is reported.
    func read(_ node: ConfigurationNode, _ reader: inout KeyReader) -> [RadioSettings]? {
        let before = reader.findings.count
        guard case .list(let items) = node.content else {
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
        var radios: [RadioSettings] = []
        for (index, item) in items.enumerated() {
            let itemPath = DisplayText.path(path, "\(index)")
            guard let radio = radio(item, itemPath, &reader) else { continue }
            if let problem = Self.conflict(of: radio, with: radios) {
                reader.findings.add(problem.text, path: itemPath, at: item.origin, allowed: problem.allowed)
            }
            radios.append(radio)
        }
        return reader.findings.count == before ? radios : nil
    }

    /// Two radios that cannot be told apart, or that would use one adapter.
    private static func conflict(
        of radio: RadioSettings, with others: [RadioSettings]
    ) -> (text: String, allowed: String)? {
        if others.contains(where: { $0.name == radio.name }) {
            return ("\(DisplayText.quoted(radio.name)) is the name of two radios", "a name for each radio")
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
            return RadioSettings(name: Self.name(of: adapter), adapter: adapter)
        }
        var keys = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        func take(_ name: String) -> ConfigurationNode? { keys.removeValue(forKey: name)?.value }
        if let esphome = take("esphome") {
            reader.findings.add(
                "proxies of ESPHome are not supported yet", path: DisplayText.path(path, "esphome"), at: esphome.origin,
                allowed: Self.allowed)
            return nil
        }
        let (ssh, bus) = (take("ssh"), take("bus"))
        let name = take("name").map { reader.scalar($0, DisplayText.path(path, "name"), .radioName) }
        let adapter = take("adapter").map { reader.scalar($0, DisplayText.path(path, "adapter"), .adapter) }
        if name == .some(nil) || adapter == .some(nil) { return nil }
        let chosen = (adapter ?? .automatic) ?? .automatic
        var radio: RadioSettings
        switch (ssh, bus) {
        case (let ssh?, nil):
            guard let target = reader.scalar(ssh, DisplayText.path(path, "ssh"), .sshTarget) else { return nil }
            var settings = RadioSettings.SSH(target: target)
            let file = ScalarRule<String>.path(in: reader.context.folder)
            if let node = take("port") {
                settings.port = reader.scalar(node, DisplayText.path(path, "port"), .integer(1...65535))
            }
            if let node = take("identity_file") {
                settings.identityFile = reader.scalar(node, DisplayText.path(path, "identity_file"), file)
            }
            if let node = take("known_hosts_file"),
                let file = reader.scalar(node, DisplayText.path(path, "known_hosts_file"), file)
            {
                settings.knownHostsFile = file
            }
            let host = target.split(separator: "@").last.map(String.init) ?? target
            radio = RadioSettings(name: String(host.prefix(32)), place: .ssh(settings), adapter: chosen)
        case (nil, let bus?):
            let rule = ScalarRule<String>.text(bytes: 1024)
            guard let address = reader.scalar(bus, DisplayText.path(path, "bus"), rule) else { return nil }
            radio = RadioSettings(name: "bus", place: .bus(address), adapter: chosen)
        case (nil, nil) where adapter != nil: radio = RadioSettings(name: Self.name(of: chosen), adapter: chosen)
        default:
            reader.findings.add(
                ssh == nil ? "a radio without a place" : "ssh and bus together", path: path, at: node.origin,
                allowed: Self.allowed)
            return nil
        }
        if let name { radio.name = name ?? radio.name }
        for entry in entries where keys[entry.key] != nil {
            let more = ssh == nil ? [] : ["port", "identity_file", "known_hosts_file"]
            let names = ["ssh", "bus", "name", "adapter"] + more
            reader.findings.addUnknown(entry, at: path, allowed: names) { Spelling.hint(for: $0, in: names) }
        }
        return radio
    }

    /// The name of a radio of this host: that of its adapter, with dashes in an address.
    private static func name(of adapter: Settings.Bluetooth.Adapter) -> String {
        String(adapter.text.map { $0 == ":" ? "-" : $0 })
    }
}

extension ScalarRule where Value == String {
    /// The name of a radio.
    fileprivate static var radioName: ScalarRule {
        word(limit: 32, alphabet: "0-9 A-Z a-z _ . -") { ASCII.isOfWord($0) || $0 == UInt8(ascii: ".") }
    }

    /// A user and a host for the SSH client. Neither can begin with a dash, which the client would take for an option.
    fileprivate static var sshTarget: ScalarRule {
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
            return target
        }
    }
}
