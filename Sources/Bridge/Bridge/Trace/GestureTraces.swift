import JacquardProtocol
import Time

/// A selection of traces, newest last.
public struct TraceQuery: Hashable, Sendable {
    /// nil: all tags.
    let tag: TagHandle?
    /// The `seq` of a gesture; nil: all gestures.
    let sequence: UInt32?
    /// How many of the latest.
    let count: Int
}

/// The traces of the latest gestures, in a ring whose memory is allocated with the first one.
///
/// Each gesture has a number, from 1, modulo 2^32. An unknown number, such as 0 or one that the ring has overwritten, is
/// ignored. On the path of every gesture, therefore without closures and generic code.
struct GestureTraces: Sendable {
    /// Number of gestures, a power of two.
    static let capacity: UInt32 = 1_024

    private var entries: [GestureTrace] = []
    private var last: UInt32 = 0
    /// From the notification to the broker's acknowledgement, of all acknowledged gestures since the start.
    private(set) var durations = DurationHistogram.gestures
    /// The lowest and the highest number of the deliveries that are not written; 0 for none.
    private var firstUnwritten: UInt32 = 0
    private var lastUnwritten: UInt32 = 0

    /// Adds a gesture and returns its number.
    mutating func begin(_ mark: GestureMark, _ arrival: GestureArrival, at now: Instant) -> UInt32 {
        let trace = GestureTrace(mark, arrival, at: now)
        last &+= 1
        if entries.count < Int(Self.capacity) {
            entries.reserveCapacity(Int(Self.capacity))
            entries.append(trace)
        } else {
            entries[Self.place(last)] = trace
        }
        return last
    }

    /// Adds a remark.
    mutating func note(_ number: UInt32, _ remark: GestureTrace.Remarks) {
        guard isKept(number) else { return }
        entries[Self.place(number)].remarks.formUnion(remark)
    }

    /// The delivery is returned to the driver, which passes it to the client.
    mutating func delivered(_ number: UInt32, at now: Instant) {
        guard isKept(number) else { return }
        entries[Self.place(number)].delivered(at: TraceTicks.at(now))
        if firstUnwritten == 0 || number < firstUnwritten { firstUnwritten = number }
        if number > lastUnwritten { lastUnwritten = number }
    }

    /// The socket has accepted all deliveries that were passed to the client.
    mutating func written(at now: Instant) {
        guard firstUnwritten != 0 else { return }
        let ticks = TraceTicks.at(now)
        var distance = lastUnwritten &- firstUnwritten
        if distance >= Self.capacity { distance = Self.capacity - 1 }
        while true {
            let number = lastUnwritten &- distance
            if isKept(number) { entries[Self.place(number)].written(at: ticks) }
            guard distance > 0 else { break }
            distance -= 1
        }
        firstUnwritten = 0
        lastUnwritten = 0
    }

    /// The connection of the delivery was lost: it waits for the next one.
    mutating func interrupted(_ number: UInt32) {
        guard isKept(number) else { return }
        entries[Self.place(number)].queued = TraceTicks.never
        entries[Self.place(number)].written = TraceTicks.never
        entries[Self.place(number)].remarks.formUnion([.waitedForBroker, .isRepeated])
    }

    /// The delivery has ended.
    ///
    /// - Parameters:
    ///   - number: the gesture.
    ///   - outcome: how.
    ///   - reason: the reason of MQTT 5; nil without one.
    ///   - now: the current time.
    mutating func ended(_ number: UInt32, _ outcome: GestureTrace.Outcome, reason: UInt8? = nil, at now: Instant) {
        guard isKept(number) else { return }
        let place = Self.place(number)
        entries[place].ended(outcome, reason: reason, at: TraceTicks.at(now))
        if outcome == .acknowledged { durations.observe(ticks: entries[place].duration) }
    }

    /// Returns the latest gestures of a selection, oldest first.
    func latest(_ query: TraceQuery) -> [GestureTrace] {
        var found: [GestureTrace] = []
        var number = last
        while isKept(number), found.count < query.count {
            let trace = entries[Self.place(number)]
            number &-= 1
            guard query.tag == nil || trace.tag == query.tag else { continue }
            guard query.sequence == nil || trace.sequence == query.sequence else { continue }
            found.append(trace)
        }
        return found.reversed()
    }

    private func isKept(_ number: UInt32) -> Bool {
        number != 0 && last &- number < entries.count
    }

    private static func place(_ number: UInt32) -> Int {
        Int((number &- 1) & (capacity - 1))
    }
}
