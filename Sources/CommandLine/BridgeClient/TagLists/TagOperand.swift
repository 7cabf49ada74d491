import Text

/// The operand `ID` of a command to tags: IDs of tags and names of groups with commas between them, or `all`.
struct TagOperand: Hashable, Sendable {
    /// The word for all tags of the bridge.
    static let all = "all"
    /// The most words of a list.
    static let maxWords = 256
    /// The most tags that one command line addresses.
    static let maxTags = 1_024

    /// The words in their order, without repetitions.
    let words: [String]
    /// Whether the only word is the ID of a tag, and never a group or `all`.
    let isTag: Bool

    /// Creates a selection; repeated words are dropped.
    init(_ words: [String]) {
        var known: Set<String> = []
        self.words = words.filter { known.insert($0).inserted }
        isTag = false
    }

    /// Creates a selection for a command that takes one tag.
    init(tag: String) {
        words = [tag]
        isTag = true
    }

    /// The only word, if it can be the ID of a tag; nil for a list and for `all`.
    var single: String? { words.count == 1 && (isTag || words[0] != Self.all) ? words[0] : nil }

    /// Replaces groups and `all` by their tags.
    ///
    /// - Parameters:
    ///   - groups: the tags of each group.
    ///   - all: the tags of the bridge.
    /// - Returns: the IDs of tags in the order of the words, each one once. A word that is no group is an ID.
    func tags(in groups: [String: [String]], all: [String]) -> [String] {
        var known: Set<String> = []
        return words.flatMap { word in word == Self.all ? all : groups[word] ?? [word] }
            .filter { known.insert($0).inserted }
    }
}

extension TagOperand {
    /// IDs and names of groups, or `all`.
    static var rule: ScalarRule<Self> {
        let id = ScalarRule<String>.topicLevel
        let allowed =
            "\(id.allowed); several ids with commas between them, at most \(maxWords); the name of a group; all"
        return ScalarRule(allowed: allowed) { text throws(Rejection) in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count <= maxWords else { throw Rejection("has \(parts.count) ids") }
            var words: [String] = []
            for part in parts { words.append(try id.parse(String(part))) }
            return TagOperand(words)
        }
    }
}
