import Bluetooth

/// What is wished of discovery, and how it stands.
struct Discovery {
    /// What a call is to bring about.
    enum Step: Equatable {
        case start(ScanOptions)
        case stop
    }

    /// What the user of the central wants; nil for no scan.
    var wish: ScanOptions?
    /// What our own session with BlueZ looks for; nil while we have none.
    private(set) var running: ScanOptions?
    /// Whether a call is under way; the next step waits for its end.
    private(set) var isChanging = false
    /// Whether the user of the central has been told that the scan runs.
    private(set) var isTold = false
    /// Counts what makes answers void: those to calls that were made before.
    private(set) var generation = 0
    /// Whether the adapter says that it discovers, for whomever.
    private var isReported = false
    /// Whether it has said so since our session began.
    private var wasReported = false
    /// Whether the session is to be ended and begun again.
    private var isDoubted = false

    /// BlueZ has forgotten our session, and nothing that is under way counts.
    mutating func reset() {
        running = nil
        isReported = false
        isChanging = false
        isDoubted = false
        generation += 1
    }

    /// The next call.
    ///
    /// - Parameter isPaused: whether a connection is being made.
    /// - Returns: nil when all is as it should be, or a call is under way.
    func step(isPaused: Bool) -> Step? {
        guard !isChanging else { return nil }
        let wanted = isPaused || isDoubted ? nil : wish
        guard wanted != running else { return nil }
        return running == nil ? wanted.map(Step.start) : .stop
    }

    /// A call is made.
    mutating func begin() {
        isChanging = true
    }

    /// BlueZ has begun our session.
    mutating func started(_ options: ScanOptions) {
        isChanging = false
        running = options
        wasReported = isReported
    }

    /// Our session has ended.
    mutating func stopped() {
        isChanging = false
        running = nil
        isDoubted = false
    }

    /// BlueZ has refused to begin.
    mutating func refused() {
        isChanging = false
    }

    /// The session hears nothing: it is to begin anew.
    mutating func doubt() {
        isDoubted = running != nil
    }

    /// The adapter tells whether it discovers.
    ///
    /// - Returns: whether a session that we hold has ended by itself, as after a reset of the controller.
    mutating func report(_ isDiscovering: Bool) -> Bool {
        isReported = isDiscovering
        guard running != nil else { return false }
        if isDiscovering { wasReported = true }
        guard !isDiscovering, wasReported, !isChanging else { return false }
        running = nil
        return true
    }

    /// What the user of the central is to be told now: that the scan has begun or ended, not that it pauses.
    ///
    /// - Parameter isPaused: whether a connection is being made.
    /// - Returns: nil when nothing has changed.
    mutating func news(isPaused: Bool) -> Bool? {
        let isScanning = wish != nil && (running != nil || (isTold && (isPaused || isChanging)))
        guard isScanning != isTold else { return nil }
        isTold = isScanning
        return isScanning
    }
}
