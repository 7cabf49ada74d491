/// The gestures of one tag and one start of the bridge, by their `seq`.
///
/// The reader subscribes with QoS 1, as an automation does. The broker sends it a few gestures and keeps the others in a
/// queue until these are acknowledged. The witness subscribes with QoS 0: the broker passes each gesture to it at once,
/// without a queue. What the witness has, the broker has taken from the bridge.
///
/// The rules for a gesture that the bridge has counted and the reader has not received:
/// - The broker has taken it: the broker has discarded it. It may do so after it was frozen, because a message expires in
///   its queue (MQTT 5), and when it ends.
/// - The broker has not taken it: the bridge has counted it as `expired`, or the broker or the bridge had ended.
struct GestureSequence {
    /// How a gesture has arrived.
    enum Arrival {
        case inOrder, repeated
        /// A later one has arrived before it.
        case behind(UInt64)
    }

    /// Numbers that were left out, with the time around them.
    private struct Gap {
        let numbers: Range<UInt64>
        let from: ContinuousClock.Instant
        let to: ContinuousClock.Instant
    }

    private var seen: Set<UInt64> = []
    private var taken: Set<UInt64> = []
    private var lastTaken: UInt64 = 0
    private var last: UInt64 = 0
    private var lastAt: ContinuousClock.Instant
    private var counted: UInt64 = 0
    private var expired = 0
    private var gaps: [Gap] = []

    /// How long after a freeze a message that was queued meanwhile is in the queue of the broker.
    static let aftermath = Duration.seconds(10)

    init(at now: ContinuousClock.Instant) {
        lastAt = now
    }

    /// A gesture has come to the reader.
    mutating func arrived(_ number: UInt64, at now: ContinuousClock.Instant) -> Arrival {
        guard seen.insert(number).inserted else { return .repeated }
        guard number > last else { return .behind(last) }
        if number > last + 1 { gaps.append(Gap(numbers: last + 1..<number, from: lastAt, to: now)) }
        last = number
        lastAt = now
        return .inOrder
    }

    /// A gesture has come to the witness.
    mutating func taken(_ number: UInt64) -> Arrival {
        guard taken.insert(number).inserted else { return .repeated }
        guard number > lastTaken else { return .behind(lastTaken) }
        lastTaken = number
        return .inOrder
    }

    /// Handles the counters published by the bridge.
    mutating func received(_ stats: StatsDocument) {
        counted = max(counted, stats.lastSequence)
        expired = max(expired, stats.expired)
    }

    /// The fate of the gestures that did not arrive, when everything is well and quiet.
    func missing(_ troubles: Troubles, at now: ContinuousClock.Instant) -> MissingGestures {
        var gaps = gaps
        if counted > last { gaps.append(Gap(numbers: last + 1..<counted + 1, from: lastAt, to: now)) }
        var found = MissingGestures()
        var waited = 0
        for gap in gaps {
            let numbers = gap.numbers.filter { !seen.contains($0) }
            let isBrokerEnd = troubles.touch(.brokerEnded, gap.from, gap.to)
            let isEnd = isBrokerEnd || troubles.touch(.bridge, gap.from, gap.to)
            let discarded = numbers.count { taken.contains($0) }
            if isBrokerEnd || troubles.touch(.brokerFrozen, gap.from - Self.aftermath, gap.to) {
                found.discarded += discarded
            } else if discarded > 0 {
                found.violations.append("the broker has \(discarded) of \(gap.numbers), which did not arrive")
            }
            waited += numbers.count - discarded
            if isEnd {
                found.lostWithBroker += numbers.count - discarded
            } else if !troubles.touch(.brokerFrozen, gap.from, gap.to), numbers.count > discarded {
                found.violations.append("\(numbers.count - discarded) of \(gap.numbers) did not arrive at the broker")
            }
        }
        let owed = waited - found.lostWithBroker
        if owed > expired {
            found.violations.append("\(owed) gestures did not arrive at the broker, and \(expired) expired")
        }
        found.expired = min(waited, expired)
        found.lostWithBroker = waited - found.expired
        found.delivered = expired - found.expired
        return found
    }
}

/// The fate of the gestures that the bridge has counted, and that did not arrive.
struct MissingGestures {
    /// The bridge has counted them as expired.
    var expired = 0
    /// The broker had taken them, and has discarded them: their message expiry was over, or the broker has ended.
    var discarded = 0
    /// They were on their way when the broker or the bridge has ended.
    var lostWithBroker = 0
    /// The bridge has counted them as expired, but an earlier connection has delivered them: the broker has read from it
    /// what it had not read when it was frozen.
    var delivered = 0
    /// The broken rules.
    var violations: [String] = []

    var count: Int { expired + discarded + lostWithBroker }

    mutating func add(_ other: MissingGestures) {
        expired += other.expired
        discarded += other.discarded
        lostWithBroker += other.lostWithBroker
        delivered += other.delivered
        violations += other.violations
    }
}
