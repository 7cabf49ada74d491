internal import CSystemd
internal import Glibc
internal import Synchronization

/// The one loop: `sd_event` as the serial executor of ``LoopActor``, and as a task executor that keeps async code on it.
///
/// Whichever thread calls ``run()`` is the loop's thread; a daemon gives it the main thread, a test one of its own.
/// Jobs that are enqueued before are kept. A turn is: wait, dispatch one source, drain the jobs, then do what was put off
/// to the end of the turn.
///
/// `@unchecked Sendable`: `event` and what varies are touched only by the loop's thread, which `isCurrent` proves; all that
/// other threads reach is behind `inbox`, a mutex, and `wakeUp`, a descriptor.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The loop of this process.
    public static let shared = EventLoop()

    let event: OpaquePointer
    private let wakeUp: CInt
    private let inbox = Mutex<[UnownedJob]>([])
    private let thread = Atomic<UInt>(0)
    /// Whether other threads may have put something into the inbox since it was emptied.
    private var hasMail = true
    private var jobs: [UnownedJob] = []
    private var draining: [UnownedJob] = []
    private var endOfTurn: [EndOfTurnSource] = []
    private var finishing: [EndOfTurnSource] = []
    private var isStopping = false

    private init() {
        var event: OpaquePointer?
        let status = sd_event_new(&event)
        wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard status >= 0, let event, wakeUp >= 0 else {
            preconditionFailure("no event loop without descriptors: sd_event_new or eventfd failed")
        }
        self.event = event
        // The source floats: it belongs to the loop, which lives as long as the process.
        sd_event_add_io(
            event, nil, wakeUp, EPOLLIN.rawValue,
            { _, descriptor, _, _ in
                var count: UInt64 = 0
                _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
                EventLoop.shared.hasMail = true
                return 0
            }, nil)
    }

    /// Whether the caller runs on the loop's thread.
    public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Runs the loop on the calling thread until ``stop()``.
    public func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        isStopping = false
        while true {
            drain()
            finishTurn()
            guard !isStopping else { return }
            sd_event_run(event, jobs.isEmpty && endOfTurn.isEmpty ? UInt64.max : 0)
        }
    }

    /// Ends ``run()`` when the present turn is over.
    @LoopActor public func stop() {
        isStopping = true
    }

    /// Begins asynchronous work that stays on the loop.
    ///
    /// A plain `Task` would come back from a continuation by way of the global pool, whose threads start with the first
    /// such detour; the preference for this executor keeps it, and its children, here.
    ///
    /// - Parameter body: the work.
    /// - Returns: the task, for whoever waits for its end.
    @discardableResult
    public func begin(_ body: @escaping @LoopActor @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await body() }
    }

    /// Puts work off to the end of the present turn, when everything that this turn brought has been handled.
    ///
    /// For what comes up now and then; an ``EndOfTurnSource`` is for work that is done in many turns.
    @LoopActor public func atEndOfTurn(_ body: @escaping @LoopActor () -> Void) {
        EndOfTurnSource(handler: body).request()
    }

    @LoopActor func add(_ source: EndOfTurnSource) {
        endOfTurn.append(source)
    }

    /// Tells systemd at its interval that the loop turns, if the service manager asked for it (`WATCHDOG_USEC`).
    ///
    /// - Returns: whether it asked.
    @discardableResult
    @LoopActor public func enableWatchdog() -> Bool {
        sd_event_set_watchdog(event, 1) > 0
    }

    // MARK: Executor

    /// Takes a job from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.append(job)
            return
        }
        inbox.withLock { $0.append(job) }
        var one: UInt64 = 1
        _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
    }

    /// This loop as an actor's executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// This loop as a task's preferred executor.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Stops the process when code that belongs on the loop runs elsewhere.
    public func checkIsolated() {
        precondition(isCurrent, "only the loop's thread may run this")
    }

    /// Whether the caller is isolated to the loop.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func drain() {
        if hasMail { emptyInbox() }
        while !jobs.isEmpty {
            // Swapped, not copied: two buffers serve for ever, and a job that is enqueued meanwhile waits its turn.
            swap(&jobs, &draining)
            for job in draining {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            draining.removeAll(keepingCapacity: true)
        }
    }

    /// What comes in later has its own wake-up.
    private func emptyInbox() {
        hasMail = false
        inbox.withLock {
            jobs.append(contentsOf: $0)
            $0.removeAll(keepingCapacity: true)
        }
    }

    private func finishTurn() {
        guard !endOfTurn.isEmpty else { return }
        swap(&endOfTurn, &finishing)
        LoopActor.assumeIsolated(finishing) { for source in $0 { source.fire() } }
        finishing.removeAll(keepingCapacity: true)
    }
}
