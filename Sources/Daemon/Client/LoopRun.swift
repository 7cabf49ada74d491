import CommandLine
import EventLoop
import Glibc
import Synchronization

/// Gives the calling thread to the loop until some work on it is done.
enum LoopRun {
    private final class Outcome: Sendable {
        let code = Mutex(ExitCode.failed)
    }

    /// Does the work.
    ///
    /// - Returns: what it gave.
    static func exitCode(of work: @escaping @LoopActor @Sendable () async -> ExitCode) -> ExitCode {
        // A write to a closed connection returns an error instead.
        signal(SIGPIPE, SIG_IGN)
        let outcome = Outcome()
        EventLoop.shared.begin {
            let code = await work()
            outcome.code.withLock { $0 = code }
            EventLoop.shared.stop()
        }
        EventLoop.shared.run()
        return outcome.code.withLock { $0 }
    }
}
