import JSON

/// The scan requested by users. Scans of the Bluetooth stack for its own purposes do not count.
struct ScanState: Sendable {
    /// An event of the scan.
    enum Event: Sendable {
        /// A request to scan was passed to the driver; `started` or `startFailed` follows.
        case startRequested
        case startFailed
        /// The driver scans, until the time is over or the scan is stopped.
        case started(Duration, allowsDuplicates: Bool)
        /// A request to stop was passed to the driver; `stopped` or `stopFailed` follows.
        case stopRequested
        case stopFailed
        /// A request to stop has succeeded.
        case stopped
        /// A request to stop had nothing to stop.
        case nothingToStop
    }

    /// The effect of an event.
    enum Change: Sendable {
        case none
        /// A scan has begun.
        case started
        /// The scan lasts longer than before.
        case prolonged
        /// A request to stop has succeeded; `wasScanning` if a scan was running.
        case stopped(wasScanning: Bool)
    }

    private(set) var isScanning = false
    /// When the scan ends.
    private(set) var until: Timestamp?
    /// Whether every advertisement of a tag is published rather than only the first.
    private(set) var allowsDuplicates = false
    /// Number of unanswered requests to scan; a stop request is processed after them.
    private var pendingStarts = 0
    /// Number of unanswered stop requests; each publishes an event.
    private var pendingStops = 0
    /// The addresses that were published.
    private var published: Set<String> = []

    /// Maximum number of stored addresses; beyond it all are cleared, and tags are published again.
    private static let maxPublished = 4_096

    /// Whether there is a scan to stop: it is running or was requested.
    var isWanted: Bool { isScanning || pendingStarts > 0 }

    /// Whether the end of the scan was requested, so that the request publishes the event.
    var isStopRequested: Bool { pendingStops > 0 }

    /// Handles an event.
    mutating func handle(_ event: Event, at now: Timestamp) -> Change {
        switch event {
        case .startRequested: pendingStarts += 1
        case .startFailed: pendingStarts -= 1
        case .started(let duration, let allowsDuplicates):
            pendingStarts -= 1
            return begin(until: now + duration, allowsDuplicates: allowsDuplicates) ? .started : .prolonged
        case .stopRequested: pendingStops += 1
        case .stopFailed: pendingStops -= 1
        case .stopped:
            pendingStops -= 1
            return .stopped(wasScanning: end())
        case .nothingToStop: return .stopped(wasScanning: end())
        }
        return .none
    }

    /// Starts or prolongs the scan. The options of a running scan are kept.
    ///
    /// - Returns: whether no scan was running.
    mutating func begin(until end: Timestamp, allowsDuplicates: Bool) -> Bool {
        defer { isScanning = true }
        self.allowsDuplicates = allowsDuplicates || self.allowsDuplicates
        until = until.map { $0.instant > end.instant ? $0 : end } ?? end
        published = []
        return !isScanning
    }

    /// Ends the scan.
    ///
    /// - Returns: whether one was running.
    mutating func end() -> Bool {
        defer { (isScanning, until, allowsDuplicates, published) = (false, nil, false, []) }
        return isScanning
    }

    /// Returns whether to publish an advertisement.
    mutating func admits(_ address: String) -> Bool {
        guard isScanning else { return false }
        if published.count >= Self.maxPublished { published = [] }
        return published.insert(address).inserted || allowsDuplicates
    }
}

/// `G/scan`, and the data of the result of `request/scan`.
struct ScanDocument: JSONRecord {
    let scan: ScanState

    func addMembers(to object: inout JSONWriter) {
        object.add("scanning", scan.isScanning)
        object.add("until", scan.until)
    }
}

/// `G/advertisement`.
struct AdvertisementDocument: JSONRecord {
    let tag: TagAdvertisement
    let isKnown: Bool

    func addMembers(to object: inout JSONWriter) {
        object.add("address", tag.address)
        object.add("known", isKnown)
        object.add("name", tag.name?.nonEmpty)
        object.add("rssi", tag.rssi)
        object.add("serial", tag.serial)
    }
}
