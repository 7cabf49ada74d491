import JacquardProtocol
import Time

@testable import Bridge

/// A synthetic discharge of a battery, with what a bridge sees of it.
///
/// The rate differs between tags, discharges and days. The level moves in steps of one percent, is not linear, and
/// stays the same for hours at times. The tag is away on some nights, and is used in continuous mode on some days.
struct SyntheticDischarge {
    struct Report {
        /// Seconds since the start.
        let time: Double
        let level: UInt8
        let load: BatteryHistory.Load
    }

    /// The properties of a tag that stay the same between discharges.
    struct Tag {
        /// Percent per day.
        let gestureRate: Double
        let continuousRate: Double
        /// Mean number of times a day that continuous mode is switched on.
        let continuousPerDay: Double

        init(_ random: inout SplitMix) {
            gestureRate = 8 * random.factor(0.4)
            continuousRate = gestureRate * Double.random(in: 6...15, using: &random)
            continuousPerDay = [0, 0, 0.5, 2].randomElement(using: &random) ?? 0
        }
    }

    /// When each discharge starts, in milliseconds since 1970.
    static let start: Int64 = 1_795_000_000_000

    /// The reports, one in half an hour while the tag is connected.
    private(set) var reports: [Report] = []
    /// The charge at each report.
    private var charges: [Double] = []
    /// The usage of the battery on each day.
    private let days: [Double]
    private let tag: Tag

    private static let step: Double = 1_800
    private static let day: Double = 86_400

    /// - Parameters:
    ///   - tag: the tag.
    ///   - start: the charge at the start, in percent.
    ///   - end: the charge at the end, in percent.
    ///   - random: the source of all differences.
    init(of tag: Tag, from start: Double, to end: Double, _ random: inout SplitMix) {
        let nonLinearity = Double.random(in: -3...3, using: &random)
        let factor = random.factor(0.2)
        days = (0..<60).map { _ in factor * random.factor(0.35) }
        self.tag = tag
        let isAwayAtNight = Double.random(in: 0..<1, using: &random) < 0.6
        var plateaus = (0..<Int.random(in: 0...3, using: &random))
            .map { _ in
                (at: Double.random(in: 5...95, using: &random), hours: Double.random(in: 2...10, using: &random))
            }
            .sorted { $0.at < $1.at }
        var (time, charge) = (0.0, start)
        var (continuousUntil, heldUntil) = (0.0, 0.0)
        while charge > end {
            let load: BatteryHistory.Load = time < continuousUntil ? .continuous : .gesture
            if load == .gesture, .random(in: 0..<1, using: &random) < tag.continuousPerDay * Self.step / Self.day {
                continuousUntil = time + .random(in: 900...7_200, using: &random)
            }
            charge -= rate(load, at: time) * Self.step
            time += Self.step
            if let plateau = plateaus.last, charge < plateau.at {
                plateaus.removeLast()
                heldUntil = time + plateau.hours * 3_600
            }
            let isAway = isAwayAtNight && load == .gesture && time.truncatingRemainder(dividingBy: Self.day) < 8 * 3_600
            guard !isAway else { continue }
            let shown = charge + nonLinearity * Self.bend(charge)
            let level = time < heldUntil ? reports.last?.level : nil
            reports.append(
                Report(time: time, level: level ?? UInt8(min(100, max(0, shown.rounded(.down)))), load: load))
            charges.append(charge)
        }
    }

    /// Percent per second.
    private func rate(_ load: BatteryHistory.Load, at time: Double) -> Double {
        let rate = load == .gesture ? tag.gestureRate : tag.continuousRate
        return rate * days[Int(time / Self.day) % days.count] / Self.day
    }

    /// When the battery is empty if the load of a report stays the same, in seconds since the start.
    func end(after index: Int) -> Double {
        var (time, charge) = (reports[index].time, charges[index])
        while charge > 0 {
            let midnight = ((time / Self.day).rounded(.down) + 1) * Self.day
            let rate = rate(reports[index].load, at: time)
            guard rate * (midnight - time) < charge else { return time + charge / rate }
            (time, charge) = (midnight, charge - rate * (midnight - time))
        }
        return time
    }

    /// A curve that is 0 at 0, 50 and 100, and at most 1.
    private static func bend(_ charge: Double) -> Double {
        let x = charge / 50 - 1
        return x * (1 - x * x) * 2.6
    }
}

extension SplitMix {
    /// A factor around 1 with about the given relative deviation, always positive.
    mutating func factor(_ deviation: Double) -> Double {
        // The sum of twelve uniform numbers is about normal, with a deviation of 1.
        let normal = (0..<12).reduce(-6.0) { sum, _ in sum + .random(in: 0..<1, using: &self) }
        let shift = deviation * normal
        return shift >= 0 ? 1 + shift : 1 / (1 - shift)
    }
}
