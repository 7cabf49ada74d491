import JacquardProtocol
import Time

/// Identifies the gesture of a publication: 12 bytes.
struct GestureMark: Hashable, Sendable {
    /// The number of the gesture in ``GestureTraces``. Until it is submitted to the ``Outbox``: how long it was held
    /// back, in ``TraceTicks``.
    var number: UInt32 = 0
    /// The gesture's `seq`, modulo 2^32.
    let sequence: UInt32
    /// The tag; none: no gesture.
    let tag: TagHandle
    /// The ``GestureName/index`` of the name, or the mark of ``ChordNames``.
    let name: UInt8
    /// Whether the gesture was held back, because it could have become part of an exclusive chord.
    private(set) var isHeld = false

    /// No gesture.
    static let none = GestureMark(tag: .none, name: 0, sequence: 0)

    init(tag: TagHandle, name: UInt8, sequence: UInt64) {
        self.sequence = UInt32(truncatingIfNeeded: sequence)
        self.tag = tag
        self.name = name
    }

    /// Whether there is a gesture.
    var isGesture: Bool { tag != .none }

    /// The gesture is released after it was held back.
    mutating func hold(from start: Instant, to end: Instant) {
        isHeld = true
        number = TraceTicks.distance(from: TraceTicks.at(start), to: TraceTicks.at(end))
    }
}

/// Times of traces, in units of 2^40 attoseconds (1.1 µs). The conversion is a shift: a division of 128-bit numbers for
/// each stage would take more instructions than the rest of the trace.
enum TraceTicks {
    /// The distance to something that has not happened.
    static let never = UInt32.max

    /// The time of an instant.
    static func at(_ instant: Instant) -> Int64 {
        Int64(truncatingIfNeeded: instant.sinceBoot.attoseconds >> 40)
    }

    /// The distance of two times, at most 78 minutes.
    static func distance(from start: Int64, to end: Int64) -> UInt32 {
        let distance = end &- start
        if distance < 0 { return 0 }
        return distance >= Int64(never) ? never - 1 : UInt32(distance)
    }

    /// The instant of a time, rounded up: ``at(_:)`` rounds down, and a whole millisecond must stay one.
    static func instant(_ ticks: Int64) -> Instant {
        Instant(sinceBoot: Duration(attoseconds: (Int128(ticks) + 1) << 40))
    }

    /// The distance in microseconds.
    static func microseconds(_ ticks: Int64) -> Int64 {
        Int64(truncatingIfNeeded: (Int128(ticks) << 40) / 1_000_000_000_000)
    }
}
