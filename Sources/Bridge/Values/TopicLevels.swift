extension String {
    /// The levels of a topic: the text between the bytes of `/`. A combining character behind a slash belongs to its level.
    var topicLevels: [Substring] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// What follows a level of a topic, or several; nil for a topic elsewhere.
    func topic(below levels: String) -> Substring? {
        let (bytes, prefix) = (utf8, levels.utf8)
        guard bytes.starts(with: prefix) else { return nil }
        let rest = bytes.dropFirst(prefix.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return Substring(rest.dropFirst())
    }
}
