import JSON

/// The tags found by the latest requested scan, bounded in number and bytes.
struct FoundTags: Sendable {
    /// Maximum number of tags.
    static let most = 32
    /// Maximum size of the list in bytes of JSON, so that it fits into the attributes of a Home Assistant entity.
    static let mostBytes = 4_096

    private var tags: [String: TagAdvertisement] = [:]
    private var isOverflowing = false
    /// When the scan began; nil before the first scan.
    private(set) var startedAt: Moment?
    /// The list is published at most once a second.
    var throttle = Throttle(every: .seconds(1))

    /// Clears the list for a new scan.
    mutating func begin(at now: Moment) {
        tags = [:]
        isOverflowing = false
        startedAt = now
        throttle.happened(at: now.instant)
    }

    /// Adds or updates a tag.
    ///
    /// - Returns: whether the list has a new tag or name; a change of signal strength does not count.
    mutating func heard(_ tag: TagAdvertisement) -> Bool {
        guard let before = tags[tag.address] else {
            guard tags.count < Self.most else {
                defer { isOverflowing = true }
                return !isOverflowing
            }
            tags[tag.address] = tag
            return true
        }
        var tag = tag
        tag.name = tag.name?.nonEmpty ?? before.name
        tag.rssi = tag.knownRSSI ?? before.rssi
        tags[tag.address] = tag
        return tag.name != before.name || tag.serial != before.serial
    }

    /// Returns the list sorted by serial, as far as it fits, and whether tags were left out.
    func documents(isKnown: (String) -> Bool) -> (tags: [AdvertisementDocument], isCut: Bool) {
        let sorted = tags.values.sorted { ($0.serial, $0.address) < ($1.serial, $1.address) }
        var documents: [AdvertisementDocument] = []
        var bytes = 0
        for tag in sorted {
            let document = AdvertisementDocument(tag, isKnown: isKnown(tag.serial))
            bytes += JSONText.bytes(of: document).count + 1
            guard bytes <= Self.mostBytes else { return (documents, true) }
            documents.append(document)
        }
        return (documents, isOverflowing)
    }
}

/// `G/found`.
struct FoundTagsDocument: Encodable {
    @OrNull var count: Int?
    let more: Bool
    let scanning: Bool
    @OrNull var started: String?
    let tags: [AdvertisementDocument]

    init(_ found: FoundTags, isScanning: Bool, isKnown: (String) -> Bool) {
        (tags, more) = found.documents(isKnown: isKnown)
        count = found.startedAt == nil ? nil : tags.count
        scanning = isScanning
        started = found.startedAt?.text
    }
}

extension BridgeState {
    /// `G/found`; published while Home Assistant discovery is on.
    var foundFact: [Publication] {
        guard discovery != nil else { return [] }
        let document = FoundTagsDocument(found, isScanning: scan.isScanning) { isKnown(serial: $0) }
        return [.fact(topics.found, document)]
    }

    /// Adds or updates a tag. Publishes the list now, or after the minimum interval of one second.
    mutating func noteFound(_ tag: TagAdvertisement, at now: Moment) -> [Publication] {
        guard discovery != nil, scan.isScanning, !tag.isConnected, found.heard(tag) else { return [] }
        guard found.throttle.admits(at: now.instant) else {
            updateDeadline(of: [])
            return []
        }
        return foundFact
    }
}
