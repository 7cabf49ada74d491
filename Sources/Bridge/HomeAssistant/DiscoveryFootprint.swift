/// The discovery topics that a bridge and its tags have at the broker, in whichever form they were published.
public struct DiscoveryFootprint: Hashable, Sendable {
    private let prefix: String
    private let objectIDs: Set<String>

    /// - Parameters:
    ///   - prefix: Home Assistant's discovery prefix.
    ///   - instance: the bridge's name in topics.
    ///   - tags: the ids of its tags; what is no id is left out.
    public init(prefix: String, instance: String, tags: [String]) {
        self.prefix = prefix
        objectIDs = Set([DiscoveredBridge.objectID(of: instance)] + tags.compactMap { TagID($0)?.objectID })
    }

    /// What to subscribe to in order to find them.
    public var filters: [String] {
        objectIDs.sorted().flatMap { ["\(prefix)/device/\($0)/config", "\(prefix)/+/\($0)/+/config"] }
    }

    /// Whether a message is one of them: its topic names one of the devices, and its payload this program.
    public func contains(_ topic: String, _ payload: [UInt8]) -> Bool {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard topic.hasPrefix(prefix + "/"), levels.count >= 4, levels.last == "config" else { return false }
        return DiscoveryText.isOurs(payload) && levels.suffix(3).dropLast().contains(where: objectIDs.contains)
    }
}
