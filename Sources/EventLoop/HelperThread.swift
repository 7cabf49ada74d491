internal import CSystemd
internal import Glibc
internal import Synchronization

/// The thread for everything that may block: name resolution, files, `fsync`. The loop goes on meanwhile.
///
/// Each piece of work belongs to a ``Concern``. Pieces of one concern run one after the other, in the order in which they were
/// submitted. One thread serves all concerns. If a piece holds it up for longer than 50 ms and work of another concern
/// is waiting, a further thread starts; it ends when the first one is back. There are at most as many threads as concerns.
/// Nothing waits for the threads at the end of the process.
public final class HelperThread: Sendable {
    /// What a piece of work is about. A piece that hangs holds up only later pieces of its own concern.
    public struct Concern: Hashable, Sendable {
        private let name: String

        /// A concern with a name; equal names are the same concern.
        public init(_ name: String) {
            self.name = name
        }

        /// Work without a concern of its own.
        public static let other = Concern("other")
    }

    /// The helper of this process.
    public static let shared = HelperThread()
    /// How long work of another concern waits for the thread before a further one starts.
    static let patience = Duration.milliseconds(50)

    private let queue = Mutex(HelperQueue())
    private let wakeUp: CInt
    @LoopActor private var relief: LoopTimer?

    init() {
        wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_SEMAPHORE))
        precondition(wakeUp >= 0, "no helper thread without descriptors: eventfd failed")
    }

    /// How many threads there are.
    var threads: Int { queue.withLock { $0.threads } }

    /// Runs a piece of work on the helper and returns its result on the loop.
    ///
    /// For work of which the caller has only so many pieces under way at a time.
    @LoopActor
    public func run<Value: Sendable>(
        _ concern: Concern = .other, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
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

    /// A piece has waited for longer than the patience.
    @LoopActor
    private func relieve() {
        guard queue.withLock({ $0.addThread() }) else { return }
        startThread()
        if queue.withLock({ $0.lacksThread }) { relief?.arm(after: Self.patience) }
    }

    private func startThread() {
        // Signals are the loop's: the new thread inherits the mask of the thread that creates it.
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
            // A further thread can be done without: its work waits for the first one.
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
            guard queue.withLock({ !$0.removeThread() }) else { return }
            var one: UInt64 = 0
            _ = read(wakeUp, &one, MemoryLayout<UInt64>.size)
        } while true
    }
}

/// What waits for the helper and how many threads serve it: decides, and starts nothing itself.
struct HelperQueue {
    /// A piece of work.
    struct Piece {
        let concern: HelperThread.Concern
        let body: @Sendable () -> Void
    }

    /// What to do after a piece was added.
    enum Step: Hashable {
        /// A thread is free for it, or its concern is being worked on.
        case wakeThread
        /// There is no thread yet; this one is counted already.
        case startThread
        /// All threads are busy with other concerns: add one if that lasts.
        case waitForThread
    }

    /// How many pieces of one concern may wait, where the caller can do without.
    static let mostWaiting = 8

    private var waiting: [Piece] = []
    private var running: Set<HelperThread.Concern> = []
    /// How many threads there are.
    private(set) var threads = 0

    /// Whether enough pieces of the concern are waiting.
    func isFull(_ concern: HelperThread.Concern) -> Bool {
        waiting.count { $0.concern == concern } >= Self.mostWaiting
    }

    /// Whether a piece waits that could run if there were another thread.
    var lacksThread: Bool {
        Set(waiting.map(\.concern)).subtracting(running).count > threads - running.count
    }

    /// Adds a piece behind those that wait.
    mutating func add(_ concern: HelperThread.Concern, _ body: @escaping @Sendable () -> Void) -> Step {
        waiting.append(Piece(concern: concern, body: body))
        guard threads > 0 else {
            threads = 1
            return .startThread
        }
        return lacksThread ? .waitForThread : .wakeThread
    }

    /// Counts a further thread, if one is needed.
    ///
    /// - Returns: whether to start it.
    mutating func addThread() -> Bool {
        guard lacksThread else { return false }
        threads += 1
        return true
    }

    /// A thread that was counted could not be started.
    ///
    /// - Returns: whether there is none now.
    mutating func threadFailed() -> Bool {
        threads -= 1
        return threads == 0
    }

    /// Takes the oldest piece whose concern is not being worked on.
    mutating func next() -> Piece? {
        guard let index = waiting.firstIndex(where: { !running.contains($0.concern) }) else { return nil }
        running.insert(waiting[index].concern)
        return waiting.remove(at: index)
    }

    /// A piece has ended.
    mutating func ended(_ concern: HelperThread.Concern) {
        running.remove(concern)
    }

    /// Uncounts a thread that has nothing to do while another one has nothing to do either.
    ///
    /// - Returns: whether the thread ends.
    mutating func removeThread() -> Bool {
        guard threads - running.count > 1, !waiting.contains(where: { !running.contains($0.concern) }) else {
            return false
        }
        threads -= 1
        return true
    }
}
