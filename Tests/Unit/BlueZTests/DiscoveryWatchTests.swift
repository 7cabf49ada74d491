import Testing
import Time

@testable import BlueZ

@Suite("Restarts of a silent discovery")
struct DiscoveryWatchTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    @Test("restarts after silence, at growing intervals")
    func pauses() {
        var watch = DiscoveryWatch(silence: .seconds(10), now: start)
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<7 {
            pauses.append(watch.deadline - now)
            let early = watch.step(at: watch.deadline - .seconds(1), mayReset: false)
            #expect(early == nil)
            now = watch.deadline
            let due = watch.step(at: now, mayReset: false)
            #expect(due == .restart)
        }
        #expect(pauses == [10, 20, 40, 80, 160, 160, 160].map { .seconds($0) })
    }

    @Test("resets the adapter once, after three restarts without success")
    func reset() {
        var watch = DiscoveryWatch(silence: .seconds(10), now: start)
        var steps: [DiscoveryWatch.Step?] = []
        for _ in 0..<6 { steps.append(watch.step(at: watch.deadline, mayReset: true)) }
        #expect(steps == [.restart, .restart, .restart, .resetAdapter, .restart, .restart])
    }

    @Test("counts the time with discovery only, which pauses while a device is being connected")
    func pausedDiscovery() {
        var watch = DiscoveryWatch(silence: .seconds(10), now: start)
        watch.began(at: start)
        watch.paused(at: start + .seconds(6))
        watch.began(at: start + .seconds(30))
        #expect(watch.deadline == start + .seconds(34))
        watch.paused(at: start + .seconds(31))
        watch.heard(at: start + .seconds(31))
        watch.began(at: start + .seconds(41))
        #expect(watch.deadline == start + .seconds(51))
        // Of a discovery that was lost with its adapter, nothing counts.
        watch.began(at: start + .seconds(50))
        #expect(watch.deadline == start + .seconds(60))
    }

    @Test("resets the adapter later if a device was connected when it was due")
    func laterReset() {
        var watch = DiscoveryWatch(silence: .seconds(10), now: start)
        var steps: [DiscoveryWatch.Step?] = []
        for number in 0..<7 { steps.append(watch.step(at: watch.deadline, mayReset: number >= 5)) }
        #expect(steps == [.restart, .restart, .restart, .restart, .restart, .resetAdapter, .restart])
        watch.heard(at: start)
        for _ in 0..<4 { _ = watch.step(at: watch.deadline, mayReset: false) }
        watch.heard(at: start)
        let next = watch.step(at: watch.deadline, mayReset: true)
        #expect(next == .restart)
    }

    @Test("starts over when a device is received")
    func heard() {
        var watch = DiscoveryWatch(silence: .seconds(10), now: start)
        _ = watch.step(at: start + .seconds(10), mayReset: true)
        #expect(!watch.isFresh)
        watch.heard(at: start + .seconds(12))
        #expect(watch.isFresh)
        #expect(watch.deadline == start + .seconds(22))
    }
}
