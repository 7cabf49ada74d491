import Time

/// A received tag.
struct SeenTag: Hashable, Sendable {
    let tag: TagAdvertisement
    /// When it was last received.
    let at: Moment
}

/// The recently received tags, known or not, by address.
struct SeenTags: Sendable {
    /// Maximum number of tags: the one that was received least recently is removed.
    private static let most = 256
    /// How long a duplicate serial is kept after its last report.
    private static let memory = Duration.seconds(600)
    /// How long a tag is kept after it was last received.
    private static let silence = Duration.seconds(3600)

    private var tags: [String: SeenTag] = [:]
    /// The duplicate serials, with the time of the last report.
    private var duplicates: [String: Moment] = [:]
    /// When to remove expired tags next.
    private var nextCleaning = Instant(sinceBoot: .zero)

    /// All tags, sorted by serial.
    var all: [SeenTag] { tags.values.sorted { ($0.tag.serial, $0.tag.address) < ($1.tag.serial, $1.tag.address) } }

    /// Adds or updates a tag.
    mutating func received(_ tag: TagAdvertisement, at now: Moment) {
        tags[tag.address] = SeenTag(tag: tag, at: now)
        if now.instant >= nextCleaning {
            nextCleaning = now.instant + Self.silence / 60
            tags = tags.filter { now.instant - $0.value.at.instant < Self.silence }
        }
        if tags.count > Self.most, let oldest = tags.min(by: { $0.value.at.instant < $1.value.at.instant })?.key {
            tags[oldest] = nil
        }
    }

    /// Handles a duplicate serial.
    ///
    /// - Returns: whether it is new.
    mutating func duplicated(_ serial: String, at now: Moment) -> Bool {
        if duplicates.count >= Self.most { _ = duplicateSerials(at: now) }
        guard duplicates[serial] != nil || duplicates.count < Self.most else { return false }
        defer { duplicates[serial] = now }
        return !isDuplicate(serial, at: now)
    }

    /// Removes expired reports and returns the duplicate serials.
    mutating func duplicateSerials(at now: Moment) -> [String] {
        duplicates = duplicates.filter { isDuplicate($0.key, at: now) }
        return duplicates.keys.sorted()
    }

    /// Removes all tags, after the Bluetooth stack has removed its devices.
    mutating func removeAll() {
        tags = [:]
    }

    private func isDuplicate(_ serial: String, at now: Moment) -> Bool {
        duplicates[serial].map { now.instant - $0.instant < Self.memory } ?? false
    }
}
