import EventLoop
import Time

/// Repeats a call that has failed, after pauses that grow until it succeeds.
@LoopActor
final class RetryTimer {
    private var pauses: Backoff
    private let timer: LoopTimer

    /// - Parameters:
    ///   - timing: has the first and the longest pause.
    ///   - handler: makes the call again.
    init(_ timing: Timing, handler: @escaping @LoopActor () -> Void) {
        pauses = Backoff(first: timing.firstPause, longest: timing.longestPause)
        timer = LoopTimer(handler: handler)
    }

    /// Whether the call has not failed since it last succeeded. The first failure is logged.
    var isFresh: Bool { pauses.isFresh }
    /// Whether the call will be made again.
    var isArmed: Bool { timer.isArmed }

    /// Handles a failure: makes the call again after a pause.
    func failed() {
        timer.arm(after: pauses.next())
    }

    /// Handles a success, or an end that makes earlier failures obsolete.
    func reset() {
        timer.disarm()
        pauses.reset()
    }

    /// Makes no further call.
    func stop() {
        timer.disarm()
    }
}
