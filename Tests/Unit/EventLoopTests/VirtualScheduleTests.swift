import Testing
import Time

@testable import EventLoop

@Suite("The schedule of a simulation")
struct VirtualScheduleTests {
    private static let start = Instant(sinceBoot: .seconds(100))

    /// Takes all events, each with its distance from the start.
    private static func all(_ schedule: inout VirtualSchedule<Int>) -> [(event: Int, after: Duration)] {
        var events: [(Int, Duration)] = []
        while let event = schedule.next() { events.append((event, schedule.now - start)) }
        return events
    }

    @Test("moves the time on to each event, in the order of their times")
    func order() {
        var schedule = VirtualSchedule<Int>(from: Self.start, seed: 1)
        for seconds in [5, 1, 9, 3, 7, 2, 8] {
            _ = schedule.add(seconds, at: Self.start + .seconds(seconds))
        }
        let events = Self.all(&schedule)
        #expect(events.map(\.event) == [1, 2, 3, 5, 7, 8, 9])
        #expect(events.map(\.after) == [1, 2, 3, 5, 7, 8, 9].map { .seconds($0) })
    }

    @Test("draws the order of events of one moment: equal seeds, equal orders")
    func moment() {
        func order(_ seed: UInt64) -> [Int] {
            var schedule = VirtualSchedule<Int>(from: Self.start, seed: seed)
            for number in 0..<20 { _ = schedule.add(number, at: Self.start) }
            return Self.all(&schedule).map(\.event)
        }
        #expect(order(1) == order(1))
        #expect(order(1) != order(2))
        #expect(order(1).sorted() == Array(0..<20))
    }

    @Test("does not deliver cancelled events, and forgets them")
    func cancelled() {
        var schedule = VirtualSchedule<Int>(from: Self.start, seed: 1)
        let tokens = (0..<200).map { schedule.add($0, at: Self.start + .seconds(200 - $0)) }
        for (number, token) in tokens.enumerated() where number % 10 != 0 { schedule.cancel(token) }
        #expect(schedule.count == 20)
        let events = Self.all(&schedule).map(\.event)
        #expect(events == stride(from: 190, through: 0, by: -10).map { $0 })
    }

    @Test("delays an event by a part of its lateness, and never hastens it")
    func lateness() {
        var schedule = VirtualSchedule<Int>(from: Self.start, seed: 1)
        for number in 0..<100 {
            _ = schedule.add(number, at: Self.start + .seconds(1), lateness: .milliseconds(10))
        }
        let times = Self.all(&schedule).map(\.after)
        #expect(times.allSatisfy { (.seconds(1)..<(.seconds(1) + .milliseconds(10))).contains($0) })
        #expect(Set(times).count > 90)
    }

    @Test("counts a past time as now")
    func past() {
        var schedule = VirtualSchedule<Int>(from: Self.start, seed: 1)
        _ = schedule.add(1, at: Self.start - .seconds(5))
        let isDue = schedule.hasDueEvent()
        #expect(isDue)
        let times = Self.all(&schedule).map(\.after)
        #expect(times == [.zero])
    }
}
