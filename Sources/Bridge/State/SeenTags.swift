import Time

/// A tag that was heard.
struct SeenTag: Hashable, Sendable {
    let tag: TagAdvertisement
    /// When it was last heard.
    let at: Moment
}

/// The tags that were heard lately, known or not, by their addresses.
struct SeenTags: Sendable {
    /// More than these are not remembered: the one that was silent for longest goes.
    private static let most = 256
    /// How long two tags of one serial are believed in after they were reported.
    private static let memory = Duration.seconds(600)
    /// How long a tag that is silent is remembered.
    private static let silence = Duration.seconds(3600)

    private var tags: [String: SeenTag] = [:]
    /// The serials that two tags have, and when that was last heard.
    private var doubles: [String: Moment] = [:]
    /// When those that have been silent for long are forgotten.
    private var nextCleaning = Instant(sinceBoot: .zero)

    /// All of them, in the order of their serials.
    var all: [SeenTag] { tags.values.sorted { ($0.tag.serial, $0.tag.address) < ($1.tag.serial, $1.tag.address) } }

    /// A tag was heard.
    mutating func heard(_ tag: TagAdvertisement, at now: Moment) {
        tags[tag.address] = SeenTag(tag: tag, at: now)
        if now.instant >= nextCleaning {
            nextCleaning = now.instant + Self.silence / 60
            tags = tags.filter { now.instant - $0.value.at.instant < Self.silence }
        }
        if tags.count > Self.most, let oldest = tags.min(by: { $0.value.at.instant < $1.value.at.instant })?.key {
            tags[oldest] = nil
        }
    }

    /// Several tags have a serial.
    ///
    /// - Returns: whether that is news.
    mutating func doubled(_ serial: String, at now: Moment) -> Bool {
        if doubles.count >= Self.most { _ = doubledSerials(at: now) }
        guard doubles[serial] != nil || doubles.count < Self.most else { return false }
        defer { doubles[serial] = now }
        return !isDoubled(serial, at: now)
    }

    /// The serials that more than one tag has; those that are not believed in any more are forgotten.
    mutating func doubledSerials(at now: Moment) -> [String] {
        doubles = doubles.filter { isDoubled($0.key, at: now) }
        return doubles.keys.sorted()
    }

    /// The Bluetooth stack has forgotten all of them.
    mutating func removeAll() {
        tags = [:]
    }

    private func isDoubled(_ serial: String, at now: Moment) -> Bool {
        doubles[serial].map { now.instant - $0.instant < Self.memory } ?? false
    }
}
