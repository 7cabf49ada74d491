import Text

/// Facts outside of the file that its meaning depends on.
struct ReadingContext {
    /// The folder that relative paths start from.
    let folder: ConfigurationFolder
    /// Reads the password from the file that the configuration names.
    let readPassword: (String) throws(Rejection) -> Secret
    /// Throws if a file that the configuration names cannot be read; the path is absolute or from the working directory.
    let checkFile: (String) throws(Rejection) -> Void
    /// Returns what is wrong with the command of a reflex; nil if nothing is.
    let reflexProblem: (String) -> String?
}

/// The keys that were read into one root: the top of the file, or an item of a list.
struct ReadKeys {
    /// The root's own key in dotted form; empty for the top of the file.
    let path: String
    /// The position where the root begins.
    let origin: ConfigurationOrigin
    /// The nodes of the keys that are there, by their paths from the root down.
    var nodes: [String: ConfigurationNode] = [:]
    /// The keys whose values were valid.
    var valid: Set<String> = []
}

/// An item of a list, and the keys that it was read from.
struct ReadItem<Item> {
    /// The item, with the defaults of keys that are missing or wrong.
    var value: Item
    /// The keys that were read.
    let keys: ReadKeys
}

/// Reads the tree of the configuration by the table of keys, and collects all errors.
struct KeyReader {
    /// Facts outside of the file.
    let context: ReadingContext
    /// The errors until now.
    var findings: ConfigurationFindings

    /// Reads all keys of a root, and sets the defaults that depend on other keys.
    mutating func read<Root>(
        _ node: ConfigurationNode?, at path: String, _ keys: [ConfigurationKey<Root>], into root: inout Root
    ) -> ReadKeys {
        var read = ReadKeys(path: path, origin: node?.origin ?? .file)
        readSection(node, "", [], keys, into: &root, &read)
        for key in keys where !read.valid.contains(key.path) { key.setDefault?(&root) }
        return read
    }

    private mutating func readSection<Root>(
        _ node: ConfigurationNode?, _ section: String, _ relations: [KeyRelation], _ keys: [ConfigurationKey<Root>],
        into root: inout Root, _ read: inout ReadKeys
    ) {
        // A key has many parts: none is copied here.
        let children = keys.indices.filter { keys[$0].description.parent == section }
        let path = [read.path, section].filter { !$0.isEmpty }.joined(separator: ".")
        let nodes = nodes(of: node, at: path, children.map { keys[$0].description.name })
        let excluded = reportExclusive(relations, nodes, at: path)
        for index in children {
            let name = keys[index].description.name
            guard let child = nodes[name] else {
                reportMissing(keys[index].description, at: path, node?.origin ?? .file)
                continue
            }
            read.nodes[keys[index].path] = child
            guard !excluded.contains(name) else { continue }
            let childPath = DisplayText.path(path, name)
            if case .section(_, let relations) = keys[index].description.kind {
                guard !readSwitch(child, at: childPath, keys[index], keys, into: &root) else { continue }
                readSection(child, keys[index].path, relations, keys, into: &root, &read)
            } else if keys[index].read(child, childPath, &self, &root) {
                read.valid.insert(keys[index].path)
            }
        }
        reportIncomplete(relations, nodes, at: path)
    }

    /// Reads `true` or `false` in the place of a section; false if there is something else.
    private mutating func readSwitch<Root>(
        _ node: ConfigurationNode, at path: String, _ key: ConfigurationKey<Root>, _ keys: [ConfigurationKey<Root>],
        into root: inout Root
    ) -> Bool {
        guard let setSwitch = key.setSwitch else { return false }
        guard case .scalar = node.content, !node.isNull else {
            setSwitch(true, &root)
            return false
        }
        let names = keys.filter { $0.description.parent == key.path }.map(\.description.name).joined(separator: ", ")
        let rule = ScalarRule<Bool>(allowed: "true, false, or the keys \(names)", parse: ScalarRule.boolean.parse)
        if let isOn = scalar(node, path, rule) { setSwitch(isOn, &root) }
        return true
    }

    /// Reads the items of a list.
    mutating func items<Item>(
        _ node: ConfigurationNode, at path: String, limit: Int?, _ keys: [ConfigurationKey<Item>], empty: Item
    ) -> [ReadItem<Item>] {
        guard !node.isNull, node.content != .unusable else { return [] }
        guard case .list(let nodes) = node.content else {
            let kind = if case .section = node.content { "keys" } else { "one value" }
            let allowed = "items that begin with \"- \""
            findings.add(
                "\(kind) where a list belongs\(node.remedyOfText)", path: path, at: node.origin, allowed: allowed)
            return []
        }
        let items = nodes.enumerated().filter { $1.content != .unusable }
        if let limit, items.count > limit {
            let itemPath = DisplayText.path(path, "\(items[limit].offset)")
            let origin = items[limit].element.origin
            findings.add("one item too many", path: itemPath, at: origin, allowed: "at most \(limit) items")
        }
        return items.prefix(limit ?? items.count).map { index, node in
            var item = empty
            let read = read(node, at: DisplayText.path(path, "\(index)"), keys, into: &item)
            return ReadItem(value: item, keys: read)
        }
    }
}

