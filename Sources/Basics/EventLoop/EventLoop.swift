internal import CSystemd
internal import Glibc
internal import Synchronization

/// The event loop of the process, based on `sd_event`. It is the serial executor of ``LoopActor``, and a task executor
/// that keeps async code on the loop's thread.
///
/// The thread that calls ``run()`` is the loop's thread: the main thread in a daemon, a separate one in tests. Jobs
/// that were enqueued earlier are kept. A turn consists of: wait, dispatch one source, run the jobs, run the
/// end-of-turn handlers.
///
/// `@unchecked Sendable`: only the loop's thread accesses `event` and the variables, which `isCurrent` proves. Other
/// threads access only `inbox`, a mutex, and `wakeUp`, a descriptor.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The loop of this process.
    public static let shared = EventLoop()

    let event: OpaquePointer
    private let wakeUp: CInt
    private let inbox = Mutex<[UnownedJob]>([])
    private let thread = Atomic<UInt>(0)
    /// Whether other threads may have added jobs to the inbox since it was emptied.
    ///
    /// Both flags are read several times per turn. Atomic ones are read without the runtime's exclusivity check.
    private let hasMail = Atomic(true)
    /// Whether ``jobs`` contains any.
    private let hasJobs = Atomic(false)
    private var jobs: [UnownedJob] = []
    private var draining: [UnownedJob] = []
    /// The requested sources.
    private var requested = EndOfTurnSource.List()
    /// Those of the turn that ends now, whose handlers were not called yet.
    private var ending = EndOfTurnSource.List()
    private(set) var isStopping = false
    /// Whether ``virtualTime`` is used. Set once, before the loop runs.
    let isVirtual = Atomic(false)
    private(set) var virtualTime: VirtualTime?

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
                EventLoop.shared.hasMail.store(true, ordering: .relaxed)
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
            finishJobs()
            guard !isStopping else { return }
            let result = sd_event_run(event, hasWork ? 0 : UInt64.max)
            // It would fail for ever, in a busy loop; the service manager starts the process again.
            guard result >= 0 || result == -EINTR else {
                fatalError("sd_event_run: \(String(cString: strerror(-result)))")
            }
        }
    }

    /// Whether jobs or end-of-turn handlers wait.
    var hasWork: Bool { hasJobs.load(ordering: .relaxed) || requested.first != nil }

    /// Runs the jobs, then the end-of-turn handlers.
    func finishJobs() {
        drain()
        finishTurn()
    }

    func beginVirtually(_ time: VirtualTime) {
        precondition(virtualTime == nil, "one virtual time in a process")
        virtualTime = time
        isVirtual.store(true, ordering: .relaxed)
        thread.store(UInt(pthread_self()), ordering: .relaxed)
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
        EndOfTurnSource(handler: body).requestOnce()
    }

    @LoopActor fileprivate func add(_ source: EndOfTurnSource) {
        requested.append(source)
    }

    @LoopActor fileprivate func remove(_ source: EndOfTurnSource) {
        if !requested.remove(source) { ending.remove(source) }
    }

    /// Sends keep-alive notifications to systemd's watchdog if the service manager has enabled it (`WATCHDOG_USEC`).
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
            hasJobs.store(true, ordering: .relaxed)
            return
        }
        precondition(
            !isVirtual.load(ordering: .relaxed), "a job of another thread would make a simulation irreproducible")
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
        if hasMail.load(ordering: .relaxed) { emptyInbox() }
        while hasJobs.load(ordering: .relaxed) {
            hasJobs.store(false, ordering: .relaxed)
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
        hasMail.store(false, ordering: .relaxed)
        inbox.withLock {
            jobs.append(contentsOf: $0)
            $0.removeAll(keepingCapacity: true)
        }
        hasJobs.store(!jobs.isEmpty, ordering: .relaxed)
    }

    private func finishTurn() {
        guard requested.first != nil else { return }
        // Sources requested by the handlers belong to the next turn.
        swap(&requested, &ending)
        LoopActor.assumeIsolated(self) { loop in
            while let source = loop.ending.takeFirst() { source.fire() }
        }
    }
}

/// The global actor of the event loop. All C libraries, descriptors and their state are isolated to it, without locks.
@globalActor
public actor LoopActor {
    /// The shared instance.
    public static let shared = LoopActor()

    /// The executor: ``EventLoop/shared``.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs code in a synchronous callback on the loop's thread, such as that of a C library. Stops the process on any
    /// other thread.
    ///
    /// Write the callback in a nonisolated function. A closure in a method of the actor is isolated to it, and the
    /// runtime checks this at each call, which takes thirty times as long.
    ///
    /// - Parameters:
    ///   - argument: passed to `body`, because a closure with captures would be allocated for each call. It is
    ///     transferred to the actor: the caller must not use it afterwards.
    ///   - body: the code.
    /// - Returns: the result of `body`.
    public static func assumeIsolated<Argument, Result: Sendable>(
        _ argument: Argument, _ body: @escaping @LoopActor (Argument) -> Result
    ) -> Result {
        typealias Unisolated = (Argument) -> Result
        EventLoop.shared.checkIsolated()
        // The isolation was just checked, and only the type still requires it. `MainActor` does the same.
        return unsafeBitCast(body, to: Unisolated.self)(argument)
    }
}

/// Calls a handler at the end of a turn of the loop, once per turn however often it was requested.
///
/// Create it once and request it as often as needed, like a timer. The handler is not called after the source was released.
@LoopActor
public final class EndOfTurnSource {
    private let handler: @LoopActor () -> Void
    private var isRequested = false
    /// The source that was requested after this one in the same turn. A source leaves its list before it is released.
    private unowned(unsafe) var next: EndOfTurnSource?
    /// The source itself, from ``requestOnce()`` to the call.
    private var kept: EndOfTurnSource?

    /// Creates a source without a request.
    public init(handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Requests a call at the end of the current turn, after all its events were handled. A request from a handler at
    /// the end of a turn applies to the next turn.
    public func request() {
        guard !isRequested else { return }
        isRequested = true
        EventLoop.shared.add(self)
    }

    /// Requests a call of a source that nobody else keeps.
    fileprivate func requestOnce() {
        kept = self
        request()
    }

    fileprivate func fire() {
        kept = nil
        handler()
    }

    isolated deinit {
        if isRequested { EventLoop.shared.remove(self) }
    }

    /// Requested sources in order. They link to each other: a turn with one of them allocates nothing.
    struct List {
        private(set) unowned(unsafe) var first: EndOfTurnSource?
        private unowned(unsafe) var last: EndOfTurnSource?

        @LoopActor fileprivate mutating func append(_ source: EndOfTurnSource) {
            if let last { last.next = source } else { first = source }
            last = source
        }

        /// Removes the first source, which may then be requested again.
        @LoopActor fileprivate mutating func takeFirst() -> EndOfTurnSource? {
            guard let source = first else { return nil }
            first = source.next
            if first == nil { last = nil }
            source.next = nil
            source.isRequested = false
            return source
        }

        /// Removes a source that is being released: sources are few, and this is rare.
        ///
        /// - Returns: whether the list contained it.
        @LoopActor @discardableResult fileprivate mutating func remove(_ source: EndOfTurnSource) -> Bool {
            var before: EndOfTurnSource?
            var current = first
            while let other = current, other !== source { (before, current) = (other, other.next) }
            guard current != nil else { return false }
            if let before { before.next = source.next } else { first = source.next }
            if last === source { last = before }
            return true
        }
    }
}
