import JSON
import JacquardProtocol

/// The groups of the configuration.
struct GroupTable: Hashable, Sendable {
    private let groups: [ExactText: [TagID]]

    init(_ groups: [String: [TagID]]) {
        self.groups = Dictionary(groups.map { (ExactText($0), $1) }) { first, _ in first }
    }

    /// Whether there is no group.
    var isEmpty: Bool { groups.isEmpty }

    /// The groups in the topic `info` of the bridge; nil if there are none.
    var document: [String: [String]]? {
        isEmpty ? nil : Dictionary(groups.map { ($0.text, $1.map(\.text)) }) { first, _ in first }
    }

    /// Returns the tags of a group; none for an unknown one.
    func tags(of group: ExactText) -> [TagID] { groups[group] ?? [] }
}

/// A tag as part of a group.
struct GroupMember: Hashable, Sendable {
    let group: ExactText
    let tag: ExactText

    /// The size of both names in bytes.
    var size: Int { group.text.utf8.count + tag.text.utf8.count }

    /// Reads the groups from the `info` document of a bridge; other values are left out.
    static func all(in document: JSONValue?) -> Set<GroupMember> {
        var members: Set<GroupMember> = []
        for (name, tags) in document?.members ?? [:] {
            for tag in (tags.elements ?? []).compactMap(\.string) where TagID(tag) != nil {
                members.insert(GroupMember(group: ExactText(name), tag: ExactText(tag)))
            }
        }
        return members
    }
}