extension KeyReader {
    /// Reads one value; nil if it is wrong, which is reported.
    mutating func scalar<Value>(_ node: ConfigurationNode, _ path: String, _ rule: ScalarRule<Value>) -> Value? {
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
        // A number or a switch is never meant to be in quotes.
        let isText = Value.self != Int.self && Value.self != Bool.self && Value.self != Double.self
        findings.add(
            problem + (isText ? node.remedy : node.remedyOfText), path: path, at: node.origin, allowed: rule.allowed)
        return nil
    }

    /// Reads a list of values, or one text with commas between them, which an environment variable can hold.
    ///
    /// - Returns: the valid values; each other one is reported. nil if the node is unusable.
    mutating func list<Value>(_ node: ConfigurationNode, _ path: String, _ rule: ScalarRule<Value>) -> [Value]? {
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
                    let problem = "a list or keys where one value belongs"
                    findings.add(problem, path: itemPath, at: item.origin, allowed: rule.allowed)
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
}

extension KeyReader {
    /// The nodes of a section's keys by name; unknown keys are reported.
    private mutating func nodes(
        of node: ConfigurationNode?, at path: String, _ names: [String]
    ) -> [String: ConfigurationNode] {
        guard let node, !node.isNull, node.content != .unusable else { return [:] }
        guard case .section(let entries) = node.content else {
            let kind = if case .list = node.content { "a list" } else { "one value" }
            findings.add(
                "\(kind) where keys belong\(node.remedyOfText)", path: path, at: node.origin,
                allowed: names.joined(separator: ", "))
            return [:]
        }
        var nodes: [String: ConfigurationNode] = [:]
        for entry in entries {
            if names.contains(entry.key) {
                nodes[entry.key] = entry.value
            } else {
                findings.addUnknown(entry, at: path, allowed: names) { Self.hint(for: $0, at: path, names) }
            }
        }
        return nodes
    }

    /// Suggests a key of the same section with a similar name or another word for it, otherwise the same key of another
    /// section. Keys of items of lists are suggested at the top only, and other sections never in an item.
    private static func hint(for key: String, at path: String, _ names: [String]) -> String {
        if let meant = otherWords[key]?.first(where: names.contains) { return " (did you mean \(meant)?)" }
        let near = Spelling.hint(for: key, in: names)
        let isItem = path.split(separator: ".").last.flatMap { Int($0) } != nil
        guard near.isEmpty, !isItem, let other = Settings.path(toKey: key, inLists: path.isEmpty) else { return near }
        return " (did you mean \(other)?)"
    }

    /// The keys that are meant by words of other programs' configurations.
    private static let otherWords: [String: [String]] = [
        "broker": ["host", "mqtt"], "server": ["host", "mqtt"], "address": ["host"], "url": ["host"],
        "hostname": ["host"],
        "user": ["username"], "login": ["username"], "pass": ["password"], "topic": ["base_topic"],
        "ca": ["ca_file"], "cafile": ["ca_file"], "cert": ["certificate_file"], "certfile": ["certificate_file"],
        "key": ["key_file"], "keyfile": ["key_file"], "ssl": ["tls"], "devices": ["tags"],
        "homeassistant": ["home_assistant"],
    ]

    private mutating func reportMissing(_ key: KeyDescription, at path: String, _ origin: ConfigurationOrigin) {
        guard let requirement = key.requirement else { return }
        findings.add("missing", path: DisplayText.path(path, key.name), at: origin, allowed: requirement)
    }

    /// Reports keys that exclude each other. A variable of the environment takes precedence over the file.
    ///
    /// - Returns: the names of keys that are not read, because another one excludes them.
    private mutating func reportExclusive(
        _ relations: [KeyRelation], _ nodes: [String: ConfigurationNode], at path: String
    ) -> Set<String> {
        var excluded: Set<String> = []
        for case .exclusive(let first, let second) in relations {
            guard let other = nodes[first], let node = nodes[second] else { continue }
            let isSecondPreferred = node.origin.isVariable && !other.origin.isVariable
            excluded.insert(isSecondPreferred ? first : second)
            guard other.origin.isVariable == node.origin.isVariable else { continue }
            let problem = "set together with \(DisplayText.path(path, first))"
            findings.add(problem, path: DisplayText.path(path, second), at: node.origin, allowed: "one of the two")
        }
        return excluded
    }

    /// Reports keys that need another one.
    private mutating func reportIncomplete(
        _ relations: [KeyRelation], _ nodes: [String: ConfigurationNode], at path: String
    ) {
        for case .together(let first, let second) in relations {
            for (present, missing) in [(first, second), (second, first)] where nodes[missing] == nil {
                guard let node = nodes[present] else { continue }
                findings.add(
                    "set without \(DisplayText.path(path, missing))", path: DisplayText.path(path, present),
                    at: node.origin, allowed: "both or none of the two")
            }
        }
    }
}
