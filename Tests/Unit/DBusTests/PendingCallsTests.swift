import EventLoop
import TestSupport
import Testing

@testable import DBus

@Suite("Pending calls")
struct PendingCallsTests {
    /// Ends of calls by serial number, in order.
    @LoopActor
    final class Bench {
        let calls = PendingCalls()
        private(set) var ends: [String] = []

        func add(_ serial: UInt32, within limit: Duration) {
            calls.add(serial, .call(to: "org.example", "/", "org.example.Interface", "Member"), within: limit) {
                [unowned self] result in
                switch result {
                case .success: ends.append("\(serial) answered")
                case .failure(let error): ends.append("\(serial) \(error.code)")
                }
            }
        }
    }

    @Test("time out at their own deadlines, in whatever order they were made")
    func order() async throws {
        try await onLoop {
            let bench = Bench()
            bench.add(1, within: .milliseconds(120))
            bench.add(2, within: .milliseconds(10))
            bench.add(3, within: .seconds(3_600))
            bench.add(4, within: .milliseconds(60))
            try await until("three ends") { bench.ends.count == 3 }
            #expect(bench.ends == ["2 timeout", "4 timeout", "1 timeout"])
            bench.calls.failAll(.disconnected)
            #expect(bench.ends.last == "3 disconnected")
        }
    }

    @Test("time out at their deadline, also if the one due first was answered", arguments: [1, 2])
    func answeredBefore(answered: Int) async throws {
        try await onLoop {
            let bench = Bench()
            for serial in 1...2 { bench.add(UInt32(serial), within: .milliseconds(20 * serial)) }
            bench.calls.end(UInt32(answered), .failure(.malformed("")))
            try await until("the other end") { bench.ends.count == 2 }
            #expect(bench.ends == ["\(answered) malformed", "\(3 - answered) timeout"])
            bench.add(3, within: .milliseconds(10))
            try await until("the third end") { bench.ends.last == "3 timeout" }
        }
    }

    @Test("that all failed do not delay a later one")
    func failed() async throws {
        try await onLoop {
            let bench = Bench()
            bench.add(1, within: .milliseconds(10))
            bench.calls.failAll(.disconnected)
            bench.add(2, within: .milliseconds(20))
            try await until("the end") { bench.ends == ["1 disconnected", "2 timeout"] }
        }
    }
}
