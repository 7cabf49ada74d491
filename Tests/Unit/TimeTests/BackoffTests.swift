import Testing
import Time

@Suite("Pauses between attempts")
struct BackoffTests {
    @Test("grow to a limit, and restart after a success")
    func growth() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(5))
        #expect(backoff.isFresh)
        var pauses: [Duration] = []
        for _ in 0..<5 { pauses.append(backoff.next()) }
        #expect(pauses == [1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(!backoff.isFresh)
        backoff.reset()
        #expect(backoff.isFresh)
        #expect(backoff.next() == .seconds(1))
    }

    @Test("continue from a lower pause, or with the longest")
    func otherPauses() {
        var backoff = Backoff(first: .milliseconds(500), longest: .seconds(60))
        for _ in 0..<10 { _ = backoff.next() }
        backoff.lower(to: .seconds(8))
        #expect([backoff.next(), backoff.next()] == [.seconds(8), .seconds(16)])
        backoff.lower(to: .milliseconds(100))
        #expect(backoff.next() == .milliseconds(500))
        backoff.skipToLongest()
        #expect([backoff.next(), backoff.next()] == [.seconds(60), .seconds(60)])
    }

    @Test("stay at the limit indefinitely")
    func long() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
        for _ in 0..<200 { _ = backoff.next() }
        #expect(backoff.next() == .seconds(60))
    }
}
