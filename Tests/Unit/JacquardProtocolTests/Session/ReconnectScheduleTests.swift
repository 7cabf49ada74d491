import JacquardProtocol
import Testing

@testable import struct JacquardProtocol.ReconnectSchedule

@Suite("Times of a session")
struct SessionTimingTests {
    @Test("have the values that the documentation of each names")
    func defaults() {
        let timing = TagSession.Timing()
        #expect(
            [timing.connect, timing.start, timing.request, timing.write, timing.close]
                == [60, 2, 8, 30, 10].map { .seconds($0) })
        #expect(
            [timing.gearAnnouncement, timing.batteryAnnouncement, timing.batteryInterval, timing.probe]
                == [2, 2, 3_600, 4].map { .seconds($0) })
        #expect(
            [timing.touchModeChange, timing.touchModeRepeat, timing.stable] == [1, 2, 10].map { .seconds($0) })
        #expect(timing.unansweredLimit == 2)
    }
}

@Suite("Reconnect schedule")
struct ReconnectScheduleTests {
    /// In milliseconds, before the spread of a quarter.
    private static let pauses = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]

    private func pauses(_ count: Int, seed: UInt64) -> [Duration] {
        var schedule = ReconnectSchedule(seed: seed)
        return (0..<count).map { _ in schedule.next() }
    }

    @Test("pauses twice as long each time, up to a minute, spread by a quarter", arguments: 0..<50)
    func bounds(seed: UInt64) {
        for (pause, middle) in zip(pauses(Self.pauses.count, seed: seed), Self.pauses) {
            #expect(pause >= .milliseconds(middle) * 0.75)
            #expect(pause <= .milliseconds(middle) * 1.25)
        }
    }

    @Test("gives equal pauses for equal seeds, and different ones for different seeds")
    func seeds() {
        #expect(pauses(10, seed: 7) == pauses(10, seed: 7))
        #expect(pauses(10, seed: 7) != pauses(10, seed: 8))
        #expect(Set((0..<100).map { pauses(1, seed: $0) }).count == 100)
    }

    @Test("restarts with the first pause")
    func reset() {
        var schedule = ReconnectSchedule(seed: 1)
        for _ in 0..<5 { _ = schedule.next() }
        schedule.reset()
        #expect(schedule.next() <= .milliseconds(625))
    }

    @Test("stays at its limit indefinitely")
    func longRun() {
        #expect(pauses(1000, seed: 1).suffix(900).allSatisfy { $0 >= .seconds(45) && $0 <= .seconds(75) })
    }
}
