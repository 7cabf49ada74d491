import Text

/// A section of the configuration while it is read: hands out its values by key and notes what is wrong with them.
struct Section<Key: ConfigurationKey> {
    /// The section's own key in dotted form; empty at the top of the file.
    let path: String
    /// Where the section begins.
    let origin: ConfigurationOrigin
    private let entries: [String: ConfigurationNode]

    /// Takes a section apart; what is no section, and each unknown key, is noted.
    ///
    /// - Parameters:
    ///   - node: nil, or without any value: a section without keys.
    ///   - path: the section's key in dotted form.
    ///   - findings: gets what is wrong.
    init(_ node: ConfigurationNode?, path: String, _ findings: inout ConfigurationFindings) {
        self.path = path
        origin = node?.origin ?? .file
        let known = Self.entries(of: node, path: path, &findings).filter { entry in
            if Key(rawValue: entry.key) != nil { return true }
            Self.reportUnknown(entry, path: path, &findings)
            return false
        }
        entries = Dictionary(known.map { ($0.key, $0.value) }) { first, _ in first }
    }

    /// The key in dotted form, from the top of the file.
    func path(of key: Key) -> String {
        DisplayText.path(path, key.rawValue)
    }

    /// What stands under the key; nil: the key is not there.
    subscript(_ key: Key) -> ConfigurationNode? { entries[key.rawValue] }

    /// The value of the key; nil if the key is not there, or if its value is wrong, which is noted.
    func value<Value>(
        _ key: Key, _ rule: ScalarRule<Value>, _ findings: inout ConfigurationFindings
    ) -> Value? {
        guard let node = self[key] else { return nil }
        let problem: String
        switch node.content {
        case .unusable: return nil
        case .list: problem = "a list where one value belongs"
        case .section: problem = "keys where one value belongs"
        case .scalar where node.isNull: problem = "no value"
        case .scalar(let text, _):
            do throws(Rejection) {
                return try rule.parse(text)
            } catch {
                problem = rule.problem(with: text, error)
            }
        }
        findings.add(problem, path: path(of: key), at: node.origin, allowed: rule.allowed)
        return nil
    }

    /// Puts the value of the key in the place of its default, if the key is there.
    func read<Value>(
        _ key: Key, _ rule: ScalarRule<Value>, into target: inout Value, _ findings: inout ConfigurationFindings
    ) {
        target = value(key, rule, &findings) ?? target
    }

    /// Puts the value of the key in the place of nothing, if the key is there.
    func read<Value>(
        _ key: Key, _ rule: ScalarRule<Value>, into target: inout Value?, _ findings: inout ConfigurationFindings
    ) {
        target = value(key, rule, &findings) ?? target
    }

    /// The values of the key: a list, or one text with commas, which an environment variable can hold.
    ///
    /// - Returns: nil if the key is not there; the values that are right, and each wrong one is reported.
    func values<Value>(
        _ key: Key, _ rule: ScalarRule<Value>, _ findings: inout ConfigurationFindings
    ) -> [Value]? {
        guard let node = self[key] else { return nil }
        let path = path(of: key)
        let allowed = "a list of \(rule.allowed)"
        var texts: [(text: String, path: String, origin: ConfigurationOrigin)] = []
        switch node.content {
        case .unusable: return nil
        case .section: findings.add("keys where a list belongs", path: path, at: node.origin, allowed: allowed)
        case .scalar where node.isNull: findings.add("no value", path: path, at: node.origin, allowed: allowed)
        case .scalar(let text, _):
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            texts = parts.map { (ASCII.trimmed($0), path, node.origin) }
        case .list(let items):
            for (index, item) in items.enumerated() {
                let itemPath = DisplayText.path(path, "\(index)")
                if case .scalar(let text, _) = item.content {
                    texts.append((text, itemPath, item.origin))
                } else if item.content != .unusable {
                    findings.add(
                        "a list or keys where one value belongs", path: itemPath, at: item.origin,
                        allowed: rule.allowed)
                }
            }
        }
        var values: [Value] = []
        for (text, path, origin) in texts {
            do throws(Rejection) {
                values.append(try rule.parse(text))
            } catch {
                findings.add(rule.problem(with: text, error), path: path, at: origin, allowed: rule.allowed)
            }
        }
        return values
    }

    /// The section under the key; without keys if it is not there.
    func section<Subkey: ConfigurationKey>(
        _ key: Key, _ findings: inout ConfigurationFindings
    ) -> Section<Subkey> {
        Section<Subkey>(self[key], path: path(of: key), &findings)
    }

    /// The sections in the list under the key; none if it is not there.
    func sections<Subkey: ConfigurationKey>(
        _ key: Key, _ findings: inout ConfigurationFindings
    ) -> [Section<Subkey>] {
        guard let node = self[key], !node.isNull, node.content != .unusable else { return [] }
        guard case .list(let items) = node.content else {
            let kind = if case .section = node.content { "keys" } else { "one value" }
            let allowed = "items that begin with \"- \""
            findings.add("\(kind) where a list belongs", path: path(of: key), at: node.origin, allowed: allowed)
            return []
        }
        return items.enumerated().filter { $1.content != .unusable }.map { index, item in
            Section<Subkey>(item, path: DisplayText.path(path(of: key), "\(index)"), &findings)
        }
    }
}

extension Section {
    private static func entries(
        of node: ConfigurationNode?, path: String, _ findings: inout ConfigurationFindings
    ) -> [ConfigurationNode.Entry] {
        guard let node, !node.isNull, node.content != .unusable else { return [] }
        if case .section(let entries) = node.content { return entries }
        let kind = if case .list = node.content { "a list" } else { "one value" }
        findings.add("\(kind) where keys belong", path: path, at: node.origin, allowed: allowedKeys)
        return []
    }

    private static func reportUnknown(
        _ entry: ConfigurationNode.Entry, path: String, _ findings: inout ConfigurationFindings
    ) {
        let hint = DisplayText.isKey(entry.key) ? hint(for: entry.key, at: path) : ""
        let keyPath = DisplayText.path(path, entry.key)
        findings.add("unknown key\(hint)", path: keyPath, at: entry.origin, allowed: allowedKeys)
    }

    /// A key of this section that is spelled alike, else the same key of another section. An item of a list is meant as it
    /// is: a key of another section is no help there.
    private static func hint(for key: String, at path: String) -> String {
        let near = Spelling.hint(for: key, in: Key.names)
        let isItem = path.split(separator: ".").last.flatMap { Int($0) } != nil
        guard near.isEmpty, !isItem, let path = ConfigurationPath.path(toKey: key) else { return near }
        return " (did you mean \(path)?)"
    }

    private static var allowedKeys: String { Key.names.joined(separator: ", ") }
}
