import Text

/// Builds the tree of the configuration from the events of libyaml.
///
/// Of YAML it takes mappings, lists and values. Aliases, anchors, types and further documents are reported: a
/// configuration does not need them, and without aliases no file can grow while it is read.
struct ConfigurationNodeBuilder: ~Copyable {
    /// The configuration is four levels deep; a hostile file must not exhaust the stack.
    private static let depthLimit = 16

    private var parser: YAMLParser
    private var findings: ConfigurationFindings
    /// Whether a key with a confusable character was reported, which explains errors of the lines after it.
    private var hasConfusableKey = false

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - bytes: the text of the file.
    ///   - findings: gets what is wrong.
    /// - Returns: nil if the file is empty, something unusable if it is no YAML.
    static func build(_ bytes: [UInt8], _ findings: inout ConfigurationFindings) -> ConfigurationNode? {
        var isExplained = false
        do throws(YAMLSyntaxError) {
            var builder = ConfigurationNodeBuilder(parser: try YAMLParser(bytes), findings: findings)
            // What was found before a syntax error is worth telling, too.
            defer { (findings, isExplained) = (builder.findings, builder.hasConfusableKey) }
            return try builder.document()
        } catch {
            let place = ConfigurationOrigin.position(error.position)
            if !isExplained { findings.add(error.problem, at: place) }
            return ConfigurationNode(content: .unusable, origin: place)
        }
    }

    private mutating func document() throws(YAMLSyntaxError) -> ConfigurationNode? {
        _ = try parser.next()
        guard try parser.next().kind == .documentStart else { return nil }
        let root = try node(parser.next(), path: "", depth: 0)
        _ = try parser.next()
        let end = try parser.next()
        if end.kind == .documentStart {
            findings.add("a second document (\"---\"); one file holds one configuration", at: .position(end.position))
        }
        return root
    }

    private mutating func node(
        _ event: YAMLEvent, path: String, depth: Int
    ) throws(YAMLSyntaxError) -> ConfigurationNode {
        guard depth < Self.depthLimit else {
            throw YAMLSyntaxError(position: event.position, problem: "nested too deeply")
        }
        reportDecoration(of: event, path: path)
        let content: ConfigurationNode.Content =
            switch event.kind {
            // Reported already, and without the text that the author has meant.
            case .scalar where event.hasAnchor || event.hasTag: .unusable
            case .scalar(let text, let isPlain): .scalar(text: text, isPlain: isPlain)
            case .sequenceStart: .list(try items(of: path, depth: depth + 1))
            case .mappingStart: .section(try entries(of: path, depth: depth + 1))
            default: .unusable
            }
        var node = ConfigurationNode(content: content, origin: .position(event.position))
        node.remark = remark(on: event)
        return node
    }

    private func remark(on event: YAMLEvent) -> ValueRemark? {
        switch event.kind {
        case .sequenceStart: return event.style == .flow ? .brackets("[") : nil
        case .mappingStart: return event.style == .flow ? .brackets("{") : nil
        case .scalar("", isPlain: false): return event.style == .block ? .emptyBlock : nil
        case .scalar(let text, isPlain: true):
            guard let end = event.end, !parser.text.beginsCut(end) else { return .cut }
            guard let found = parser.text.confusable(from: event.position, to: end) else {
                return text == "~" || text == "null" ? .null : nil
            }
            let edges = [text.unicodeScalars.first, text.unicodeScalars.last].compactMap(\.self)
            let atEdge = edges.compactMap(ConfusableCharacter.init).contains { $0.kind != .dash }
            return .confusable(found, isAtEdge: atEdge)
        default: return nil
        }
    }

    private mutating func items(of path: String, depth: Int) throws(YAMLSyntaxError) -> [ConfigurationNode] {
        var items: [ConfigurationNode] = []
        while true {
            let event = try parser.next()
            guard event.kind != .sequenceEnd else { return items }
            items.append(try node(event, path: DisplayText.path(path, "\(items.count)"), depth: depth))
        }
    }

    private mutating func entries(
        of path: String, depth: Int
    ) throws(YAMLSyntaxError) -> [ConfigurationNode.Entry] {
        var entries: [ConfigurationNode.Entry] = []
        var lines: [String: Int] = [:]
        while true {
            let event = try parser.next()
            guard event.kind != .mappingEnd else { return entries }
            let key = try node(event, path: path, depth: depth)
            guard case .scalar(let name, _) = key.content else {
                reportKey(key, path: path)
                _ = try node(parser.next(), path: path, depth: depth)
                continue
            }
            if case .confusable(let found, _) = key.remark {
                let entry = try reportedEntry(key, name, found, path: path, depth: depth)
                if lines[entry.key] == nil { entries.append(entry) }
                lines[entry.key] = event.position.line
                continue
            }
            let keyPath = DisplayText.path(path, name)
            let value = try node(parser.next(), path: keyPath, depth: depth)
            if let line = lines[name] {
                findings.add("the same key stands in line \(line) already", path: keyPath, at: key.origin)
            } else {
                lines[name] = event.position.line
                entries.append(ConfigurationNode.Entry(key: name, origin: key.origin, value: value))
            }
        }
    }

    /// Reports a confusable character in a key, reads its value, and returns the key that was probably meant without a value.
    private mutating func reportedEntry(
        _ key: ConfigurationNode, _ name: String, _ found: YAMLText.Confusable, path: String, depth: Int
    ) throws(YAMLSyntaxError) -> ConfigurationNode.Entry {
        let plain = String(String.UnicodeScalarView(name.unicodeScalars.filter { ConfusableCharacter($0) == nil }))
        let meant = ASCII.trimmed(plain[...])
        let isInFront = name.unicodeScalars.first.flatMap(ConfusableCharacter.init) != nil
        let keyText = DisplayText.isKey(meant) ? " \(meant)" : ""
        findings.add(
            "\(found.character.name) \(isInFront ? "in front of" : "in") the key\(keyText): \(found.character.remedy)",
            path: path, at: .position(found.position))
        hasConfusableKey = true
        _ = try node(parser.next(), path: DisplayText.path(path, meant), depth: depth)
        return ConfigurationNode.Entry(
            key: meant, origin: key.origin, value: ConfigurationNode(content: .unusable, origin: key.origin),
            isReported: true)
    }

    private mutating func reportKey(_ key: ConfigurationNode, path: String) {
        guard key.content != .unusable else { return }
        findings.add("a list or keys where one key belongs", path: path, at: key.origin)
    }

    private mutating func reportDecoration(of event: YAMLEvent, path: String) {
        let place = ConfigurationOrigin.position(event.position)
        if event.kind == .alias {
            findings.add(
                "an alias (*name) is not allowed; if the value begins with *, put the value in quotes", path: path,
                at: place)
        }
        if event.hasAnchor {
            findings.add(
                "an anchor (&name) is not allowed; if the value begins with &, put the value in quotes", path: path,
                at: place)
        }
        if event.hasTag {
            findings.add(
                "a type (!name) is not allowed; if the value begins with !, put the value in quotes", path: path,
                at: place)
        }
    }
}
