import JSON
import Time

/// A received tag.
struct SeenTag: Hashable, Sendable {
    let tag: TagAdvertisement
    /// When it was last received.
    let at: Timestamp
}

/// The recently received tags, known or not, by address.
struct SeenTags: Sendable {
    /// Maximum number of tags: the one that was received least recently is removed.
    private static let maxCount = 256
    /// How long a duplicate serial is kept after its last report.
    private static let memory = Duration.seconds(600)
    /// How long a tag is kept after it was last received.
    private static let silence = Duration.seconds(3600)

    private var tags: [String: SeenTag] = [:]
    /// The duplicate serials, with the time of the last report.
    private var duplicates: [String: Timestamp] = [:]
    /// When to remove expired tags next.
    private var nextCleaning = Instant(sinceBoot: .zero)

    /// All tags, sorted by serial.
    var all: [SeenTag] { tags.values.sorted { ($0.tag.serial, $0.tag.address) < ($1.tag.serial, $1.tag.address) } }

    /// The serials of all tags, sorted.
    var serials: [String] { all.map(\.tag.serial) }

    /// Adds or updates a tag.
    mutating func received(_ tag: TagAdvertisement, at now: Timestamp) {
        tags[tag.address] = SeenTag(tag: tag, at: now)
        if now.instant >= nextCleaning {
            nextCleaning = now.instant + Self.silence / 60
            tags = tags.filter { now.instant - $0.value.at.instant < Self.silence }
        }
        if tags.count > Self.maxCount, let oldest = tags.min(by: { $0.value.at.instant < $1.value.at.instant })?.key {
            tags[oldest] = nil
        }
    }

    /// Handles a duplicate serial.
    ///
    /// - Returns: whether it is new.
    mutating func duplicated(_ serial: String, at now: Timestamp) -> Bool {
        if duplicates.count >= Self.maxCount { _ = duplicateSerials(at: now) }
        guard duplicates[serial] != nil || duplicates.count < Self.maxCount else { return false }
        defer { duplicates[serial] = now }
        return !isDuplicate(serial, at: now)
    }

    /// Removes expired reports and returns the duplicate serials.
    mutating func duplicateSerials(at now: Timestamp) -> [String] {
        duplicates = duplicates.filter { isDuplicate($0.key, at: now) }
        return duplicates.keys.sorted()
    }

    /// Ends the report of a duplicate serial, after its tag was paired, forgotten or given another address. It is
    /// reported again while several devices show the serial.
    mutating func solved(_ serial: String) {
        duplicates[serial] = nil
    }

    /// Removes all tags, after the Bluetooth stack has removed its devices.
    mutating func removeAll() {
        tags = [:]
    }

    private func isDuplicate(_ serial: String, at now: Timestamp) -> Bool {
        duplicates[serial].map { now.instant - $0.instant < Self.memory } ?? false
    }
}

/// The tags found by the latest requested scan, bounded in number and bytes.
struct FoundTags: Sendable {
    /// Maximum number of tags.
    static let maxCount = 32
    /// Maximum size of the list in bytes of JSON, so that it fits into the attributes of a Home Assistant entity.
    static let maxBytes = 4_096

    private var tags: [String: TagAdvertisement] = [:]
    private var isOverflowing = false
    /// When the scan began; nil before the first scan.
    private(set) var startedAt: Timestamp?
    /// The list is published at most once a second.
    private var throttle = Throttle(every: .seconds(1))

    /// When to publish the list.
    var deadline: Instant? { throttle.due }

    /// Whether the scan has found a tag.
    func contains(_ serial: String) -> Bool { tags.values.contains { $0.serial == serial } }

    /// Clears the list for a new scan.
    mutating func begin(at now: Timestamp) {
        tags = [:]
        isOverflowing = false
        startedAt = now
        throttle.happened(at: now.instant)
    }

    /// Adds or updates a tag.
    ///
    /// - Returns: whether to publish the list now: it has a new tag or name, and was not published in the last second.
    mutating func received(_ tag: TagAdvertisement, at now: Instant) -> Bool {
        update(tag) && throttle.admits(at: now)
    }

    /// Returns whether a held-back publication of the list is due.
    mutating func isDue(at now: Instant) -> Bool {
        throttle.isDue(at: now)
    }

    /// Adds or updates a tag.
    ///
    /// - Returns: whether the list has a new tag or name; a change of signal strength does not count.
    private mutating func update(_ tag: TagAdvertisement) -> Bool {
        guard let before = tags[tag.address] else {
            guard tags.count < Self.maxCount else {
                defer { isOverflowing = true }
                return !isOverflowing
            }
            tags[tag.address] = tag
            return true
        }
        var tag = tag
        tag.name = tag.name?.nonEmpty ?? before.name
        tag.rssi = tag.rssi ?? before.rssi
        tags[tag.address] = tag
        return tag.name != before.name || tag.serial != before.serial
    }

    /// Returns the list sorted by serial, as far as it fits, and whether tags were left out.
    func documents(isKnown: (String) -> Bool) -> (tags: [AdvertisementDocument], isCut: Bool) {
        let sorted = tags.values.sorted { ($0.serial, $0.address) < ($1.serial, $1.address) }
        var documents: [AdvertisementDocument] = []
        var bytes = 0
        for tag in sorted {
            let document = AdvertisementDocument(tag: tag, isKnown: isKnown(tag.serial))
            bytes += JSONText.bytes(of: document).count + 1
            guard bytes <= Self.maxBytes else { return (documents, true) }
            documents.append(document)
        }
        return (documents, isOverflowing)
    }
}
