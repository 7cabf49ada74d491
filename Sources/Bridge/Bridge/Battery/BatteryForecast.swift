import JSON

/// When the battery of a tag will be empty if its load stays the same.
///
/// The rate is the slope of the discharge since the last charge under the present load. The interval comes from the
/// 10th and 90th percentile of the rates of this and the earlier discharges of the tag. It is at least as wide as the
/// scatter within this discharge implies.
struct BatteryForecast: Hashable, Sendable {
    /// When the battery will be empty, in milliseconds since 1970-01-01T00:00:00Z; a whole hour.
    let empty: Int64
    /// The start of the interval, not before the time of the forecast.
    let earliest: Int64
    /// The end of the interval.
    let latest: Int64
    /// The data behind it, such as `4.2 days, 18 points`.
    let basis: String

    /// The smallest assumed scatter of the rate between parts of a discharge.
    private static let minScatter = 0.25
    /// The scatter if there are too few parts to measure it.
    private static let unknownScatter = 0.35
    /// The width of the interval in units of the scatter: nine of ten values of a normal distribution.
    private static let width = 1.64
    /// The error of a reported level, in percent.
    private static let levelError: Double = 2

    /// nil if there are too few data, see ``DischargeSeries``, or if the clock is not set.
    ///
    /// - Parameters:
    ///   - history: the points and the earlier discharges.
    ///   - unixMilliseconds: the present time.
    init?(_ history: BatteryHistory, at unixMilliseconds: Int64) {
        let now = UInt32(clamping: unixMilliseconds / 1_000)
        guard now >= BatteryHistory.earliestSecond, let last = history.points.last, last.second <= now,
            let series = DischargeSeries(history.points, load: last.load, until: now)
        else { return nil }
        // The level was between this one and the next higher one.
        let remaining = min(max(Double(last.level) + 0.5 + series.residual, Double(last.level)), Double(last.level) + 1)
        let rates =
            (history.discharges.compactMap { $0[last.load] }.filter { $0 > 0 }.map { 1 / Double($0) }
            + [series.rate]).sorted()
        let error = Self.rateError(series, remaining: remaining)
        let fastest = max(rates.percentile(0.9), series.rate * (1 + error))
        let slowest = min(rates.percentile(0.1), series.rate / (1 + error))
        func time(_ percent: Double, at rate: Double) -> Double { Double(now) + max(0, percent) / rate }
        earliest = max(Self.hour(time(remaining - Self.levelError, at: fastest), .down), Int64(now) * 1_000)
        empty = Self.hour(time(remaining, at: series.rate), .up)
        latest = Self.hour(time(remaining + Self.levelError, at: slowest), .up)
        basis = Self.basis(series)
    }

    /// The relative error of the rate: the scatter, which averages out over the parts of the past and of the future.
    private static func rateError(_ series: DischargeSeries, remaining: Double) -> Double {
        let scatter = max(series.scatter ?? unknownScatter, minScatter)
        let past = Double(series.partCount)
        let future = max(1, remaining * past / series.drop)
        return width * scatter * (1 / past + 1 / future).squareRoot()
    }

    /// Rounds to a whole hour, so that the fact does not change with each report.
    private static func hour(_ second: Double, _ rule: FloatingPointRoundingRule) -> Int64 {
        Int64(min(second, Double(UInt32.max)) / 3_600, rounding: rule) * 3_600_000
    }

    private static func basis(_ series: DischargeSeries) -> String {
        let (tenths, unit) =
            series.duration < 86_400
            ? (Int64(series.duration / 360, rounding: .toNearestOrEven), "hours")
            : (Int64(series.duration / 8_640, rounding: .toNearestOrEven), "days")
        return "\(tenths / 10).\(tenths % 10) \(unit), \(series.pointCount) points"
    }
}

extension Int64 {
    /// Rounds a number that an integer of this size holds.
    fileprivate init(_ number: Double, rounding rule: FloatingPointRoundingRule) {
        self.init(number.rounded(rule))
    }
}

extension BatteryForecast {
    static let topic = TopicRow("battery/forecast", .fact, isRecorded: true) { document in
        document["empty"]?.word.map { "battery will be empty at \($0)" }
    }
}
