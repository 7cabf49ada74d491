import JacquardProtocol
import Testing
import Time

@testable import struct JacquardProtocol.RequestQueue

@Suite("Request queue")
struct RequestQueueTests {
    private let now = Instant(sinceBoot: .seconds(3_600))

    /// A queue with requests for `a`, `b` and `c`, which may take 8 s each.
    private func queue() -> RequestQueue<String> {
        var queue = RequestQueue<String>()
        for purpose in ["a", "b", "c"] { queue.enqueue(.hello(), for: purpose, timeout: .seconds(8), isFirst: false) }
        return queue
    }

    @Test("returns one request at a time, in order, with ids from 1")
    func order() {
        var queue = queue()
        for (id, purpose) in zip(UInt32(1)..., ["a", "b", "c"]) {
            let next = queue.next(at: now)
            #expect(next?.packet == Request.hello().encoded(id: id))
            #expect(next?.purpose == purpose)
            #expect(queue.next(at: now) == nil)
            #expect(queue.responseReceived(id: id) == purpose)
        }
        #expect(queue.next(at: now) == nil)
        #expect(queue.inFlight == nil)
    }

    @Test("returns the second half of an operation before all others")
    func enqueueNext() {
        var queue = queue()
        _ = queue.next(at: now)
        _ = queue.responseReceived(id: 1)
        queue.enqueueNext(.begin(), for: "a2", timeout: .seconds(8))
        #expect(queue.next(at: now)?.purpose == "a2")
        _ = queue.responseReceived(id: 2)
        #expect(queue.next(at: now)?.purpose == "b")
    }

    @Test("returns requests with precedence before the others, in their order")
    func precedence() {
        var queue = queue()
        for purpose in ["1", "2"] { queue.enqueue(.hello(), for: purpose, timeout: .seconds(8), isFirst: true) }
        queue.enqueue(.hello(), for: "d", timeout: .seconds(8), isFirst: false)
        var purposes: [String] = []
        while let next = queue.next(at: now) {
            purposes.append(next.purpose)
            _ = queue.removeInFlight()
        }
        #expect(purposes == ["1", "2", "a", "b", "c", "d"])
    }

    @Test("accepts a response once, by its id")
    func answers() {
        var queue = queue()
        #expect(queue.responseReceived(id: 1) == nil)
        _ = queue.next(at: now)
        #expect(queue.responseReceived(id: 2) == nil)
        #expect(queue.responseReceived(id: 1) == "a")
        #expect(queue.responseReceived(id: 1) == nil)
    }

    @Test("starts a request's time limit when it is sent")
    func expiry() {
        var queue = queue()
        let later = now + .seconds(100)
        #expect(queue.expired(at: later) == nil)
        _ = queue.next(at: later)
        #expect(queue.inFlight?.deadline == later + .seconds(8))
        #expect(queue.expired(at: later + .seconds(8) - .nanoseconds(1)) == nil)
        #expect(queue.expired(at: later + .seconds(8)) == "a")
        #expect(queue.responseReceived(id: 1) == nil)
        #expect(queue.next(at: later)?.purpose == "b")
    }

    @Test("goes from id 254 to 1")
    func wrap() {
        var queue = RequestQueue<Int>()
        var ids: [UInt32] = []
        for purpose in 1...256 {
            queue.enqueue(.hello(), for: purpose, timeout: .seconds(8), isFirst: false)
            _ = queue.next(at: now)
            let id = queue.inFlight?.id ?? 0
            ids.append(id)
            #expect(queue.responseReceived(id: id) == purpose)
        }
        #expect(ids == Array(1...254) + [1, 2])
    }

    @Test("withdraws queued requests, and not the one in flight")
    func withdraw() {
        var queue = queue()
        _ = queue.next(at: now)
        #expect(queue.withdraw { $0 != "c" } == ["b"])
        #expect(queue.responseReceived(id: 1) == "a")
        #expect(queue.next(at: now)?.purpose == "c")
    }

    @Test("drops all requests at once")
    func drain() {
        var queue = queue()
        _ = queue.next(at: now)
        var (sent, unsent) = queue.drain()
        #expect(sent == "a")
        #expect(unsent == ["b", "c"])
        (sent, unsent) = queue.drain()
        #expect(sent == nil)
        #expect(unsent == [])
    }
}
