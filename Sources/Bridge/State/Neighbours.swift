import FoundationEssentials

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
        tags[neighbour] = try? Set(JSONDecoder().decode(TagList.self, from: Data(info)).tags)
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

/// The part of `G/info` that matters to other bridges.
private struct TagList: Decodable {
    let tags: [String]
}
