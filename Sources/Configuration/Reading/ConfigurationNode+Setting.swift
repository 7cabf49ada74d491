extension ConfigurationNode {
    /// Puts a value of the environment in the place of the file's, and makes the sections on the way to it.
    ///
    /// Where the file has something else than a section or a list on the way, nothing is set: that is an error of the
    /// file, and whoever reads the section reports it.
    ///
    /// - Parameters:
    ///   - text: the value.
    ///   - path: keys and list numbers from here down; empty: here.
    ///   - variable: where the value comes from.
    /// - Throws: `Rejection` if a list number leaves a gap.
    mutating func set(_ text: String, at path: ArraySlice<String>, from variable: String) throws(Rejection) {
        guard let step = path.first else {
            // `JACQUARD2MQTT_MQTT__TLS=true` keeps the keys that the file has below.
            if text.lowercased() == "true", isOfTLS { return }
            self = ConfigurationNode(content: .scalar(text: text, isPlain: false), origin: .variable(variable))
            return
        }
        if isNull || isTrue && Configuration.TLS.Key(rawValue: step) != nil {
            content = Int(step) == nil ? .section([]) : .list([])
        }
        switch content {
        case .section(var entries):
            let index = entries.firstIndex { $0.key == step } ?? entries.endIndex
            if index == entries.endIndex {
                entries.append(Entry(key: step, origin: .variable(variable), value: .null(from: variable)))
            }
            try entries[index].value.set(text, at: path.dropFirst(), from: variable)
            content = .section(entries)
        case .list(var items):
            guard let index = Int(step) else { return }
            guard index <= items.count else { throw Rejection("leaves a gap: the list has \(items.count) items") }
            if index == items.count { items.append(.null(from: variable)) }
            try items[index].set(text, at: path.dropFirst(), from: variable)
            content = .list(items)
        case .scalar, .unusable:
            return
        }
    }

    /// Whether it is a section with keys of `mqtt.tls` alone.
    private var isOfTLS: Bool {
        guard case .section(let entries) = content else { return false }
        return !entries.isEmpty && entries.allSatisfy { Configuration.TLS.Key(rawValue: $0.key) != nil }
    }

    /// Whether it is the word `true`, which stands for a section without keys where it is allowed.
    private var isTrue: Bool {
        guard case .scalar(let text, _) = content else { return false }
        return text.lowercased() == "true"
    }

    /// Nothing yet, because of a variable.
    static func null(from variable: String) -> ConfigurationNode {
        ConfigurationNode(content: .scalar(text: "", isPlain: true), origin: .variable(variable))
    }
}
