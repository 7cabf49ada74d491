import Testing
import Time

@testable import Bridge

@Suite("Facts that the broker may not have stored")
struct FactRetryTests {
    private let start = Instant(sinceBoot: .seconds(1_000))

    /// The pauses until the retries that follow each other, each planned when the one before is made.
    private func pauses(_ retry: inout FactRetry, count: Int) -> [Int] {
        var now = start
        return (0..<count).map { _ in
            retry.plan(at: now)
            let begin = now
            while !retry.takeDue(at: now) { now += .seconds(1) }
            return Int((now - begin).components.seconds)
        }
    }

    @Test("are sent again after pauses that double from a minute to an hour")
    func pauses() {
        var retry = FactRetry()
        #expect(pauses(&retry, count: 8) == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    }

    /// Whether a retry is due at each time, in seconds from the start.
    private func dues(_ retry: inout FactRetry, after seconds: [Int]) -> [Bool] {
        seconds.map { retry.takeDue(at: start + .seconds($0)) }
    }

    @Test("share a retry, which is made once")
    func shared() {
        var retry = FactRetry()
        #expect(!retry.isPending)
        #expect(dues(&retry, after: [0]) == [false])
        retry.plan(at: start)
        retry.plan(at: start + .seconds(59))
        #expect(retry.isPending)
        #expect(dues(&retry, after: [59, 60, 120]) == [false, true, false])
        #expect(!retry.isPending)
    }

    @Test("have the first pause again once the broker has taken all of them, and not while a retry is planned")
    func taken() {
        var retry = FactRetry()
        #expect(pauses(&retry, count: 2) == [60, 120])
        retry.plan(at: start)
        retry.succeeded()
        #expect(dues(&retry, after: [239, 240]) == [false, true])
        #expect(pauses(&retry, count: 1) == [480])
        retry.succeeded()
        #expect(pauses(&retry, count: 1) == [60])
    }
}
