extension Substring {
    /// The levels of a topic: the text between the bytes of `/`. A combining character behind a slash belongs to its level.
    var topicLevels: [Substring] {
        var levels: [Substring] = []
        levels.reserveCapacity(4)
        var rest = utf8
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            levels.append(Substring(rest[..<slash]))
            rest = rest[rest.index(after: slash)...]
        }
        levels.append(Substring(rest))
        return levels
    }
}

extension String {
    /// What follows a level of a topic, or several; nil for a topic elsewhere.
    func topic(below levels: String) -> Substring? {
        let (bytes, prefix) = (utf8, levels.utf8)
        guard bytes.starts(with: prefix) else { return nil }
        let rest = bytes.dropFirst(prefix.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return Substring(rest.dropFirst())
    }
}
