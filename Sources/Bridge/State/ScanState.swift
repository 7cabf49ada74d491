/// The scan requested by users. Scans of the Bluetooth stack for its own purposes do not count.
struct ScanState: Sendable {
    private(set) var isScanning = false
    /// When the scan ends.
    private(set) var until: Moment?
    /// Whether every advertisement of a tag is published rather than only the first.
    private(set) var allowsDuplicates = false
    /// Number of unanswered requests to scan; a stop request is processed after them.
    var pendingStarts = 0
    /// Number of unanswered stop requests; each publishes an event.
    var pendingStops = 0
    /// The addresses that were published.
    private var told: Set<String> = []

    /// Maximum number of stored addresses; beyond it all are cleared, and tags are published again.
    private static let mostPublished = 4_096

    /// Starts or prolongs the scan. The options of a running scan are kept.
    ///
    /// - Returns: whether no scan was running.
    mutating func begin(until end: Moment, allowsDuplicates: Bool) -> Bool {
        defer { isScanning = true }
        self.allowsDuplicates = allowsDuplicates || self.allowsDuplicates
        until = until.map { $0.instant > end.instant ? $0 : end } ?? end
        told = []
        return !isScanning
    }

    /// Ends the scan.
    ///
    /// - Returns: whether one was running.
    mutating func end() -> Bool {
        defer { (isScanning, until, allowsDuplicates, told) = (false, nil, false, []) }
        return isScanning
    }

    /// Returns whether to publish an advertisement.
    mutating func admits(_ address: String) -> Bool {
        guard isScanning else { return false }
        if told.count >= Self.mostPublished { told = [] }
        return told.insert(address).inserted || allowsDuplicates
    }
}

/// `G/scan`, and the data of the result of `request/scan`.
struct ScanDocument: Encodable {
    let scanning: Bool
    @OrNull var until: String?

    init(_ scan: ScanState) {
        scanning = scan.isScanning
        until = scan.until?.text
    }
}

/// `G/advertisement`.
struct AdvertisementDocument: Encodable {
    let address: String
    let serial: String
    @OrNull var name: String?
    @OrNull var rssi: Int?
    let known: Bool

    init(_ tag: TagAdvertisement, isKnown: Bool) {
        address = tag.address
        serial = tag.serial
        name = tag.name?.nonEmpty
        rssi = tag.knownRSSI
        known = isKnown
    }
}
