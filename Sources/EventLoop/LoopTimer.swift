internal import CSystemd
internal import Glibc
public import Time

/// Calls back once on the loop when a time has come. Made once, armed as often as needed.
///
/// The clock is `CLOCK_BOOTTIME`, that of `Instant.now`: it runs on while the machine sleeps, and setting the time
/// of day does not touch it.
@LoopActor
public final class LoopTimer {
    private var source: OpaquePointer?
    private let handler: @LoopActor () -> Void
    /// When it is due; nil while it is not waiting.
    private var due: Instant?

    /// Makes a timer that is not armed.
    public init(handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Whether it is waiting.
    public var isArmed: Bool { due != nil }

    /// Arms the timer, or moves it.
    ///
    /// - Parameters:
    ///   - instant: when to call; a time that has passed means at once, in a later turn.
    ///   - accuracy: how late it may be, so that several timers share one wake-up.
    public func arm(at instant: Instant, accuracy: Duration = .milliseconds(1)) {
        due = instant
        // Rounded up: a microsecond too early is too early. A time relative to now would be counted from when the loop woke up.
        let time = UInt64(max(0, (instant.sinceBoot + .nanoseconds(999)).microseconds))
        guard let source else { return add(time, accuracy) }
        sd_event_source_set_time_accuracy(source, UInt64(max(1, accuracy.microseconds)))
        sd_event_source_set_time(source, time)
        sd_event_source_set_enabled(source, CInt(SD_EVENT_ONESHOT))
    }

    /// Arms the timer, or moves it, counting from now.
    public func arm(after wait: Duration, accuracy: Duration = .milliseconds(1)) {
        arm(at: .now + wait, accuracy: accuracy)
    }

    /// Arms the timer for an instant, or disarms it for none; to say the same again costs nothing.
    public func arm(at instant: Instant?) {
        guard instant != due else { return }
        if let instant { arm(at: instant) } else { disarm() }
    }

    /// Stops waiting, and gives back the loop's memory of it, which is more than this object's: most timers are deadlines of
    /// what has ended well and comes no more for long.
    public func disarm() {
        guard isArmed else { return }
        due = nil
        source = sd_event_source_disable_unref(source)
    }

    private func add(_ time: UInt64, _ accuracy: Duration) {
        let status = sd_event_add_time(
            EventLoop.shared.event, &source, CLOCK_BOOTTIME, time, UInt64(max(1, accuracy.microseconds)), isDue,
            Unmanaged.passUnretained(self).toOpaque())
        // All timers share the loop's one timerfd per clock, so this can fail for want of memory alone.
        precondition(status >= 0, "sd_event_add_time failed: \(status)")
    }

    fileprivate func fire() {
        due = nil
        handler()
    }

    isolated deinit {
        sd_event_source_disable_unref(source)
    }
}

/// Called by libsystemd on the loop's thread. The object cancels its source before it goes, so it is there.
private func isDue(_: OpaquePointer?, _: UInt64, context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    LoopActor.assumeIsolated(Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()) { $0.fire() }
    return 0
}

extension Instant {
    /// The present. The clock is `CLOCK_BOOTTIME`.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(
            sinceBoot: Duration(
                secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000))
    }
}
