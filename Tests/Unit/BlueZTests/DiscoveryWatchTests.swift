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
