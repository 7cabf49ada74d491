import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Battery forecast")
struct BatteryForecastTests {
    @Test("has the true end in its interval in at least 80 % of 1,000 discharges")
    func discharges() throws {
        var random = SplitMix(seed: 17)
        var (hits, early, late) = (0, 0, 0)
        var widths: [Double] = []
        var errors: [Double] = []
        while widths.count < 1_000 {
            let tag = SyntheticDischarge.Tag(&random)
            var history = BatteryHistory()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let start = Double.random(in: 60...100, using: &random)
                let discharge = SyntheticDischarge(
                    of: tag, from: start, to: .random(in: 3...50, using: &random), &random)
                history.play(discharge.reports[...])
                history.endDischarge()
            }
            let last = SyntheticDischarge(of: tag, from: .random(in: 60...100, using: &random), to: 0, &random)
            let count = Int.random(in: 10..<last.reports.count, using: &random)
            history.play(last.reports[..<count])
            let present = last.reports[count - 1].time * 1_000
            // Too early: the next discharge is taken instead.
            guard let forecast = BatteryForecast(history, at: SyntheticDischarge.start + Int64(present)) else {
                continue
            }
            #expect(forecast.earliest >= (SyntheticDischarge.start + Int64(present)) / 1_000 * 1_000)
            let truth = Double(SyntheticDischarge.start) + last.end(after: count - 1) * 1_000
            if truth < Double(forecast.earliest) { early += 1 }
            if truth > Double(forecast.latest) { late += 1 }
            if (Double(forecast.earliest)...Double(forecast.latest)).contains(truth) { hits += 1 }
            widths.append(
                Double(forecast.latest - forecast.earliest) / (truth - Double(SyntheticDischarge.start) - present))
            errors.append(abs(Double(forecast.empty) - truth) / (truth - Double(SyntheticDischarge.start) - present))
        }
        let (width, error) = (widths.sorted().percentile(0.5), errors.sorted().percentile(0.5))
        let figures =
            "\(hits) in the interval, \(early) before it, \(late) after it; median width \(width), error \(error)"
        #expect(hits >= 800, "\(figures)")
        // An interval that is always right because it is endless would be of no use.
        #expect(width < 1.1, "\(figures)")
        #expect(error < 0.25, "\(figures)")
    }

    @Test("has nothing before five points and ten percent")
    func minimum() {
        var bench = Bench()
        for level in [90, 88, 86, 84] as [UInt32] {
            bench.report(level)
            bench.pass(hours: 3)
        }
        #expect(bench.monitor.forecast == nil)
        bench.report(82)
        #expect(bench.monitor.forecast == nil, "five points, eight percent")
        bench.pass(hours: 3)
        bench.report(80)
        #expect(bench.monitor.forecast != nil)
        var coarse = Bench()
        for level in [90, 60, 30, 10] as [UInt32] {
            coarse.report(level)
            coarse.pass(hours: 3)
        }
        #expect(coarse.monitor.forecast == nil, "four points")
        coarse.report(5)
        #expect(coarse.monitor.forecast != nil, "five points")
    }

    @Test("is exact for a constant rate, with the interval around it")
    func constant() throws {
        var bench = Bench()
        bench.drain(from: 90, to: 50, hours: 3)
        let forecast = try #require(bench.monitor.forecast)
        let hours = (forecast.empty - bench.now.unixMilliseconds) / 3_600_000
        #expect((148...154).contains(hours), "50 % at 3 h each: \(hours) h")
        #expect(forecast.earliest < forecast.empty && forecast.empty < forecast.latest)
        #expect(forecast.basis == "5.0 days, 41 points")
    }

    @Test("follows the present load, not the other one")
    func loads() throws {
        var bench = Bench()
        bench.drain(from: 90, to: 70, hours: 3)
        bench.load(.continuous)
        #expect(bench.monitor.forecast == nil, "nothing is known about continuous mode")
        bench.drain(from: 69, to: 50, hours: 0.25)
        let continuous = try #require(bench.monitor.forecast)
        #expect((10...16).contains((continuous.empty - bench.now.unixMilliseconds) / 3_600_000))
        bench.load(.gesture)
        let gesture = try #require(bench.monitor.forecast)
        #expect((145...156).contains((gesture.empty - bench.now.unixMilliseconds) / 3_600_000))
    }

    @Test("is wider after discharges of different rates, on the side of each")
    func earlierDischarges() throws {
        var plain = Bench()
        plain.drain(from: 90, to: 50, hours: 3)
        let narrow = try #require(plain.monitor.forecast)
        var bench = Bench()
        for hours in [1.0, 1, 1, 9, 9, 9] {
            bench.drain(from: 90, to: 50, hours: hours)
            bench.charge()
        }
        bench.drain(from: 90, to: 50, hours: 3)
        let wide = try #require(bench.monitor.forecast)
        #expect(wide.earliest - bench.now.unixMilliseconds < narrow.earliest - plain.now.unixMilliseconds)
        #expect(wide.latest - bench.now.unixMilliseconds > narrow.latest - plain.now.unixMilliseconds)
        #expect(bench.monitor.history.discharges.map(\.gesture) == [3_600, 3_600, 3_600, 32_400, 32_400, 32_400])
    }

    @Test("ends with a charge, reported or seen by a rise of three percent")
    func charges() {
        var bench = Bench()
        bench.drain(from: 90, to: 50, hours: 3)
        bench.report(51)
        #expect(bench.monitor.forecast != nil, "a rise of one percent is no charge")
        bench.report(51, isCharging: true)
        #expect(bench.monitor.forecast == nil)
        #expect(bench.monitor.history.points.isEmpty)
        bench.drain(from: 90, to: 50, hours: 3)
        #expect(bench.monitor.forecast != nil)
        bench.report(53)
        #expect(bench.monitor.forecast == nil)
        #expect(bench.monitor.history.points.map(\.level) == [53])
        #expect(bench.monitor.history.discharges.count == 2)
    }

    @Test("moves on while the level stays the same")
    func plateau() throws {
        var bench = Bench()
        bench.drain(from: 90, to: 50, hours: 3)
        let before = try #require(bench.monitor.forecast)
        bench.pass(hours: 12)
        bench.report(50)
        let after = try #require(bench.monitor.forecast)
        #expect(after.empty > before.empty)
        #expect(bench.monitor.history.points.last?.level == 50)
    }

    @Test("keeps at most 200 points and 16 discharges, and a point a minute")
    func bounds() {
        var bench = Bench()
        for round in 0..<20 {
            bench.drain(from: 90, to: 70, hours: 1)
            if round < 18 { bench.charge() }
        }
        #expect(bench.monitor.history.discharges.count == BatteryHistory.maxDischarges)
        var flapping = Bench()
        for step in 0..<1_000 {
            flapping.report(step.isMultiple(of: 2) ? 50 : 51)
            flapping.pass(hours: 1)
        }
        #expect(flapping.monitor.history.points.count == BatteryHistory.maxPoints)
        var hasty = Bench()
        for step in 0..<1_000 {
            hasty.report(UInt32(90 - step % 2))
            hasty.now = hasty.now + .milliseconds(100)
        }
        #expect(hasty.monitor.history.points.count == 2)
    }
}

