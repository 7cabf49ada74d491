/// A point in time, counted from when the machine was started. It runs on while the machine sleeps, and setting the
/// time of day does not touch it.
///
/// It is what `ContinuousClock.Instant` is, with a layout that the compiler sees: the standard library hides that of
/// its own type, so whatever holds one is copied, compared and destroyed by the runtime. Machines that are asked for
/// each event hold many. The clock itself is the event loop's: a pure module can hold a time, and cannot ask for it.
public struct Instant: Hashable, Comparable, Sendable {
    /// Distance from the start of the machine.
    public var sinceBoot: Duration

    /// The point so long after the start of the machine.
    @inlinable
    public init(sinceBoot: Duration) {
        self.sinceBoot = sinceBoot
    }

    /// Whether the one is earlier.
    @inlinable
    public static func < (one: Instant, other: Instant) -> Bool {
        one.sinceBoot < other.sinceBoot
    }

    /// The point that lies that much later.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant {
        Instant(sinceBoot: instant.sinceBoot + duration)
    }

    /// Moves on by that much.
    @inlinable
    public static func += (instant: inout Instant, duration: Duration) {
        instant.sinceBoot += duration
    }

    /// The point that lies that much earlier.
    @inlinable
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(sinceBoot: instant.sinceBoot - duration)
    }

    /// How much later the one is than the other; negative if it is earlier.
    @inlinable
    public static func - (one: Instant, other: Instant) -> Duration {
        one.sinceBoot - other.sinceBoot
    }
}

extension Instant? {
    /// Becomes the earlier of both; nil is never.
    @inlinable
    public mutating func lower(to other: Instant?) {
        guard let other else { return }
        if let instant = self, instant <= other { return }
        self = other
    }

    /// Returns whether it has come, and becomes nil then.
    @inlinable
    public mutating func takeDue(at now: Instant) -> Bool {
        guard let instant = self, instant <= now else { return false }
        self = nil
        return true
    }
}
