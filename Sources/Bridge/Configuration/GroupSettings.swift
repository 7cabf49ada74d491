public import JacquardProtocol
import Text

/// One group of the list `groups`.
public struct GroupSettings: Hashable, Sendable {
    /// Its name in topics: 1 to 32 of `0-9 A-Z a-z _ -`.
    public var name: String
    /// Its tags, of this bridge or others.
    public var tags: [TagID]

    /// Creates a group.
    public init(name: String, tags: [TagID]) {
        self.name = name
        self.tags = tags
    }

    /// The most tags of all groups together, so that they fit into the topic `info` of the bridge.
    static let maxTags = 512
}

extension GroupSettings {
    /// The row of `groups`; it comes after `tags`.
    static var list: ConfigurationKey<Settings> {
        .list(
            "groups", \.groups, of: keys, limit: 32, .settings,
            "Groups of tags, which have topics for commands.", empty: GroupSettings(name: "", tags: []),
            check: { items, settings, findings in usable(items, settings, &findings) }
        ).example(
            comment: """
                Groups of tags, which have topics for commands: jacquard/group/<name>/led/set; at most 32 items.
                """
        ).withoutOption("Home Assistant has groups of lights")
    }

    /// The rows of an item.
    private static var keys: [ConfigurationKey<GroupSettings>] {
        [
            ConfigurationKey(
                "name", \.name, .groupName, .settings,
                "The group's name in the topics jacquard/group/<name>/<command>/set. It cannot be the id of a tag."
            ).example(
                "hall",
                comment: """
                    The group's name in topics, 1 to 32 of 0-9 A-Z a-z _ -, not all, and not the id of a tag. Required.
                    """
            ).required(nameRule.allowed),
            ConfigurationKey(
                "tags", \.tags, .tagIDs(1...64), .settings,
                "The ids of its tags, of this bridge or others. Each bridge serves its own tags of its own groups."
            ).example(
                "[003R, sleeve]",
                comment: """
                    The ids of its tags, 1 to 64, of this bridge or others; at most 512 in all groups. Each bridge \
                    serves its own tags of its own groups. Required.
                    """
            ).required("the ids of 1 to 64 tags"),
        ]
    }

    /// Reports names that are not unique, and too many tags; returns the groups that have a name and tags.
    private static func usable(
        _ items: [ReadItem<GroupSettings>], _ settings: Settings, _ findings: inout ConfigurationFindings
    ) -> [GroupSettings] {
        var names: [String: String] = [:]
        var count = 0
        let ids = Set(settings.tags.map(\.id.text))
        let usable = items.filter { $0.keys.valid.isSuperset(of: ["name", "tags"]) }
        for item in usable {
            let name = item.value.name
            func report(_ key: String, _ problem: String, allowed: String) {
                guard let node = item.keys.nodes[key] else { return }
                findings.add(problem, path: DisplayText.path(item.keys.path, key), at: node.origin, allowed: allowed)
            }
            if let other = names.updateValue(item.keys.path, forKey: name) {
                report(
                    "name", "\(DisplayText.quoted(name)) is the name of \(other), too", allowed: "a name for each group"
                )
            }
            if ids.contains(name) {
                report("name", "\(DisplayText.quoted(name)) is the id of a tag, too", allowed: "a name that is no id")
            }
            var known: Set<TagID> = []
            if let repeated = item.value.tags.first(where: { !known.insert($0).inserted }) {
                report("tags", "\(DisplayText.quoted(repeated.text)) is there twice", allowed: "each tag once")
            }
            let before = count
            count += item.value.tags.count
            if before <= maxTags, count > maxTags {
                report("tags", "too many tags in all groups", allowed: "at most \(maxTags) in all groups together")
            }
        }
        return usable.map(\.value)
    }
}

extension GroupSettings {
    /// The name of a group: one level of a topic.
    static var nameRule: ScalarRule<String> {
        let word = ScalarRule.word(limit: 32, alphabet: "0-9 A-Z a-z _ -", where: ASCII.isOfWord)
        return ScalarRule(allowed: "\(word.allowed), and not all") { text throws(Rejection) in
            let name = try word.parse(text)
            guard name != "all" else { throw Rejection("stands for all tags on the command line") }
            return name
        }
    }
}
