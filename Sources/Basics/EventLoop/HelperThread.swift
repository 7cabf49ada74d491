internal import CSystemd
internal import Glibc
internal import Synchronization

/// Runs work that may block outside the loop: name resolution, files, `fsync`.
///
/// Each piece of work belongs to a ``Concern``. Pieces of one concern run in the order in which they were submitted.
/// One thread serves all concerns. If a piece blocks it for longer than 50 ms while work of another concern is waiting,
/// another thread starts; it ends when a thread is idle again. There are at most as many threads as concerns. The
/// process does not wait for the threads when it exits.
public final class HelperThread: Sendable {
    /// The subject of a piece of work. A piece that blocks delays only later pieces of its own concern.
    public struct Concern: Hashable, Sendable {
        private let name: String

        /// Creates a concern. Concerns with equal names are the same.
        public init(_ name: String) {
            self.name = name
        }

        /// The concern of all other work.
        public static let other = Concern("other")
    }

    /// The helper of this process.
    public static let shared = HelperThread()
    /// How long work of another concern waits for the thread before another one starts.
    static let patience = Duration.milliseconds(50)

    private let queue = Mutex(HelperQueue())
    private let wakeUp: CInt
    @LoopActor private var relief: LoopTimer?

    init() {
        wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_SEMAPHORE))
        precondition(wakeUp >= 0, "no helper thread without descriptors: eventfd failed")
    }

    /// The number of threads.
    var threads: Int { queue.withLock { $0.threads } }

    /// Runs a piece of work on the helper and returns its result on the loop.
    ///
    /// The queue is not bounded: the caller must limit the number of pieces that are in progress.
    @LoopActor
    public func run<Value: Sendable>(
        _ concern: Concern = .other, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            if let virtual = EventLoop.shared.virtual {
                return virtual.help(concern, body) { continuation.resume(returning: $0) }
            }
            submit(concern) { continuation.resume(returning: body()) }
        }
    }

    /// Runs a piece of work on the helper, or returns at once if too many pieces of the concern are waiting.
    ///
    /// - Parameters:
    ///   - concern: what the work is about.
    ///   - refusal: the result if the queue is full.
    ///   - body: the work.
    /// - Returns: the result of the work, or `refusal`.
    @LoopActor
    public func run<Value: Sendable>(
        _ concern: Concern, orIfFull refusal: Value, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        guard !queue.withLock({ $0.isFull(concern) }) else { return refusal }
        return await run(concern, body)
    }

    @LoopActor
    private func submit(_ concern: Concern, _ body: @escaping @Sendable () -> Void) {
        switch queue.withLock({ $0.add(concern, body) }) {
        case .wakeThread: break
        case .startThread: startThread()
        case .waitForThread:
            if relief == nil { relief = LoopTimer { [unowned self] in relieve() } }
            if relief?.isArmed == false { relief?.arm(after: Self.patience) }
        }
        var one: UInt64 = 1
        _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
    }

    /// Starts another thread after a piece has waited for longer than ``patience``.
    @LoopActor
    private func relieve() {
        guard queue.withLock({ $0.addThread() }) else { return }
        startThread()
        if queue.withLock({ $0.lacksThread }) { relief?.arm(after: Self.patience) }
    }

    private func startThread() {
        // All threads allocate from one heap. A heap of its own would keep what a piece of work has freed.
        mallopt(M_ARENA_MAX, 1)
        // The loop handles all signals: block them in the new thread, which inherits the mask of its creator.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<HelperThread>.fromOpaque(context).takeRetainedValue().serve()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard status == 0 else {
            Unmanaged.passUnretained(self).release()
            let isLast = queue.withLock { $0.threadFailed() }
            // Without another thread, the work waits for the first one.
            precondition(!isLast, "no helper thread: pthread_create failed")
            return
        }
        pthread_detach(thread)
    }

    private func serve() {
        repeat {
            while let piece = queue.withLock({ $0.next() }) {
                piece.body()
                queue.withLock { $0.ended(piece.concern) }
            }
            switch queue.withLock({ $0.idle() }) {
            case .work: continue
            case .end: return
            case .wait:
                var one: UInt64 = 0
                _ = read(wakeUp, &one, MemoryLayout<UInt64>.size)
            }
        } while true
    }
}

/// State machine of the helper: the waiting work and the number of threads.
struct HelperQueue {
    /// A piece of work.
    struct Piece {
        let concern: HelperThread.Concern
        let body: @Sendable () -> Void
    }

    /// The action after a piece was added.
    enum Step: Hashable {
        /// Wake a thread: one is idle, or the piece waits for its concern.
        case wakeThread
        /// Start the first thread. It is counted already.
        case startThread
        /// All threads are busy with other concerns: add one if this lasts.
        case waitForThread
    }

    /// The action of a thread that found no work.
    enum IdleStep: Hashable {
        /// Look again: a concern has become free since.
        case work
        /// Wait until it is woken.
        case wait
        /// End: another thread is idle.
        case end
    }

    /// Upper bound on waiting pieces of one concern, for callers that accept a refusal.
    static let mostWaiting = 8

    private var waiting: [Piece] = []
    private var running: Set<HelperThread.Concern> = []
    /// The number of threads.
    private(set) var threads = 0

    /// Whether no more pieces of the concern may wait.
    func isFull(_ concern: HelperThread.Concern) -> Bool {
        waiting.count { $0.concern == concern } >= Self.mostWaiting
    }

    /// Whether a waiting piece could run if there were another thread.
    var lacksThread: Bool {
        Set(waiting.map(\.concern)).subtracting(running).count > threads - running.count
    }

    /// Appends a piece.
    mutating func add(_ concern: HelperThread.Concern, _ body: @escaping @Sendable () -> Void) -> Step {
        waiting.append(Piece(concern: concern, body: body))
        guard threads > 0 else {
            threads = 1
            return .startThread
        }
        return lacksThread ? .waitForThread : .wakeThread
    }

    /// Counts another thread if one is needed.
    ///
    /// - Returns: whether to start it.
    mutating func addThread() -> Bool {
        guard lacksThread else { return false }
        threads += 1
        return true
    }

    /// Handles a counted thread that could not be started.
    ///
    /// - Returns: whether no thread is left.
    mutating func threadFailed() -> Bool {
        threads -= 1
        return threads == 0
    }

    /// Removes and returns the oldest piece whose concern is not running.
    mutating func next() -> Piece? {
        guard let index = waiting.firstIndex(where: { !running.contains($0.concern) }) else { return nil }
        running.insert(waiting[index].concern)
        return waiting.remove(at: index)
    }

    /// Handles the end of a piece.
    mutating func ended(_ concern: HelperThread.Concern) {
        running.remove(concern)
    }

    /// Handles a thread that found no work. It is removed from the count if another one is idle too.
    mutating func idle() -> IdleStep {
        guard !waiting.contains(where: { !running.contains($0.concern) }) else { return .work }
        guard threads - running.count > 1 else { return .wait }
        threads -= 1
        return .end
    }
}
