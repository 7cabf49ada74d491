/// The keys that one section of the configuration may hold, each spelled as in the file.
protocol ConfigurationKey: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The keys below this one, in dotted form; empty for a key that holds one value.
    var subkeys: [String] { get }
}

extension ConfigurationKey {
    /// Most keys hold one value.
    var subkeys: [String] { [] }

    /// The keys of the section, in the order of the documentation.
    static var names: [String] { allCases.map(\.rawValue) }

    /// The keys of the section and of all below it that hold a value, in dotted form.
    static var paths: [String] {
        allCases.flatMap { key in
            key.subkeys.isEmpty ? [key.rawValue] : key.subkeys.map { "\(key.rawValue).\($0)" }
        }
    }
}

extension Settings.Key {
    /// The keys of the section of that name; those of a tag and of gear stand below `N`, the number in the list.
    var subkeys: [String] {
        switch self {
        case .instance: []
        case .mqtt: Settings.MQTT.Key.paths
        case .bluetooth: Settings.Bluetooth.Key.paths
        case .homeAssistant: Settings.HomeAssistant.Key.paths
        case .tags: TagSettings.Key.paths.map { "N.\($0)" }
        case .gear: GearSettings.Key.paths.map { "N.\($0)" }
        case .log: Settings.Log.Key.paths
        case .defaults: Settings.Defaults.Key.paths
        case .limits: Settings.Limits.Key.paths
        case .metrics: Settings.Metrics.Key.paths
        }
    }
}

extension Settings.MQTT.Key {
    /// Only `tls` is a section.
    var subkeys: [String] {
        self == .tls ? Settings.TLS.Key.paths : []
    }
}

/// Finds keys of the configuration by their names in the dotted form that messages and environment variables use.
enum ConfigurationPath {
    /// The dotted form of the first key or section of that name, in the order of the documentation.
    ///
    /// - Parameter name: such as `host`.
    /// - Returns: such as `mqtt.host`, with 0 for the number of a list's item; nil if there is no such key.
    static func path(toKey name: String) -> String? {
        for path in Settings.Key.paths {
            let parts = path.split(separator: ".")
            guard let index = parts.firstIndex(where: { $0 == name }) else { continue }
            return parts[...index].map { $0 == "N" ? "0" : $0 }.joined(separator: ".")
        }
        return nil
    }
}