@Suite("Battery forecast and the clock")
struct BatteryForecastClockTests {
    /// A discharge of an earlier run, until the start of this one.
    private static func earlier() -> BatteryHistory {
        var bench = Bench()
        bench.drain(from: 90, to: 60, hours: 3)
        return bench.monitor.history
    }

    @Test("continues after a restart")
    func restart() throws {
        var bench = Bench()
        bench.drain(from: 90, to: 60, hours: 3)
        let before = try #require(bench.monitor.forecast)
        bench.monitor = BatteryMonitor(bench.monitor.history)
        bench.now.instant = Instant(sinceBoot: .seconds(30))
        bench.report(60)
        #expect(bench.monitor.forecast == before)
    }

    @Test("waits for the clock of a machine that starts in 1970, and counts the time that it was off")
    func noClock() throws {
        let history = Self.earlier()
        let last = try #require(history.points.last)
        var bench = Bench(BatteryMonitor(history))
        bench.now = Timestamp(instant: Instant(sinceBoot: .seconds(30)), unixMilliseconds: 30_000)
        bench.report(58)
        #expect(bench.monitor.forecast == nil)
        bench.pass(hours: 0.05)
        // Six hours for two percent, as before.
        bench.now.unixMilliseconds = (Int64(last.second) + 6 * 3_600) * 1_000
        let isSet = bench.monitor.clockChanged(at: bench.now)
        #expect(isSet)
        let forecast = try #require(bench.monitor.forecast)
        #expect((172...180).contains((forecast.empty - bench.now.unixMilliseconds) / 3_600_000))
        #expect(bench.monitor.history.points.last?.level == 58)
        #expect(bench.monitor.history.points == BatteryHistory(points: bench.monitor.history.points).points)
    }

