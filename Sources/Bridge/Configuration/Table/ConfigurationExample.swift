/// The example of the configuration file, generated from the table of keys.
enum ConfigurationExample {
    /// The text of `config/jacquard2mqtt.yaml`.
    static var text: String {
        let keys = Settings.keyDescriptions
        let parts = keys.filter(\.parent.isEmpty).map { lines(of: $0, in: keys, indentation: "") }
        return ([head] + parts).map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private static let head = [
        "# yaml-language-server: $schema=./jacquard2mqtt.schema.json",
        "#",
        "# Configuration of jacquard2mqtt: every key with its default. Every key is optional.",
        "#",
        "# Lines that start with \"# \" are comments. Lines that start with \"#\" alone are keys: remove the \"#\" to set one. Indent with",
        "# spaces. Put a value in quotes if it contains \": \" or \" #\", or starts with one of & * ! % @ ` [ {. Serials are read as they",
        "# are written: 0001 stays 0001.",
        "#",
        "# Environment variables override the file: JACQUARD2MQTT_MQTT__HOST is mqtt.host, JACQUARD2MQTT_TAGS__0__SERIAL is the",
        "# serial of the first tag. Check a change with: jacquard2mqtt check-config --config FILE",
        "# Apply it to a running bridge with: systemctl reload jacquard2mqtt",
    ]

    /// The most characters of a line with a comment.
    private static let width = 126

    /// A key with its comment, and the keys below it. The first key of an item of a list has a dash.
    private static func lines(
        of key: KeyDescription, in keys: [KeyDescription], indentation: String, dash: String = ""
    ) -> [String] {
        func children(of keys: [KeyDescription], below parent: String, after indentation: String) -> [String] {
            keys.filter { $0.parent == parent }.flatMap { lines(of: $0, in: keys, indentation: indentation) }
        }
        let comment = wrapped(key.exampleComment, prefix: "\(indentation)# ")
        switch key.kind {
        case .value:
            let mark = key.example.isAlternative ? "# " : "#"
            return comment + ["\(indentation)\(mark)\(dash)\(key.name): \(key.exampleValue)"]
        case .section:
            let inner = children(of: keys, below: key.path, after: indentation + "  ")
            return key.parent.isEmpty && indentation.isEmpty
                ? ["\(key.name):"] + inner : comment + ["\(indentation)#\(key.name):"] + inner
        case .list(let items, _):
            let first = items.prefix(1).flatMap { lines(of: $0, in: items, indentation: "  ", dash: "- ") }
            let others = children(of: Array(items.dropFirst()), below: "", after: "    ")
            return comment + ["\(key.name):"] + first + others
        }
    }

    private static func wrapped(_ text: String, prefix: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.unicodeScalars.count + 1 + word.unicodeScalars.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(prefix + word)
            }
        }
        return lines
    }
}

/// The part of a key in the example configuration.
struct KeyExample: Sendable {
    /// The value; nil for the default.
    var value: String?
    /// The comment; nil if it follows from the key's sentence. An empty one belongs to a key that the comment before describes.
    var comment: String?
    /// Whether the key cannot stand beside one before it, and has the form of a comment.
    var isAlternative = false
}

extension ConfigurationKey {
    /// The same key with other texts in the example configuration.
    ///
    /// - Parameters:
    ///   - value: as it is written in the file; nil for the default.
    ///   - comment: nil for the key's sentence with the range of its value.
    ///   - isAlternative: whether the key cannot stand beside one before it.
    /// - Returns: the key.
    consuming func example(
        _ value: String? = nil, comment: String? = nil, isAlternative: Bool = false
    ) -> ConfigurationKey {
        description.example = KeyExample(value: value, comment: comment, isAlternative: isAlternative)
        return self
    }
}

extension KeyDescription {
    /// The value in the example: an own one, otherwise the default.
    fileprivate var exampleValue: String { example.value ?? defaultText ?? "" }

    /// The default where it is a constant, as it is written in the file.
    var defaultText: String? { defaultValue?.plainText }

    /// The comment in the example: an own one, otherwise the sentence with the range behind its first clause.
    fileprivate var exampleComment: String {
        if let comment = example.comment { return comment }
        if case .list(_, let limit?) = kind { return "\(sentence.dropLast()); at most \(limit) items." }
        let bounds = schema.bounds
        let required = requirement == nil ? "" : " Required."
        guard bounds.count == 2 else { return sentence + required }
        let ends = sentence.indices.dropLast().first { index in
            ".;:".contains(sentence[index]) && sentence[sentence.index(after: index)] == " "
        }
        let end = ends ?? sentence.index(before: sentence.endIndex)
        return "\(sentence[..<end]), \(bounds.joined(separator: " to "))\(sentence[end...])" + required
    }
}
