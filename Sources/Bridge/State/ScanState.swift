/// The scan that users have asked for. What the Bluetooth stack scans for its own purposes is none of it.
struct ScanState: Sendable {
    private(set) var isScanning = false
    /// When it ends.
    private(set) var until: Moment?
    /// Whether every signal of a tag is told, not only its first.
    private(set) var allowsDuplicates = false
    /// Requests to scan that have no answer yet: one to stop takes its turn behind them.
    var pendingStarts = 0
    /// Requests to stop that have no answer yet: each has an event of its own.
    var pendingStops = 0
    /// The addresses that were told already.
    private var told: Set<String> = []

    /// More addresses than this are told once each all the same, and then again.
    private static let mostTold = 4_096

    /// Users want a scan: what others want of a scan that is under way stays.
    ///
    /// - Returns: whether there was none.
    mutating func begin(until end: Moment, allowsDuplicates: Bool) -> Bool {
        defer { isScanning = true }
        self.allowsDuplicates = allowsDuplicates || self.allowsDuplicates
        until = until.map { $0.instant > end.instant ? $0 : end } ?? end
        told = []
        return !isScanning
    }

    /// The scan is over.
    ///
    /// - Returns: whether there was one.
    mutating func end() -> Bool {
        defer { (isScanning, until, allowsDuplicates, told) = (false, nil, false, []) }
        return isScanning
    }

    /// Whether to tell that a tag was heard.
    mutating func admits(_ address: String) -> Bool {
        guard isScanning else { return false }
        if told.count >= Self.mostTold { told = [] }
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
