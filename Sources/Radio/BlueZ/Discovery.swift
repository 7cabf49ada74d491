import Bluetooth
import Time

/// Desired and actual state of discovery.
struct Discovery {
    /// The next call.
    enum Step: Equatable {
        case start(BluetoothUUID)
        case stop
    }

    /// The service of the requested scan; nil for none.
    var requested: BluetoothUUID?
    /// The service of this client's session with BlueZ; nil if there is no session.
    private(set) var running: BluetoothUUID?
    /// Whether a call is in progress. The next step waits for its end.
    private(set) var isChanging = false
    /// Whether the scan was reported as running.
    private(set) var isReportedScanning = false
    /// Incremented by each reset. Answers to calls of an earlier generation are ignored.
    private(set) var generation = 0
    /// Whether the adapter reports `Discovering`, for any client.
    private var isReported = false
    /// Whether the adapter has reported `Discovering` since the session started.
    private var wasReported = false
    /// Whether the session is to be stopped and started again.
    private var needsRestart = false

    /// Handles the loss of the session and of all pending calls.
    mutating func reset() {
        running = nil
        isReported = false
        isChanging = false
        needsRestart = false
        generation += 1
    }

    /// Returns the next call.
    ///
    /// - Parameter isPaused: whether a connection is being made.
    /// - Returns: nil if the actual state is the desired one, or a call is in progress.
    func step(isPaused: Bool) -> Step? {
        guard !isChanging else { return nil }
        let wanted = isPaused || needsRestart ? nil : requested
        guard wanted != running else { return nil }
        return running == nil ? wanted.map(Step.start) : .stop
    }

    /// Handles the start of a call.
    mutating func begin() {
        isChanging = true
    }

    /// Handles a started session.
    mutating func started(_ service: BluetoothUUID) {
        isChanging = false
        running = service
        wasReported = isReported
    }

    /// Handles a stopped session.
    mutating func stopped() {
        isChanging = false
        running = nil
        needsRestart = false
    }

    /// Handles a refused start.
    mutating func refused() {
        isChanging = false
    }

    /// Requests a restart of the session.
    mutating func restart() {
        needsRestart = running != nil
    }

    /// Handles a value of the adapter's property `Discovering`.
    ///
    /// - Returns: whether this client's session has ended by itself, for example after a reset of the controller.
    mutating func report(_ isDiscovering: Bool) -> Bool {
        isReported = isDiscovering
        guard running != nil else { return false }
        if isDiscovering { wasReported = true }
        guard !isDiscovering, wasReported, !isChanging else { return false }
        running = nil
        return true
    }

    /// Returns the change to report: the scan has started or stopped. Pauses are not reported.
    ///
    /// - Parameter isPaused: whether a connection is being made.
    /// - Returns: whether the scan runs; nil if that has been reported already.
    mutating func scanningChange(isPaused: Bool) -> Bool? {
        let isScanning = requested != nil && (running != nil || (isReportedScanning && (isPaused || isChanging)))
        guard isScanning != isReportedScanning else { return nil }
        isReportedScanning = isScanning
        return isScanning
    }
}

/// Counts the refusals to start discovery. Some controllers refuse until bluetoothd is restarted or the adapter is
/// switched off and on.
struct DiscoveryRefusals {
    /// The measure to take.
    enum Step: Equatable {
        case none
        case resetAdapter
    }

    /// The number of refusals in a row that is a fault. Single ones happen while a previous discovery ends.
    static let tolerated = 2
    private var count = 0
    private var latest = ""

    /// The latest error; nil until there are more refusals than the tolerated ones.
    var error: String? { count > Self.tolerated ? latest : nil }

    /// Handles a refusal.
    ///
    /// - Parameter error: the error of BlueZ.
    /// - Returns: the measure: the adapter is reset after 4, 8, 16 ... refusals.
    mutating func refused(_ error: String) -> Step {
        count += 1
        latest = error
        return count >= 4 && count.nonzeroBitCount == 1 ? .resetAdapter : .none
    }

    /// Handles a start, or the end of the adapter.
    mutating func end() {
        (count, latest) = (0, "")
    }
}

/// Restarts a discovery that receives nothing: after hours, some controllers stop reporting without an error.
///
/// The evidence is weak, because a filtered discovery also receives nothing while all tags sleep. So discovery is first
/// stopped and started, less often each time. The adapter is switched off and on only if the user allows it and no
/// device is connected.
struct DiscoveryWatch {
    /// The measure to take.
    enum Step: Equatable {
        case restart
        case resetAdapter
    }

    /// The number of restarts without effect before the adapter is reset.
    static let restartsBeforeReset = 3
    /// The longest pause, as a multiple of the first one.
    private static let longest = 16

    private let silence: Duration
    private var restarts = 0
    /// When a device was last heard or the last measure was taken; later by the time without discovery.
    private var since: Instant
    /// When discovery has stopped; nil while it runs, and if nothing is known of the time before.
    private var pausedAt: Instant?
    /// Whether the adapter is reset as soon as that is possible.
    private var isResetDue = false

    init(silence: Duration, now: Instant) {
        self.silence = silence
        since = now
    }

    /// When the next measure is due.
    var deadline: Instant { since + silence * min(1 << min(restarts, 10), Self.longest) }
    /// Whether no measure has been taken since a device was heard. The first one is logged.
    var isFresh: Bool { restarts == 0 }

    /// A device was heard.
    mutating func heard(at now: Instant) {
        since = now
        restarts = 0
        isResetDue = false
    }

    /// Handles the end of discovery, which pauses during each attempt to connect a device.
    mutating func paused(at now: Instant) {
        pausedAt = now
    }

    /// Handles the start of discovery. The time without discovery does not count.
    mutating func began(at now: Instant) {
        since = pausedAt.map { since + (now - $0) } ?? now
        pausedAt = nil
    }

    /// Returns the measure that is due.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - mayReset: whether the adapter may be switched off and on.
    /// - Returns: nil before ``deadline``.
    mutating func step(at now: Instant, mayReset: Bool) -> Step? {
        guard deadline <= now else { return nil }
        restarts += 1
        since = now
        if restarts == Self.restartsBeforeReset + 1 { isResetDue = true }
        guard mayReset, isResetDue else { return .restart }
        isResetDue = false
        return .resetAdapter
    }
}
