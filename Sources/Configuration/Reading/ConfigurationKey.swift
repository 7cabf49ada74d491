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

extension Configuration.Key {
    /// The keys of the section of that name; those of a tag and of gear stand below `N`, the number in the list.
    var subkeys: [String] {
        switch self {
        case .instance: []
        case .mqtt: Configuration.MQTT.Key.paths
        case .bluetooth: Configuration.Bluetooth.Key.paths
        case .homeAssistant: Configuration.HomeAssistant.Key.paths
        case .tags: TagConfiguration.Key.paths.map { "N.\($0)" }
        case .gear: GearConfiguration.Key.paths.map { "N.\($0)" }
        case .log: Configuration.Log.Key.paths
        case .defaults: Configuration.Defaults.Key.paths
        case .limits: Configuration.Limits.Key.paths
        case .metrics: Configuration.Metrics.Key.paths
        }
    }
}

extension Configuration.MQTT.Key {
    /// Only `tls` is a section.
    var subkeys: [String] {
        self == .tls ? Configuration.TLS.Key.paths : []
    }
}
