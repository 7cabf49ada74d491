public import CommandLine
public import EventLoop
import Glibc
import Synchronization

/// Runs the event loop on the calling thread until a command is done.
public enum LoopRun {
    private final class Outcome: Sendable {
        let code = Mutex(ExitCode.failed)
    }

    /// Runs the work on the loop.
    ///
    /// - Returns: the exit code of the work.
    public static func exitCode(of work: @escaping @LoopActor @Sendable () async -> ExitCode) -> ExitCode {
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

/// Ctrl-C: ends the current wait of a command.
@LoopActor
public final class Interruption {
    /// Called when the user presses Ctrl-C.
    public var onFire: (@LoopActor () -> Void)?
    private var sources: [SignalSource] = []

    /// Creates an interruption that receives no signals yet.
    nonisolated public init() {}

    /// Handles SIGINT and SIGTERM from now on.
    ///
    /// - Throws: `SystemError` if the signals cannot be handled; they then end the process.
    public func listen() throws(SystemError) {
        for signal in [SIGINT, SIGTERM] {
            sources.append(try SignalSource(signal) { [unowned self] in fire() })
        }
    }

    /// Calls ``onFire``.
    public func fire() {
        onFire?()
    }
}
