import Testing

@testable import BlueZ

@Suite("Pauses between attempts")
struct BackoffTests {
    @Test("grow to a limit, and begin again after a success")
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

    @Test("stay at the limit indefinitely")
    func long() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(60))
        for _ in 0..<200 { _ = backoff.next() }
        #expect(backoff.next() == .seconds(60))
    }
}