    @Test("counts the time that the machine was off if its clock continues from the last shutdown")
    func savedClock() throws {
        let history = Self.earlier()
        let last = try #require(history.points.last)
        var bench = Bench(BatteryMonitor(history))
        bench.now = Timestamp(
            instant: Instant(sinceBoot: .seconds(30)), unixMilliseconds: (Int64(last.second) + 60) * 1_000)
        bench.report(40)
        bench.now = bench.now + .seconds(60)
        bench.now.unixMilliseconds += 60 * 3_600_000
        let isSet = bench.monitor.clockChanged(at: bench.now)
        #expect(isSet)
        #expect(bench.monitor.history.points.last?.second == last.second + 60 + 60 * 3_600)
        let forecast = try #require(bench.monitor.forecast)
        #expect((115...125).contains((forecast.empty - bench.now.unixMilliseconds) / 3_600_000))
    }

    @Test("moves the points of this run only, also in a full history")
    func full() {
        var bench = Bench()
        for step in 0..<BatteryHistory.maxPoints {
            bench.report(step.isMultiple(of: 2) ? 50 : 51)
            bench.pass(hours: 1)
        }
        bench.monitor = BatteryMonitor(bench.monitor.history)
        for level in [49, 48] as [UInt32] {
            bench.report(level)
            bench.pass(hours: 1)
        }
        let before = bench.monitor.history.points
        bench.now.unixMilliseconds += 60_000
        _ = bench.monitor.clockChanged(at: bench.now)
        #expect(zip(bench.monitor.history.points, before).count { $0 != $1 } == 2)
    }

    @Test("drops points from the future after an hour, because the clock was wrong then")
    func future() throws {
        let history = Self.earlier()
        let first = try #require(history.points.first)
        var bench = Bench(BatteryMonitor(history))
        bench.now = Timestamp(
            instant: Instant(sinceBoot: .seconds(30)), unixMilliseconds: (Int64(first.second) - 86_400) * 1_000)
        bench.report(59)
        #expect(bench.monitor.forecast == nil)
        bench.pass(hours: 0.5)
        bench.report(58)
        #expect(bench.monitor.history.points.count == history.points.count + 2)
        bench.pass(hours: 1)
        bench.report(57)
        #expect(bench.monitor.history.points.map(\.level) == [59, 58, 57])
    }

    @Test("does not take an adjustment of the clock for a jump")
    func adjustment() {
        var bench = Bench()
        bench.report(90)
        bench.now = bench.now + .seconds(60)
        bench.now.unixMilliseconds += 4_000
        let isSet = bench.monitor.clockChanged(at: bench.now)
        #expect(!isSet)
    }

    @Test("reads only points in order, from times that exist")
    func stored() {
        let year = BatteryHistory.earliestSecond
        func point(_ second: UInt32, _ level: UInt8) -> BatteryHistory.Point {
            BatteryHistory.Point(second: second, level: level, load: .gesture)
        }
        let history = BatteryHistory(points: [
            point(5, 90), point(year + 500, 80), point(year + 100, 70), point(year + 200, 101), point(year + 300, 60),
        ])
        #expect(history.points.map(\.level) == [70, 60])
    }
}

/// A monitor with a time that the test sets.
private struct Bench {
    var monitor: BatteryMonitor
    var now = Scene.beginning
    private var load = BatteryHistory.Load.gesture

    init(_ monitor: BatteryMonitor = BatteryMonitor(BatteryHistory())) {
        self.monitor = monitor
    }

    mutating func report(_ level: UInt32, isCharging: Bool = false) {
        monitor.reported(BatteryStatus(level: level, isCharging: isCharging), load: load, at: now)
    }

    mutating func pass(hours: Double) {
        now = now + .seconds(hours * 3_600)
    }

    mutating func load(_ load: BatteryHistory.Load) {
        self.load = load
        monitor.loadChanged(to: load, at: now)
    }

    /// Reports each percent, with a pause before all but the first.
    mutating func drain(from start: UInt32, to end: UInt32, hours: Double) {
        for level in (end...start).reversed() {
            if level != start || !monitor.history.points.isEmpty { pass(hours: hours) }
            report(level)
        }
    }

    mutating func charge() {
        pass(hours: 1)
        report(100, isCharging: true)
        pass(hours: 1)
    }
}

extension BatteryHistory {
    /// Adds a point for each change in the reports of a discharge.
    fileprivate mutating func play(_ reports: ArraySlice<SyntheticDischarge.Report>) {
        for report in reports where points.last?.level != report.level || points.last?.load != report.load {
            let second = UInt32(SyntheticDischarge.start / 1_000) + UInt32(report.time)
            _ = append(Point(second: second, level: report.level, load: report.load))
        }
    }
}
