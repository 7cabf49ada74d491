import JacquardProtocol
import Time

/// The battery of a tag: its latest level, its history with the forecast, and what of them is stored.
struct TagBattery: Sendable {
    /// The latest level, possibly from before a restart.
    private(set) var latest: Timestamped<BatteryStatus>?
    /// The history, with the forecast.
    private(set) var monitor: BatteryMonitor
    /// The level for the tag's record.
    private(set) var storedLevel: TagRecord.Battery?
    /// The history for the tag's record.
    private(set) var storedHistory: BatteryHistory
    /// The level is stored at most once in ten seconds.
    private var throttle = Throttle(every: .seconds(10))

    /// - Parameters:
    ///   - record: the tag's stored record; nil for a new tag.
    ///   - now: the current time.
    init(_ record: TagRecord?, at now: Timestamp) {
        (storedLevel, storedHistory) = (record?.battery, record?.history ?? BatteryHistory())
        latest = storedLevel.map {
            let at = Timestamp(instant: now.instant, unixMilliseconds: $0.unixMilliseconds)
            return Timestamped(value: BatteryStatus(level: UInt32($0.level), isCharging: $0.isCharging), at: at)
        }
        monitor = BatteryMonitor(storedHistory, level: storedLevel?.level)
    }

    /// When level and history are to be stored; nil if they are.
    var deadline: Instant? { throttle.due }

    /// Handles a reported level.
    ///
    /// - Returns: whether to store it now.
    mutating func reported(_ status: BatteryStatus, load: BatteryHistory.Load, at now: Timestamp) -> Bool {
        latest = Timestamped(value: status, at: now)
        monitor.reported(status, load: load, at: now)
        return throttle.admits(at: now.instant)
    }

    /// Handles a changed use of the tag.
    mutating func loadChanged(to load: BatteryHistory.Load, at now: Timestamp) {
        monitor.loadChanged(to: load, at: now)
    }

    /// Handles a time of day that may have been set.
    ///
    /// - Returns: whether the forecast has changed.
    mutating func clockChanged(at now: Timestamp) -> Bool { monitor.clockChanged(at: now) }

    /// Returns whether level and history are to be stored now.
    mutating func isDue(at now: Instant) -> Bool { throttle.isDue(at: now) }

    /// Takes level and history over for the tag's record, so that they survive a restart.
    mutating func keep() {
        storedLevel = latest.map {
            TagRecord.Battery(
                level: $0.value.level, isCharging: $0.value.isCharging, unixMilliseconds: $0.at.unixMilliseconds)
        }
        storedHistory = monitor.history
    }
}
