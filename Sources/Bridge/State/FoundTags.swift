import JSON

/// The tags that the latest requested scan found, bounded in number and in bytes.
struct FoundTags: Sendable {
    /// More tags than these are not listed.
    static let most = 32
    /// The list has at most this many bytes of JSON, so that it fits into the attributes of an entity.
    static let mostBytes = 4_096

    private var tags: [String: TagAdvertisement] = [:]
    private var isOverflowing = false
    /// When the scan began; nil before the first one.
    private(set) var startedAt: Moment?
    /// The list is published at most once a second.
    var throttle = Throttle(every: .seconds(1))

    /// A scan begins with an empty list.
    mutating func begin(at now: Moment) {
        tags = [:]
        isOverflowing = false
        startedAt = now
        throttle.happened(at: now.instant)
    }

    /// A tag was received during the scan.
    ///
    /// - Returns: whether the list has another tag or another name now; a new signal strength alone does not count.
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

    /// The list in the order of the serials, as far as it fits; and whether something was left out.
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
    /// `G/found`; published while discovery is on.
    var foundFact: [Publication] {
        guard discovery != nil else { return [] }
        let document = FoundTagsDocument(found, isScanning: scan.isScanning) { isKnown(serial: $0) }
        return [.fact(topics.found, document)]
    }

    /// A tag was received. The list is published now, or when the interval of a second is over.
    mutating func noteFound(_ tag: TagAdvertisement, at now: Moment) -> [Publication] {
        guard discovery != nil, scan.isScanning, !tag.isConnected, found.heard(tag) else { return [] }
        guard found.throttle.admits(at: now.instant) else {
            updateDeadline(of: [])
            return []
        }
        return foundFact
    }
}
