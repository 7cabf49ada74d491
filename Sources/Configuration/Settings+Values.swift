import Text

extension Settings {
    /// The values of a key, as they could be written in the file.
    ///
    /// - Parameter path: the key in dotted form. Below `tags` and `gear`, `N` stands for every item, a number
    ///   for one.
    /// - Returns: one text, empty where there is no value; for `tags.N.serial` one for each tag; nil for an unknown key, a
    ///   section, a number past the end of the list, and for `mqtt.password`, which is never printed.
    public func values(of path: String) -> [String]? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let key = Key(rawValue: parts[0]) else { return nil }
        switch (key, parts.count) {
        case (.instance, 1): return [instance]
        case (.mqtt, 3) where parts[1] == MQTT.Key.tls.rawValue:
            return TLS.Key(rawValue: parts[2]).map { [mqtt.tls?.text(of: $0) ?? ""] }
        case (.mqtt, 2): return MQTT.Key(rawValue: parts[1]).flatMap(mqtt.text).map { [$0] }
        case (.bluetooth, 2): return Bluetooth.Key(rawValue: parts[1]).map { [bluetooth.text(of: $0)] }
        case (.homeAssistant, 2): return HomeAssistant.Key(rawValue: parts[1]).map { [homeAssistant.text(of: $0)] }
        case (.tags, 3):
            return TagSettings.Key(rawValue: parts[2]).flatMap { key in
                Self.values(of: tags, parts[1]) { $0.text(of: key) }
            }
        case (.gear, 3):
            return GearSettings.Key(rawValue: parts[2]).flatMap { key in
                Self.values(of: gear, parts[1]) { $0.text(of: key) }
            }
        case (.log, 2): return Log.Key(rawValue: parts[1]).map { [log.text(of: $0)] }
        case (.defaults, 2): return Defaults.Key(rawValue: parts[1]).map { [defaults.text(of: $0)] }
        case (.limits, 2): return Limits.Key(rawValue: parts[1]).map { [limits.text(of: $0)] }
        case (.metrics, 2): return Metrics.Key(rawValue: parts[1]).map { [metrics.text(of: $0)] }
        case (.instance, _), (.mqtt, _), (.bluetooth, _), (.homeAssistant, _), (.tags, _), (.gear, _), (.log, _),
            (.defaults, _),
            (.limits, _), (.metrics, _):
            return nil
        }
    }

    /// The keys that ``values(of:)`` knows, in the order of the documentation.
    public static var printableKeys: [String] {
        let secret = "\(Key.mqtt.rawValue).\(MQTT.Key.password.rawValue)"
        let tls = "\(Key.mqtt.rawValue).\(MQTT.Key.tls.rawValue)"
        let paths = Key.paths.filter { $0 != secret }
        guard let index = paths.firstIndex(where: { $0.hasPrefix(tls + ".") }) else { return paths }
        return paths[..<index] + [tls] + paths[index...]
    }

    /// The texts of one item of a list, or with `N` of all; nil for a number past the end.
    private static func values<Item>(of items: [Item], _ number: String, text: (Item) -> String) -> [String]? {
        if number == "N" { return items.map(text) }
        guard let index = Int(number), items.indices.contains(index) else { return nil }
        return [text(items[index])]
    }
}

extension Settings.MQTT {
    fileprivate func text(of key: Key) -> String? {
        switch key {
        case .host: host
        case .port: "\(port)"
        case .version: version.rawValue
        case .baseTopic: baseTopic
        case .clientID: clientID
        case .username: username ?? ""
        case .password: nil
        case .passwordFile: passwordFile ?? ""
        case .keepalive: keepalive.decimalSeconds
        case .tls: "\(tls != nil)"
        }
    }
}

extension Settings.TLS {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .authorityFile: authorityFile ?? ""
        case .certificateFile: certificateFile ?? ""
        case .keyFile: keyFile ?? ""
        case .insecure: "\(isInsecure)"
        }
    }
}

extension Settings.Bluetooth {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .adapter:
            switch adapter {
            case .automatic: "auto"
            case .name(let text), .address(let text): text
            }
        case .connectTimeout: connectTimeout.decimalSeconds
        case .resetAdapter: "\(resetAdapter)"
        }
    }
}

extension Settings.HomeAssistant {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .discovery: "\(discovery)"
        case .prefix: prefix
        case .form: form.rawValue
        case .statusTopic: statusTopic
        }
    }
}

extension TagSettings {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .serial: serial
        case .id: id
        case .name: name ?? ""
        case .address: address ?? ""
        case .connect: connect.rawValue
        }
    }
}

extension GearSettings {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .vendorID: vendorID
        case .productID: productID
        case .vendor: vendor ?? ""
        case .product: product ?? ""
        case .capabilities:
            Capability.allCases.filter { capabilities?.contains($0) == true }.map(\.rawValue).joined(separator: ", ")
        }
    }
}

extension Settings.Log {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .level: level.rawValue
        case .format: format.rawValue
        }
    }
}

extension Settings.Defaults {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .ledOn: ledOn.decimalSeconds
        }
    }
}

extension Settings.Limits {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .gesturesWhileBrokerAway: gesturesWhileBrokerAway.decimalSeconds
        case .commandsPerTag: "\(commandsPerTag)"
        }
    }
}

extension Settings.Metrics {
    fileprivate func text(of key: Key) -> String {
        switch key {
        case .file: file ?? ""
        case .interval: interval.decimalSeconds
        }
    }
}
