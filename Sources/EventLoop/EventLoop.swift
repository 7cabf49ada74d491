internal import CSystemd
internal import Glibc
internal import Synchronization

/// The event loop of the process, based on `sd_event`. It is the serial executor of ``LoopActor``, and a task executor
/// that
/// keeps async code on the loop's thread.
///
/// The thread that calls ``run()`` is the loop's thread: the main thread in a daemon, a separate one in tests. Jobs
/// that were
/// enqueued earlier are kept. A turn consists of: wait, dispatch one source, run the jobs, run the end-of-turn
/// handlers.
///
/// `@unchecked Sendable`: only the loop's thread accesses `event` and the variables, which `isCurrent` proves. Other
/// threads
/// access only `inbox`, a mutex, and `wakeUp`, a descriptor.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The loop of this process.
    public static let shared = EventLoop()

    let event: OpaquePointer
    private let wakeUp: CInt
    private let inbox = Mutex<[UnownedJob]>([])
    private let thread = Atomic<UInt>(0)
    /// Whether other threads may have added jobs to the inbox since it was emptied.
    private var hasMail = true
    /// Whether ``jobs`` contains any. Each turn asks for it, and an array would be asked by way of the runtime.
    private var hasJobs = false
    private var jobs: [UnownedJob] = []
    private var draining: [UnownedJob] = []
    /// The requested sources in order, as a list: a turn with one of them allocates nothing.
    private var firstSource: EndOfTurnSource?
    private var lastSource: EndOfTurnSource?
    private var isStopping = false

    private init() {
        var event: OpaquePointer?
        let status = sd_event_new(&event)
        wakeUp = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard status >= 0, let event, wakeUp >= 0 else {
            preconditionFailure("no event loop without descriptors: sd_event_new or eventfd failed")
        }
        self.event = event
        // A floating source: the loop owns it, and both exist as long as the process.
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
            sd_event_run(event, hasJobs || firstSource != nil ? 0 : UInt64.max)
        }
    }

    /// Ends ``run()`` after the current turn.
    @LoopActor public func stop() {
        isStopping = true
    }

    /// Starts a task that stays on the loop.
    ///
    /// A plain `Task` would resume from a continuation through the global pool and start its threads. The executor
    /// preference keeps the task and its children on the loop's thread.
    ///
    /// - Parameter body: the work.
    /// - Returns: the task.
    @discardableResult
    public func begin(_ body: @escaping @LoopActor @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await body() }
    }

    /// Runs work at the end of the current turn, after all its events were handled.
    ///
    /// For occasional work. Use an ``EndOfTurnSource`` for work that is done in many turns.
    @LoopActor public func atEndOfTurn(_ body: @escaping @LoopActor () -> Void) {
        EndOfTurnSource(handler: body).request()
    }

    @LoopActor func add(_ source: EndOfTurnSource) {
        if let lastSource { lastSource.next = source } else { firstSource = source }
        lastSource = source
    }

    /// Sends keep-alive notifications to systemd's watchdog if the service manager has enabled it
    /// (`WATCHDOG_USEC`).
    ///
    /// - Returns: whether the watchdog is enabled.
    @discardableResult
    @LoopActor public func enableWatchdog() -> Bool {
        sd_event_set_watchdog(event, 1) > 0
    }

    // MARK: Executor

    /// Enqueues a job. Can be called on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.append(job)
            hasJobs = true
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

    /// Stops the process if the caller does not run on the loop's thread.
    public func checkIsolated() {
        precondition(isCurrent, "only the loop's thread may run this")
    }

    /// Whether the caller is isolated to the loop.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func drain() {
        if hasMail { emptyInbox() }
        while hasJobs {
            hasJobs = false
            // Two buffers are swapped and reused. Jobs enqueued now run in the next pass.
            swap(&jobs, &draining)
            for job in draining {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            draining.removeAll(keepingCapacity: true)
        }
    }

    /// Moves the jobs of other threads to the loop's own. Later ones wake the loop again.
    private func emptyInbox() {
        hasMail = false
        inbox.withLock {
            jobs.append(contentsOf: $0)
            $0.removeAll(keepingCapacity: true)
        }
        hasJobs = !jobs.isEmpty
    }

    private func finishTurn() {
        guard let source = firstSource else { return }
        // Sources requested by the handlers belong to the next turn.
        firstSource = nil
        lastSource = nil
        LoopActor.assumeIsolated(source) { $0.fireAll() }
    }
}
