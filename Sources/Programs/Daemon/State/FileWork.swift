import Configuration
import EventLoop

/// Suspends one caller until a piece of work has ended, for a limited time.
@LoopActor
final class FinishWaiter {
    private var continuation: CheckedContinuation<Void, Never>?
    private lazy var limit = LoopTimer { [unowned self] in end() }

    /// Whether a caller is suspended.
    var isWaiting: Bool { continuation != nil }

    /// Suspends the caller until ``end()``, or until the timeout. Returns immediately if another caller is suspended.
    ///
    /// - Parameters:
    ///   - timeout: the longest time.
    ///   - work: begins the work; called when the caller is suspended.
    func wait(atMost timeout: Duration, for work: () -> Void = {}) async {
        guard !isWaiting else { return }
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            limit.arm(after: timeout)
            work()
        }
    }

    /// Resumes the caller, if there is one.
    func end() {
        limit.disarm()
        let waiting = continuation
        continuation = nil
        waiting?.resume()
    }
}

extension HelperThread {
    /// Runs a piece of work with files on the helper.
    ///
    /// - Returns: why it failed; nil if it succeeded.
    @LoopActor
    func failure(_ concern: Concern, of work: @escaping @Sendable () throws(FileError) -> Void) async -> FileError? {
        await run(concern) {
            do throws(FileError) {
                try work()
                return nil
            } catch {
                return error
            }
        }
    }
}
