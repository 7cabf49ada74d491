import Text

/// A part of the configuration before its meaning is known: the file and the environment in one tree.
struct ConfigurationNode: Hashable, Sendable {
    /// The content of a node.
    indirect enum Content: Hashable, Sendable {
        /// One value as it is written; plain: in a file and without quotes.
        case scalar(text: String, isPlain: Bool)
        case list([ConfigurationNode])
        case section([Entry])
        /// Something that was reported where it was found; nothing more is said about it.
        case unusable
    }

    /// A key and its value.
    struct Entry: Hashable, Sendable {
        /// As it is written; no two of a section are equal.
        let key: String
        /// The place of the key.
        let origin: ConfigurationOrigin
        /// Its value.
        var value: ConfigurationNode
        /// Whether the key was reported where it was found; nothing more is said about it.
        var isReported = false
    }

    /// The content.
    var content: Content
    /// The beginning.
    var origin: ConfigurationOrigin
    /// A remark about a value that may have been meant otherwise; nil if nothing stands out.
    var remark: ValueRemark?

    /// Whether nothing is written there: YAML's null. In quotes the same words are text.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null"].contains(text)
    }
}

extension ConfigurationNode {
    /// A remark that may explain an error of this node, with its remedy; empty if nothing does.
    var remedy: String {
        if let remark { return remark.remedy }
        // A text of the environment has no places.
        guard origin.isVariable, case .scalar(let text, _) = content else { return "" }
        return ConfusableCharacter.note(in: text)
    }

    /// The same for a node that is not meant to be a text: without the advice to put it in quotes.
    var remedyOfText: String {
        switch remark {
        case .brackets, .emptyBlock, .null: ""
        case .cut, .confusable, nil: remedy
        }
    }

    /// A sentence for each value that is allowed and may have been meant otherwise.
    ///
    /// - Parameter path: the key of this node in dotted form.
    /// - Returns: the sentences, in the order of the file.
    func notices(at path: String = "") -> [String] {
        switch content {
        case .unusable: return []
        case .scalar:
            guard let notice = remark?.notice, case .position(let position) = origin else { return [] }
            return ["line \(position.line): \(path): \(notice)"]
        case .list(let items):
            return items.enumerated().flatMap { $1.notices(at: DisplayText.path(path, "\($0)")) }
        case .section(let entries):
            return entries.flatMap { $0.value.notices(at: DisplayText.path(path, $0.key)) }
        }
    }

    /// Puts a value of the environment in the place of the file's, and makes the sections on the way to it.
    ///
    /// Where the file has something else than a section or a list on the way, nothing is set: that is an error of the
    /// file, and the reader of the section reports it.
    ///
    /// - Parameters:
    ///   - text: the value.
    ///   - path: keys and list numbers from here down; empty: here.
    ///   - variable: where the value comes from.
    /// - Throws: `Rejection` if a list number leaves a gap.
    mutating func set(_ text: String, at path: ArraySlice<String>, from variable: String) throws(Rejection) {
        guard let step = path.first else {
            // `JACQUARD2MQTT_MQTT__TLS=true` keeps the keys that the file has below.
            if text.lowercased() == "true", isSwitchedOn { return }
            self = ConfigurationNode(content: .scalar(text: text, isPlain: false), origin: .variable(variable))
            return
        }
        if isNull || isTrue && Self.isBelowSwitch(step) {
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
            guard index <= items.count else {
                let size = counted(items.count, "item")
                throw Rejection("leaves a gap: the list has \(size); allowed: 0 to \(items.count)")
            }
            if index == items.count { items.append(.null(from: variable)) }
            try items[index].set(text, at: path.dropFirst(), from: variable)
            content = .list(items)
        case .scalar, .unusable:
            return
        }
    }

    /// Whether it is a section whose keys switch it on, such as `mqtt.tls`.
    private var isSwitchedOn: Bool {
        guard case .section(let entries) = content else { return false }
        return !entries.isEmpty && entries.allSatisfy { Self.isBelowSwitch($0.key) }
    }

    private static func isBelowSwitch(_ name: String) -> Bool {
        let sections = Settings.switchPaths
        return Settings.keyDescriptions.contains { $0.name == name && sections.contains($0.parent) }
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
