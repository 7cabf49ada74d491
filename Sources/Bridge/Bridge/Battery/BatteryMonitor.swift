import JacquardProtocol
import Time

/// Turns the reports of a tag's battery into its history and the forecast.
///
/// Times of the history are those of the wall clock, because the discharge continues while the bridge is not running. A
/// machine without a battery-backed clock may start with a wrong time: when the clock is set, the points of this run
/// are moved. Until the points of this run follow those of earlier ones, there is no forecast.
struct BatteryMonitor: Sendable {
    /// The part that is kept across restarts.
    private(set) var history: BatteryHistory
    /// The forecast; nil without enough data, and while the battery is charging.
    private(set) var forecast: BatteryForecast?
    /// Whether the level is low: below 20 %, and until it is 25 % again.
    private(set) var isLow: Bool

    /// The number of points from earlier runs.
    private var earlierPoints: Int
    /// The difference of wall clock and monotonic clock at the last event, in milliseconds.
    private var clockOffset: Int64?
    /// When the first and the last point of this run were added.
    private var firstPoint: Instant?
    private var lastPoint: Instant?

    /// Points are at least this far apart, so that a tag that reports all the time does not displace the older ones.
    private static let interval = Duration.seconds(60)
    /// A rise by this many percent is a charge. Smaller ones are changes of temperature or load.
    private static let chargedRise = 3
    /// A change of the clocks' difference by more than this, in milliseconds, means that the wall clock was set.
    private static let clockTolerance: Int64 = 5_000
    /// After this time, points of earlier runs that are in the future are dropped: the clock was wrong then.
    private static let patience = Duration.seconds(3_600)
    /// Below this level the battery is low.
    private static let lowLevel: UInt8 = 20
    /// From this level on it is no longer low. Between the two, a level that varies by a few percent changes nothing.
    private static let sufficientLevel: UInt8 = 25

    /// - Parameters:
    ///   - history: the history of earlier runs.
    ///   - level: the latest level of earlier runs; nil if there is none.
    init(_ history: BatteryHistory, level: UInt8? = nil) {
        self.history = history
        isLow =
            level.map { level in
                let wasLow = history.points.contains { $0.level < Self.lowLevel }
                return Self.isLow(level, wasLow: wasLow)
            } ?? false
        earlierPoints = history.points.count
    }

    private static func isLow(_ level: UInt8, wasLow: Bool) -> Bool {
        level < lowLevel || wasLow && level < sufficientLevel
    }

    /// Handles a reported level.
    mutating func reported(_ battery: BatteryStatus, load: BatteryHistory.Load, at now: Timestamp) {
        _ = clockChanged(at: now)
        let level = battery.level
        isLow = Self.isLow(level, wasLow: isLow)
        guard !battery.isCharging else {
            endDischarge()
            return forecast = nil
        }
        if let lowest = history.points.map(\.level).min(), Int(level) >= Int(lowest) + Self.chargedRise {
            endDischarge()
        }
        dropFuturePoints(at: now)
        if history.points.last?.level != level { add(level, load, at: now) }
        update(at: now)
    }

    /// Handles a changed load.
    mutating func loadChanged(to load: BatteryHistory.Load, at now: Timestamp) {
        guard let last = history.points.last, last.load != load else { return }
        _ = clockChanged(at: now)
        add(last.level, load, at: now)
        update(at: now)
    }

    /// Compares the clocks, and moves the points of this run if the wall clock was set.
    ///
    /// - Returns: whether it was set.
    mutating func clockChanged(at now: Timestamp) -> Bool {
        let offset = now.unixMilliseconds - now.instant.sinceBoot.milliseconds
        defer { clockOffset = offset }
        guard let clockOffset, (offset - clockOffset).magnitude > UInt64(Self.clockTolerance) else { return false }
        let seconds = Double(offset - clockOffset) / 1_000
        history.move(from: earlierPoints, bySeconds: Int64(seconds.rounded()))
        update(at: now)
        return true
    }

    /// Adds a point; one that follows the last too closely replaces it.
    private mutating func add(_ level: UInt8, _ load: BatteryHistory.Load, at now: Timestamp) {
        if let lastPoint, !history.points.isEmpty, now.instant - lastPoint < Self.interval {
            return history.replaceLast(level: level, load: load)
        }
        if firstPoint == nil { firstPoint = now.instant }
        lastPoint = now.instant
        let second = UInt32(clamping: now.unixMilliseconds / 1_000)
        if history.append(.init(second: second, level: level, load: load)), earlierPoints > 0 { earlierPoints -= 1 }
    }

    private mutating func endDischarge() {
        history.endDischarge()
        (earlierPoints, firstPoint, lastPoint) = (0, nil, nil)
    }

    /// Whether the points of this run follow those of earlier runs.
    private var isInOrder: Bool {
        guard earlierPoints > 0, earlierPoints < history.points.count else { return true }
        return history.points[earlierPoints].second >= history.points[earlierPoints - 1].second
    }

    private mutating func dropFuturePoints(at now: Timestamp) {
        guard !isInOrder, let firstPoint, now.instant - firstPoint >= Self.patience else { return }
        history.dropFirst(earlierPoints)
        earlierPoints = 0
    }

    private mutating func update(at now: Timestamp) {
        forecast = isInOrder ? BatteryForecast(history, at: now.unixMilliseconds) : nil
    }
}
