/// The discharge under one load: the total drop of the level by the total time under that load.
///
/// Times under other loads are left out, so that the drops before and after them form one line. Exists only when there
/// are enough points for an estimate.
struct DischargeSeries: Sendable {
    /// One point of the line.
    struct Sample: Hashable, Sendable {
        /// Seconds under the load.
        let time: Double
        /// Percent.
        let drop: Double
    }

    /// Minimum number of points.
    static let minPoints = 5
    /// Minimum drop, in percent.
    static let minDrop: Double = 10

    /// Maximum number of points that are compared with each other: bounds the work for an estimate.
    static let maxCompared = 40

    private let samples: [Sample]
    /// The samples that are compared with each other: all, or some that are evenly spread.
    private let compared: [Sample]
    /// The number of points, without the present time.
    let pointCount: Int
    /// Percent per second.
    let rate: Double

    /// nil if the points are too few, if the level has dropped too little, or if it does not fall.
    ///
    /// - Parameters:
    ///   - points: in order of time.
    ///   - load: the load.
    ///   - second: the present time, until which the last level has not changed; nil to end at the last point.
    init?(_ points: [BatteryHistory.Point], load: BatteryHistory.Load, until second: UInt32?) {
        var samples: [Sample] = []
        var pointCount = 0
        for index in points.indices where points[index].load == load {
            let next = index + 1 < points.endIndex ? points[index + 1] : nil
            guard let end = next?.second ?? second, end > points[index].second else { continue }
            if samples.isEmpty {
                samples.append(Sample(time: 0, drop: 0))
                pointCount = 1
            }
            let last = samples[samples.count - 1]
            let level = next?.level ?? points[index].level
            samples.append(
                Sample(
                    time: last.time + Double(end - points[index].second),
                    drop: last.drop + Double(Int(points[index].level) - Int(level))))
            if next != nil { pointCount += 1 }
        }
        guard pointCount >= Self.minPoints, let last = samples.last, last.drop >= Self.minDrop else { return nil }
        let compared = samples.spread(atMost: Self.maxCompared)
        let rate = Self.medianSlope(of: compared)
        guard rate > 0 else { return nil }
        (self.samples, self.compared, self.pointCount, self.rate) = (samples, compared, pointCount, rate)
    }

    /// How long one percent lasts, in seconds.
    var secondsPerPercent: UInt32 { UInt32(clamping: Int64(min(1 / rate, Double(UInt32.max)).rounded())) }

    /// The time under the load, in seconds.
    var duration: Double { samples[samples.count - 1].time }

    /// The drop of the level, in percent.
    var drop: Double { samples[samples.count - 1].drop }

    /// How far the last level is above the line, in percent; negative below it.
    var residual: Double {
        let intercept = Self.median(compared.map { $0.drop - rate * $0.time })
        return intercept + rate * duration - drop
    }

    /// The slope of Theil and Sen: the median of the slopes between all pairs of points. A plateau or a jump of the
    /// level hardly changes it.
    private static func medianSlope(of samples: [Sample]) -> Double {
        var slopes: [Double] = []
        slopes.reserveCapacity(samples.count * (samples.count - 1) / 2)
        for (index, first) in samples.enumerated() {
            for second in samples[(index + 1)...] {
                slopes.append((second.drop - first.drop) / (second.time - first.time))
            }
        }
        return median(slopes)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted().percentile(0.5) }

    // MARK: Scatter

    /// The number of equal parts of the drop in which rates are compared.
    var partCount: Int { max(1, min(6, Int(drop / 4))) }

    /// The root mean square deviation of the rates in equal parts of the drop, relative to the rate of the whole; nil
    /// if there are fewer than three parts.
    var scatter: Double? {
        var rates: [Double] = []
        var start = samples[0]
        for sample in samples where sample.time > start.time {
            guard sample.drop >= drop * Double(rates.count + 1) / Double(partCount) else { continue }
            rates.append((sample.drop - start.drop) / (sample.time - start.time))
            start = sample
        }
        guard rates.count >= 3 else { return nil }
        let squares = rates.map { ($0 / rate - 1) * ($0 / rate - 1) }
        return (squares.reduce(0, +) / Double(squares.count)).squareRoot()
    }
}

extension [DischargeSeries.Sample] {
    /// The first, the last, and evenly spread ones between them.
    fileprivate func spread(atMost most: Int) -> [DischargeSeries.Sample] {
        guard count > most else { return self }
        return (0..<most).map { self[$0 * (count - 1) / (most - 1)] }
    }
}

extension [Double] {
    /// The percentile of sorted values, interpolated linearly; 0 if there are none.
    func percentile(_ fraction: Double) -> Double {
        guard let last = indices.last else { return 0 }
        let position = Double(last) * fraction
        let index = Int(position)
        guard index < last else { return self[last] }
        return self[index] + (self[index + 1] - self[index]) * (position - Double(index))
    }
}
