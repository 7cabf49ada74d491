import EventLoop
import Foundation

/// Runs a test's body on the loop, which gets a thread of its own with the first test that needs it.
///
/// A few tests run at a time, and the others wait. A body may call this again: its test has a place already.
///
/// - Parameters:
///   - alone: whether no other test may run meanwhile, for one that holds up what all of them share.
///   - body: the test.
/// - Returns: the result of the body.
/// - Throws: what the body throws.
public func onLoop<Result: Sendable>(
    alone: Bool = false, _ body: @LoopActor @Sendable () async throws -> Result
) async throws -> Result {
    _ = loopThread
    return try await LoopGate.pass(taking: alone ? LoopGate.width : 1, body)
}

private let loopThread: Void = Thread.detachNewThread { EventLoop.shared.run() }

/// Something that a test waited for and that did not come.
public struct Overdue: Error, CustomStringConvertible {
    /// The object of the wait.
    public let description: String
}

/// Waits on the loop until a condition holds.
///
/// The condition is evaluated every 2 ms: most conditions look at other processes, files and output that other threads collect,
/// of which the loop has no event.
///
/// - Throws: ``Overdue`` after the deadline, which is there to end a broken test and is never reached by a good one. It is one of a
///   ``Stopwatch``: a busy machine doesn't bring it nearer.
public func until(
    _ what: String, within limit: Duration = .seconds(20), _ condition: @LoopActor () throws -> Bool
) async throws {
    let watch = Stopwatch()
    while try await !condition() {
        guard watch.isWithin(limit) else { throw Overdue(description: "not within \(limit): \(what)") }
        await nextLook()
    }
}

@LoopActor
private func nextLook() async {
    await withCheckedContinuation { continuation in
        var timer: LoopTimer?
        timer = LoopTimer {
            _ = timer
            timer = nil
            continuation.resume()
        }
        timer?.arm(after: .milliseconds(2))
    }
}
