import Time

/// Counts durations by fixed upper limits: the data of one histogram of Prometheus.
///
/// Its memory is allocated once. On the path of every gesture, therefore without closures and generic code.
public struct DurationHistogram: Hashable, Sendable {
    /// The upper limits in microseconds, ascending.
    private let microseconds: [Int64]
    /// The same in units of ``TraceTicks``.
    private let limits: [Int64]
    /// The number of durations up to each limit and above the one before; the last one: above all limits.
    private var counts: [UInt64]
    /// The sum of all durations, in units of ``TraceTicks``.
    private var sum: Int64 = 0

    /// - Parameter microseconds: the upper limits, ascending.
    init(microseconds: [Int64]) {
        self.microseconds = microseconds
        limits = microseconds.map { TraceTicks.at(Instant(sinceBoot: .microseconds($0))) }
        counts = Array(repeating: 0, count: microseconds.count + 1)
    }

    /// Counts a duration in units of ``TraceTicks``.
    mutating func observe(ticks: Int64) {
        var place = 0
        while place < limits.count, ticks > limits[place] { place &+= 1 }
        counts[place] &+= 1
        sum &+= ticks
    }

    /// Counts the time between two instants.
    mutating func observe(from start: Instant, to end: Instant) {
        observe(ticks: max(0, TraceTicks.at(end) - TraceTicks.at(start)))
    }

    /// The number of durations.
    var count: UInt64 { counts.reduce(0, &+) }

    /// The sum of all durations in microseconds.
    var sumMicroseconds: Int64 { TraceTicks.microseconds(sum) }

    /// The number of durations up to each upper limit; the last limit is nil: infinite.
    var buckets: [(limitMicroseconds: Int64?, count: UInt64)] {
        var total: UInt64 = 0
        return counts.indices.map { place in
            total &+= counts[place]
            return (place < microseconds.count ? microseconds[place] : nil, total)
        }
    }
}

extension DurationHistogram {
    /// From a gesture's notification to the broker's acknowledgement: 0.25 ms to 5 s, after which a gesture expires.
    public static var gestures: DurationHistogram {
        DurationHistogram(
            microseconds: [
                250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
                5_000_000,
            ])
    }

    /// From a command's arrival to its final result: 5 ms to 1 min. A tag that is away has ten seconds.
    static var commands: DurationHistogram {
        DurationHistogram(
            microseconds: [
                5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
                30_000_000, 60_000_000,
            ])
    }

    /// From the decision to connect a tag to the moment at which it accepts commands: 0.25 s to 1 h, because the tag may
    /// sleep.
    static var connects: DurationHistogram {
        DurationHistogram(
            microseconds: [
                250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 300_000_000,
                900_000_000, 3_600_000_000,
            ])
    }
}
