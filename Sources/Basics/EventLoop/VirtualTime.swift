internal import Synchronization
package import Time

/// The time of a simulation: it stands still while the loop has work, and then moves on to the next event.
///
/// A process that runs in virtual time has one thread and watches no descriptor. Timers, the work of ``HelperThread``
/// and the simulation's own events come in an order that is drawn from the seed.
@LoopActor
package final class VirtualTime {
    /// A scheduled event. `@unchecked Sendable`: only the loop uses the timer.
    enum Event: @unchecked Sendable {
        /// The timer cancels its event before it is released.
        case timer(Unmanaged<LoopTimer>)
        case call(@LoopActor () -> Void)
    }

    var schedule: VirtualSchedule<Event>
    /// Milliseconds between the virtual time and the time of day.
    private var unixOffset: Int64
    /// When the latest piece of work of each concern ends: pieces of one concern keep their order.
    private var helperEnds: [HelperThread.Concern: Instant] = [:]
    /// Draws how long the helper thread takes for a piece of work.
    package var helperPause: @LoopActor (inout SplitMix) -> Duration = { random in
        .microseconds(Int64.random(in: 50...3_000, using: &random))
    }

    /// Whether the helper thread does a piece of work in the middle of its time, so that its result may be out of date when it is
    /// delivered.
    package var isHelpLate = false

    /// The number of events since the time has moved on.
    private var events = 0
    /// Upper bound on the events of one moment.
    private static let mostEvents = 100_000

    /// Creates a time that ``EventLoop/run(in:)`` starts.
    ///
    /// - Parameters:
    ///   - seed: of everything that is drawn.
    ///   - start: the time since the start of the machine.
    ///   - unixMilliseconds: the time of day at the start.
    nonisolated package init(
        seed: UInt64, from start: Instant = Instant(sinceBoot: .seconds(60)),
        unixMilliseconds: Int64 = 1_790_000_000_000
    ) {
        schedule = VirtualSchedule(from: start, seed: seed)
        unixOffset = unixMilliseconds - start.sinceBoot.milliseconds
    }

    /// The current time.
    package var now: Instant { schedule.now }

    /// Milliseconds since 1970-01-01T00:00:00Z. Setting it moves the time of day only.
    package var unixMilliseconds: Int64 {
        get { schedule.now.sinceBoot.milliseconds + unixOffset }
        set { unixOffset = newValue - schedule.now.sinceBoot.milliseconds }
    }

    /// The number of scheduled events, including armed timers.
    package var scheduled: Int { schedule.count }

    /// Calls a function later.
    ///
    /// - Parameters:
    ///   - wait: the earliest time from now.
    ///   - lateness: how much later it may be; the time is drawn.
    ///   - body: the function.
    package func call(after wait: Duration, lateness: Duration = .zero, _ body: @escaping @LoopActor () -> Void) {
        _ = schedule.add(.call(body), at: schedule.now + wait, lateness: lateness)
    }

    /// Runs a piece of work of the helper thread, and delivers its result after a drawn time.
    func help<Value: Sendable>(
        _ concern: HelperThread.Concern, _ body: @escaping @Sendable () -> Value,
        then deliver: @escaping @LoopActor (Value) -> Void
    ) {
        let start = max(schedule.now, helperEnds[concern] ?? schedule.now)
        let pause = helperPause(&schedule.random)
        helperEnds[concern] = start + pause
        guard isHelpLate else {
            _ = schedule.add(.call { deliver(body()) }, at: start + pause)
            return
        }
        let work: @LoopActor () -> Void = { [self] in
            let value = body()
            _ = schedule.add(.call { deliver(value) }, at: start + pause)
        }
        _ = schedule.add(.call(work), at: start + pause / 2)
    }

    /// Goes on to the next event and handles it.
    func handleNext() {
        let before = schedule.now
        defer { events = schedule.now == before ? events + 1 : 0 }
        precondition(events < Self.mostEvents, "the virtual time stands still: something repeats without a pause")
        switch schedule.next() {
        case .timer(let timer): timer.takeUnretainedValue().virtuallyDue()
        case .call(let body): body()
        case nil: preconditionFailure("the virtual time has no event left")
        }
    }

    /// Whether an event that is due now comes before the work of the loop that waits.
    func isNextEarly() -> Bool {
        schedule.hasDueEvent() && schedule.random.next() % 2 == 0
    }
}

extension EventLoop {
    /// Runs the loop on the calling thread in virtual time until ``stop()``. Once in a process, instead of ``run()``.
    ///
    /// - Parameter time: the time.
    package func run(in time: VirtualTime) {
        beginVirtually(time)
        while true {
            finishJobs()
            guard !isStopping else { return }
            LoopActor.assumeIsolated(time) { time in
                if !EventLoop.shared.hasWork || time.isNextEarly() { time.handleNext() }
            }
        }
    }

    /// The time of a simulation; nil in a program.
    var virtual: VirtualTime? { isVirtual.load(ordering: .relaxed) ? virtualTime : nil }
}
