import JSON

/// The other bridges of the same base topic.
///
/// A tag's topics do not name its bridge, so every bridge hears every command. A command for a tag that is not known
/// here must have one answer: that of the bridge which has the tag, or of one bridge when none has it.
struct Neighbours: Sendable {
    private let instance: String
    private var tags: [String: Set<String>] = [:]
    private var online: Set<String> = []

    /// More bridges than this are not remembered.
    private static let most = 256
    /// A longer document is not read.
    private static let longestInfo = 65_536

    init(instance: String) {
        self.instance = instance
    }

    /// A bridge told its document; an empty or broken one takes it away.
    mutating func told(_ neighbour: String, info: [UInt8]) {
        guard neighbour != instance, tags[neighbour] != nil || tags.count < Self.most else { return }
        guard info.count <= Self.longestInfo else { return }
        tags[neighbour] = Self.tags(in: info)
    }

    /// The part of `G/info` that matters to other bridges.
    private static func tags(in info: [UInt8]) -> Set<String>? {
        guard let elements = JSONValue(parsing: info)?["tags"]?.elements else { return nil }
        let tags = elements.compactMap(\.string)
        return tags.count == elements.count ? Set(tags) : nil
    }

    /// A bridge came or went.
    mutating func told(_ neighbour: String, state: [UInt8]) {
        guard neighbour != instance, state.elementsEqual("online".utf8), online.count < Self.most else {
            online.remove(neighbour)
            return
        }
        online.insert(neighbour)
    }

    /// Whether this bridge answers for a tag that it does not know: no other has it, and none comes before this one.
    func isLeftToThisBridge(_ tag: String) -> Bool {
        online.allSatisfy { neighbour in
            tags[neighbour]?.contains(tag) != true && instance < neighbour
        }
    }
}
