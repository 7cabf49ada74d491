internal import CSystemd
internal import Glibc
public import Time

/// Calls a handler once on the loop at a given time. Create it once and arm it as often as needed.
///
/// The clock is `CLOCK_BOOTTIME`, as for `Instant.now`: it includes the time in which the machine sleeps, and is
/// unaffected by wall-clock changes. The handler is not called after the timer was released.
@LoopActor
public final class LoopTimer {
    private var source: OpaquePointer?
    private let handler: @LoopActor () -> Void
    /// When the timer fires; nil if it is not armed.
    private var due: Instant?
    /// The time that the event source is set to, if it is: not later than ``due``.
    private var wakeUp: Instant?
    /// How late the call may be, in microseconds. In virtual time, the token of the scheduled event.
    private var accuracy: UInt64 = 0
    /// When ``wakeUp`` was last moved to an earlier time.
    private var movedAt: Instant?
    /// Whether ``wakeUp`` was moved to an earlier time twice within a second, as for a series of requests.
    private var isInSeries = false
    /// Whether the timer is in ``early``.
    private var isEarly = false

    /// The timers that would wake up before they are due. They are set to later times when any timer fires: without them,
    /// the loop would wake up once for each. A timer leaves them before it is released.
    private static var early: [Unmanaged<LoopTimer>] = []

    /// Creates a timer that is not armed.
    public init(handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Whether the timer is armed.
    public var isArmed: Bool { due != nil }

    /// Arms the timer, or moves it. Within a series of moves, a move to a later time has no cost until the earlier time:
    /// the loop then wakes up once. The deadline of a request moves with each response, and is hardly ever reached.
    ///
    /// - Parameters:
    ///   - instant: when to call. If it has passed, the handler is called in a later turn.
    ///   - accuracy: how late the call may be, so that several timers can share one wake-up.
    public func arm(at instant: Instant, accuracy: Duration = .milliseconds(1)) {
        if let virtual = EventLoop.shared.virtual { return arm(at: instant, accuracy, in: virtual) }
        due = instant
        self.accuracy = UInt64(max(1, accuracy.microseconds))
        if let wakeUp, wakeUp <= instant {
            guard wakeUp < instant, !isEarly else { return }
            guard isInSeries else { return set(instant) }
            isEarly = true
            return Self.early.append(.passUnretained(self))
        }
        let now = EventLoop.shared.wakeUpTime
        isInSeries = movedAt.map { now - $0 < .seconds(1) } ?? false
        movedAt = now
        set(instant)
    }

    private func set(_ instant: Instant) {
        wakeUp = instant
        // Rounded up, so that the timer never fires early. sd_event counts relative times from when the loop woke up.
        let time = UInt64(max(0, (instant.sinceBoot + .nanoseconds(999)).microseconds))
        guard let source else { return add(time) }
        sd_event_source_set_time_accuracy(source, accuracy)
        sd_event_source_set_time(source, time)
        sd_event_source_set_enabled(source, CInt(SD_EVENT_ONESHOT))
    }

    /// Arms the timer, or moves it, relative to now.
    public func arm(after wait: Duration, accuracy: Duration = .milliseconds(1)) {
        arm(at: .now + wait, accuracy: accuracy)
    }

    /// Arms the timer, or disarms it if `instant` is nil. A repeated call with an equal value has no cost.
    public func arm(at instant: Instant?) {
        guard instant != due else { return }
        if let instant { arm(at: instant) } else { disarm() }
    }

    /// Disarms the timer and frees its event source, which is larger than this object. Most timers are deadlines of
    /// finished operations and are not armed again soon.
    public func disarm() {
        guard isArmed else { return }
        due = nil
        wakeUp = nil
        EventLoop.shared.virtual?.schedule.cancel(accuracy)
        source = sd_event_source_disable_unref(source)
        if isEarly { leaveEarly() }
    }

    private func leaveEarly() {
        isEarly = false
        let own = Unmanaged.passUnretained(self).toOpaque()
        Self.early.removeAll { $0.toOpaque() == own }
    }

    private static func setEarly() {
        let timers = early
        early = []
        for timer in timers.map({ $0.takeUnretainedValue() }) {
            (timer.isEarly, timer.isInSeries) = (false, false)
            if let due = timer.due, due != timer.wakeUp { timer.set(due) }
        }
    }

    private func add(_ time: UInt64) {
        let status = sd_event_add_time(
            EventLoop.shared.event, &source, CLOCK_BOOTTIME, time, accuracy, isDue,
            Unmanaged.passUnretained(self).toOpaque())
        // All timers of a clock share one timerfd, so only a lack of memory can make this fail.
        precondition(status >= 0, "sd_event_add_time failed: \(status)")
    }

    private func arm(at instant: Instant, _ lateness: Duration, in virtual: VirtualTime) {
        if due != nil { virtual.schedule.cancel(accuracy) }
        due = instant
        accuracy = virtual.schedule.add(.timer(.passUnretained(self)), at: instant, lateness: lateness)
    }

    /// Handles the event of this timer in virtual time.
    func virtuallyDue() {
        due = nil
        handler()
    }

    fileprivate func fire() {
        let isDue = due == wakeUp
        if !Self.early.isEmpty { Self.setEarly() }
        guard isDue else { return }
        wakeUp = nil
        due = nil
        handler()
    }

    isolated deinit {
        if due != nil { EventLoop.shared.virtual?.schedule.cancel(accuracy) }
        sd_event_source_disable_unref(source)
        if isEarly { leaveEarly() }
    }
}

/// Called by libsystemd on the loop's thread. `deinit` removes the source, so the object exists.
private func isDue(_: OpaquePointer?, _: UInt64, context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    LoopActor.assumeIsolated(Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()) { $0.fire() }
    return 0
}

extension Instant {
    /// The current time of `CLOCK_BOOTTIME`.
    public static var now: Instant {
        if let virtual = EventLoop.shared.virtual { return LoopActor.assumeIsolated(virtual) { $0.now } }
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(
            sinceBoot: Duration(
                secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000))
    }
}

extension EventLoop {
    /// When the loop woke up for the events that it handles now. The clock is read once for each wake-up.
    public var wakeUpTime: Instant {
        guard virtual == nil else { return .now }
        var microseconds: UInt64 = 0
        sd_event_now(event, CLOCK_BOOTTIME, &microseconds)
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Instant(
            sinceBoot: Duration(
                secondsComponent: Int64(bitPattern: seconds),
                attosecondsComponent: Int64(bitPattern: rest) * 1_000_000_000_000))
    }
}
