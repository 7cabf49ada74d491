internal import CSystemd
internal import Glibc
internal import Synchronization

/// One thread for what may block: name resolution, `fsync`. The loop waits for it without standing still.
///
/// Work is done in the order in which it came. The thread starts with the first piece and ends with the process; nothing
/// at the end of the process waits for it.
public final class HelperThread: Sendable {
    /// The helper of this process.
    public static let shared = HelperThread()

    private let work = Mutex<[@Sendable () -> Void]>([])
    private let isStarted = Mutex(false)
    private let count: CInt

    private init() {
        count = eventfd(0, CInt(EFD_CLOEXEC | EFD_SEMAPHORE))
        precondition(count >= 0, "no helper thread without descriptors: eventfd failed")
    }

    /// Does a piece of work on the helper and comes back to the loop with what it gave.
    @LoopActor
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    private func submit(_ piece: @escaping @Sendable () -> Void) {
        start()
        work.withLock { $0.append(piece) }
        var one: UInt64 = 1
        _ = write(count, &one, MemoryLayout<UInt64>.size)
    }

    private func start() {
        isStarted.withLock { isStarted in
            guard !isStarted else { return }
            isStarted = true
            // Signals are the loop's: the new thread inherits the mask of its maker.
            var all = sigset_t()
            var before = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, &before)
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { _ in
                    HelperThread.shared.serve()
                }, nil)
            pthread_sigmask(SIG_SETMASK, &before, nil)
            precondition(status == 0, "no helper thread: pthread_create failed")
            pthread_detach(thread)
        }
    }

    private func serve() -> Never {
        while true {
            var one: UInt64 = 0
            guard read(count, &one, MemoryLayout<UInt64>.size) > 0 else { continue }
            let piece = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            piece?()
        }
    }
}
