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
    /// How close two hearings of one address are if nothing else has moved to it meanwhile.
    private static let together = Duration.seconds(60)
    /// How long two tags of one serial are believed in after they were heard.
    private static let memory = Duration.seconds(600)

    private var tags: [String: SeenTag] = [:]
    /// The serials that two tags have, and when that was last heard.
    private var doubles: [String: Moment] = [:]

    /// All of them, in the order of their serials.
    var all: [SeenTag] { tags.values.sorted { ($0.tag.serial, $0.tag.address) < ($1.tag.serial, $1.tag.address) } }

    /// A tag was heard.
    ///
    /// An address may change, but then the old one is silent: two addresses that are heard in turns are two tags.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - isOtherLinked: whether a tag of its serial has a link at another address, and so is there without a sound.
    ///   - now: the time.
    /// - Returns: whether it turns out now that two tags have its serial.
    mutating func heard(_ tag: TagAdvertisement, isOtherLinked: Bool = false, at now: Moment) -> Bool {
        let before = tags[tag.address]?.at
        tags[tag.address] = SeenTag(tag: tag, at: now)
        if tags.count > Self.most, let oldest = tags.min(by: { $0.value.at.instant < $1.value.at.instant })?.key {
            tags[oldest] = nil
        }
        guard isOtherLinked || isHeardInTurns(tag, since: before, at: now) else { return false }
        guard doubles[tag.serial] != nil || doubles.count < Self.most else { return false }
        defer { doubles[tag.serial] = now }
        return !isDoubled(tag.serial, at: now)
    }

    /// Whether another address of its serial was heard since it was heard last.
    private func isHeardInTurns(_ tag: TagAdvertisement, since before: Moment?, at now: Moment) -> Bool {
        guard let before, now.instant - before.instant < Self.together else { return false }
        return tags.values.contains { other in
            other.tag.serial == tag.serial && other.tag.address != tag.address && other.at.instant > before.instant
        }
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
