/// The options of the add-on for Home Assistant's supervisor, generated from the table of keys.
///
/// The supervisor shows two levels of options, so that a section below another one stands at the top by its own name.
enum AddOnOptions {
    /// The sections `options` and `schema` of the add-on's `config.yaml`.
    static var configuration: String {
        let options = groups.map { "  \($0.key.name): \($0.initial)" }
        let schema = groups.flatMap { group -> [String] in
            guard !group.fields.isEmpty else { return ["  \(group.key.name): \(form(of: group.key))"] }
            return ["  \(group.key.name):"]
                + group.fields.enumerated().map { number, field in
                    let dash = group.isList ? (number == 0 ? "- " : "  ") : ""
                    return "    \(dash)\(field.name): \(field.form)"
                }
        }
        return (["options:"] + options + ["schema:"] + schema).joined(separator: "\n") + "\n"
    }

    /// The add-on's `translations/en.yaml`.
    static var translation: String {
        func lines(_ name: String, _ label: String, _ description: String, _ indentation: String) -> [String] {
            ["\(indentation)\(name):", "\(indentation)  name: \(label)"]
                + (description.isEmpty ? [] : ["\(indentation)  description: \(quoted(description))"])
        }
        let inner = groups.flatMap { group in
            lines(group.key.name, group.texts.name, group.texts.description ?? "", "  ")
                + (group.fields.isEmpty ? [] : ["    fields:"])
                + group.fields.flatMap { lines($0.name, $0.label, $0.description, "      ") }
        }
        return (["configuration:"] + inner).joined(separator: "\n") + "\n"
    }

    /// The keys that are neither options nor withheld, alone or with their section.
    static var undecided: [String] {
        Settings.keyDescriptions.flatMap { key -> [String] in
            let isInside = Settings.keyDescriptions.contains { section in
                section.isWithheld && key.path.hasPrefix("\(section.path).")
            }
            var paths = key.addOn == nil && !isInside ? [key.path] : []
            if key.addOnTexts != nil, case .list(let items, _) = key.kind {
                paths += items.filter { $0.addOn == nil }.map { "\(key.path).N.\($0.path)" }
            }
            return paths
        }
    }

    /// A line in `options`, with the lines below it in `schema`.
    private struct Group {
        let key: KeyDescription
        let texts: AddOnTexts
        let fields: [Field]
        let isList: Bool

        /// The value of an add-on that has just been installed.
        var initial: String { fields.isEmpty ? texts.initial ?? "" : isList ? "[]" : "{}" }
    }

    private struct Field {
        let name: String
        let form: String
        let label: String
        let description: String
    }

    private static var groups: [Group] {
        let keys = Settings.keyDescriptions
        return keys.compactMap { key in
            guard let texts = key.addOnTexts else { return nil }
            switch key.kind {
            case .value: return key.parent.isEmpty ? Group(key: key, texts: texts, fields: [], isList: false) : nil
            case .section:
                let enabled = texts.enabled.map {
                    Field(name: "enabled", form: "bool?", label: $0, description: "")
                }
                let inner = keys.filter { $0.parent == key.path }
                return Group(
                    key: key, texts: texts, fields: (enabled.map { [$0] } ?? []) + fields(inner), isList: false)
            case .list(let items, _): return Group(key: key, texts: texts, fields: fields(items), isList: true)
            }
        }
    }

    private static func fields(_ keys: [KeyDescription]) -> [Field] {
        keys.compactMap { key in
            guard case .value = key.kind, let texts = key.addOnTexts else { return nil }
            return Field(
                name: key.name, form: form(of: key) + (key.requirement == nil ? "?" : ""), label: texts.name,
                description: texts.description ?? key.sentenceWithDefault)
        }
    }

    /// The supervisor's type of an option.
    private static func form(of key: KeyDescription) -> String {
        if let form = key.addOnTexts?.form { return form }
        if key.isSecret { return "password" }
        let words = key.schema.enumeratedWords
        guard words.isEmpty || key.schema.text(of: "pattern") != nil else {
            return "list(\(words.joined(separator: "|")))"
        }
        var schema = key.schema
        if let reference = schema.text(of: "$ref")?.split(separator: "/").last {
            schema = SchemaNode.definitions.members.first { $0.key == reference }?.value ?? [:]
        }
        switch schema.text(of: "type") {
        case "boolean": return "bool"
        case "integer": return "int(\(schema.bounds.joined(separator: ",")))"
        case "number": return "float(\(schema.bounds.joined(separator: ",")))"
        default: return "match(\(pattern(of: schema)))"
        }
    }

    /// The pattern in the form of Python, with the longest length of a text.
    private static func pattern(of schema: SchemaNode) -> String {
        let pattern = (schema.text(of: "pattern") ?? "").split(separator: "\\u00", omittingEmptySubsequences: false)
            .joined(separator: "\\x")
        let any = "^[^\\x00-\\x1F\\x7F]+$"
        let longest = schema.members.first { $0.key == "maxLength" }.flatMap { Int($0.value.text()) }
        guard pattern == any, let longest, longest < 4095 else { return pattern }
        return "\(any.dropLast(2)){1,\(longest)}$"
    }

    private static func quoted(_ text: String) -> String { text.contains(": ") ? "\"\(text)\"" : text }
}

/// Whether the add-on offers a key as an option.
enum AddOnOption: Sendable {
    /// It does, with these texts.
    case offered(AddOnTexts)
    /// It does not, for this reason.
    case withheld(String)
}

/// The texts of an option of the add-on.
struct AddOnTexts: Sendable {
    /// The name of the option.
    let name: String
    /// The sentence below the name; empty for none, nil if it follows from the key's.
    let description: String?
    /// The supervisor's type, if it does not follow from the key's.
    var form: String?
    /// The value of an add-on that has just been installed, if there is one.
    var initial: String?
    /// The name of the option that switches a section on, if there is one.
    var enabled: String?
}

extension ConfigurationKey {
    /// The same key as an option of the add-on.
    ///
    /// - Parameters:
    ///   - name: the name of the option.
    ///   - description: the sentence below the name; empty for none, nil for the key's sentence with its default.
    ///   - form: the supervisor's type, if it does not follow from the key's.
    ///   - initial: the value of an add-on that has just been installed, for a key outside of a section.
    ///   - enabled: the name of the option that switches the section on.
    /// - Returns: the key.
    consuming func option(
        _ name: String, _ description: String? = nil, form: String? = nil, initial: String? = nil,
        enabled: String? = nil
    ) -> ConfigurationKey {
        self.description.addOn = .offered(
            AddOnTexts(name: name, description: description, form: form, initial: initial, enabled: enabled))
        return self
    }

    /// The same key, which the add-on does not offer, for this reason. It applies to all keys below.
    consuming func withoutOption(_ reason: String) -> ConfigurationKey {
        description.addOn = .withheld(reason)
        return self
    }
}

extension KeyDescription {
    fileprivate var isWithheld: Bool { if case .withheld? = addOn { true } else { false } }

    fileprivate var addOnTexts: AddOnTexts? { if case .offered(let texts)? = addOn { texts } else { nil } }

    /// The sentence with the default, as a page for people shows it.
    fileprivate var sentenceWithDefault: String {
        guard let defaultText else { return String(sentence.dropLast()) }
        let value = ["true": "yes", "false": "no"][defaultText] ?? defaultText
        return "\(sentence) Default: \(value)"
    }
}
