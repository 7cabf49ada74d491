/// A part of the configuration before its meaning is known: the file and the environment in one tree.
struct ConfigurationNode: Hashable, Sendable {
    /// What stands there.
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
        /// Where the key stands.
        let origin: ConfigurationOrigin
        /// What belongs to it.
        var value: ConfigurationNode
    }

    /// What.
    var content: Content
    /// Where it begins.
    var origin: ConfigurationOrigin

    /// Whether nothing is written there: YAML's null. In quotes the same words are text.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null"].contains(text)
    }
}
