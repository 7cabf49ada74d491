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
        /// A Bluetooth proxy of ESPHome, which serves this bridge only.
        case esphome(ESPHome)
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

        /// Creates the settings of a computer with the defaults.
        public init(target: String) {
            self.target = target
        }

        /// The default of ``knownHostsFile``.
        public static let defaultKnownHostsFile = "/etc/jacquard2mqtt/ssh/known_hosts"
    }

    /// How a proxy is reached.
    public struct ESPHome: Hashable, Sendable {
        /// Its name or address.
        public var host: String
        /// The port of its API.
        public var port = defaultPort
        /// The file with its key, as the configuration names it; nil: the proxy does not encrypt.
        public var keyFile: String?
        /// The key: 32 bytes in base64.
        public var key: Secret?

        /// The default of ``port``.
        public static let defaultPort = 6053
    }

    /// The name in topics and logs.
    public var name: String
    /// Its place.
    public var place = Place.here
    /// The adapter there. A proxy is one itself.
    public var adapter = Settings.Bluetooth.Adapter.automatic

    /// Upper bound on radios.
    static let limit = 16

    /// The radio as it could be written on one line.
    var text: String {
        switch place {
        case .here: name == adapter.text ? name : "\(name)=\(adapter.text)"
        case .ssh(let ssh): "\(name)=ssh:\(ssh.target)/\(adapter.text)"
        case .bus(let address): "\(name)=bus:\(address)/\(adapter.text)"
        case .esphome(let proxy): "\(name)=esphome:\(BrokerHost(host: proxy.host, port: proxy.port).text)"
        }
    }
}

extension ValueType where Value == [RadioSettings] {
    /// The radios: a list whose items are the adapter's name, or keys.
    static var radios: ValueType {
        let adapter = ValueType<Settings.Bluetooth.Adapter>.adapter.schema
        let name: SchemaNode = ["type": "string", "pattern": "^[0-9A-Za-z_.-]{1,32}$"]
        func keys(_ kind: String, _ schema: SchemaNode, _ more: SchemaNode = [:], required: [String] = []) -> SchemaNode
        {
            [
                "type": "object", "additionalProperties": false,
                "required": .list(([kind] + required).map(SchemaNode.string)),
                "properties": .object([(kind, schema), ("name", name)]) + more,
            ]
        }
        let path: SchemaNode = ["$ref": "#/definitions/path"]
        // With colons, an IPv6 address: at least two.
        let computer =
            "([0-9A-Za-z][0-9A-Za-z._-]*|([0-9A-Za-z][0-9A-Za-z._-]*)?:[0-9A-Za-z._-]*:[0-9A-Za-z._:-]*)"
        let ssh = keys(
            "ssh", ["type": "string", "pattern": .string("^([0-9A-Za-z_][0-9A-Za-z_.-]*@)?\(computer)$")],
            [
                "adapter": adapter, "port": ["type": "integer", "minimum": 1, "maximum": 65535], "identity_file": path,
                "known_hosts_file": path,
            ])
        let bus = keys("bus", ["type": "string", "pattern": "^[0-9A-Za-z_-]+:"], ["adapter": adapter])
        let host = "(\\[[A-Za-z0-9._:%-]+\\]|[A-Za-z0-9._%-]{1,253})(:[1-9][0-9]{0,4})?"
        func proxy(_ isEncrypted: Bool) -> SchemaNode {
            let file: SchemaNode = isEncrypted ? ["key_file": path] : [:]
            let insecure: SchemaNode = .list([isEncrypted ? false : true])
            return keys(
                "esphome", ["type": "string", "pattern": .string("^\(host)$")],
                file + ["insecure": ["enum": insecure], "dedicated": ["enum": [true]]],
                required: [isEncrypted ? "key_file" : "insecure", "dedicated"])
        }
        let here: SchemaNode = [
            "type": "object", "additionalProperties": false, "required": ["adapter"],
            "properties": ["adapter": adapter, "name": name],
        ]
        let schema: SchemaNode = [
            "type": "array", "minItems": 1, "maxItems": .integer(RadioSettings.limit),
            "items": ["anyOf": [adapter, here, ssh, bus, proxy(true), proxy(false)]],
        ]
        return ValueType(schema: schema, text: { $0.map(\.text).joined(separator: ", ") }) { node, path, reader in
            RadioListReader(path: path).read(node, &reader)
        }
    }
}
