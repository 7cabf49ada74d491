import Bridge

extension FeatureKey {
    /// The row of the key.
    var row: ConfigurationKey<Settings> {
        var row: ConfigurationKey<Settings> =
            switch value {
            case .section: .section(path, sentence)
            case .flag(let place): ConfigurationKey(path, Self.place(place), .boolean, .settings, sentence)
            case .integer(let place, let range):
                ConfigurationKey(path, Self.place(place), .integer(range), .settings, sentence)
            case .seconds(let place, let range):
                ConfigurationKey(path, Self.place(place), .wholeSeconds(range), .settings, sentence)
            case .folder(let place): ConfigurationKey(path, Self.place(place), .folder, .settings, sentence)
            }
        if let example { row = row.example(example.value, comment: example.sentence) }
        switch addOn {
        case .option(let name): return row.option(name)
        case .omitted(let reason): return row.withoutOption(reason)
        case nil: return row
        }
    }

    private static func place<Value>(
        _ place: WritableKeyPath<BridgeOptions, Value>
    ) -> WritableKeyPath<Settings, Value> {
        let options: WritableKeyPath<Settings, BridgeOptions> = \.bridge
        return options.appending(path: place)
    }
}
