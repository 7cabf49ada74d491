import Bridge

extension FeatureKey {
    /// The row of the key.
    var row: ConfigurationKey<Settings> {
        let row: ConfigurationKey<Settings> =
            switch value {
            case .section: .section(path, sentence)
            case .flag(let place): ConfigurationKey(path, Self.place(place), .boolean, .settings, sentence)
            case .integer(let place, let range):
                ConfigurationKey(path, Self.place(place), .integer(range), .settings, sentence)
            }
        return switch addOn {
        case .option(let name): row.option(name)
        case .none(let reason): row.withoutOption(reason)
        }
    }

    private static func place<Value>(
        _ place: WritableKeyPath<BridgeOptions, Value>
    ) -> WritableKeyPath<Settings, Value> {
        let options: WritableKeyPath<Settings, BridgeOptions> = \.bridge
        return options.appending(path: place)
    }
}
