/// Gestures that were made with tags, and gestures that arrived at a reader.
///
/// Each made gesture, or each burst of equal ones, has a number of its own, so that none is taken for another.
///
/// The rules:
/// - A gesture made by a tag that is connected, in gear and without trouble arrives, as often as it was made, while the
///   way to the reader is whole. While the broker is away it arrives too if the broker is back within the lifetime.
/// - Of one tag and one start of the bridge every `seq` arrives once and in order; a repetition is allowed around trouble
///   with the broker (QoS 1: what was not acknowledged is sent again), and a gap there, too, see ``GestureSequence``. After
///   a freeze the broker may pass them on in another order, but the bridge publishes them in order.
/// - Gestures of a tag in trouble may be lost before the bridge has counted them.
struct GestureLedger {
    /// The gestures of one line of the simulator.
    struct Entry {
        let tag: String
        let number: UInt32
        var count: Int
        let typed: ContinuousClock.Instant
        /// When the last of it was made; nil while it is not known.
        var made: ContinuousClock.Instant?
        var arrived = 0
        /// How many the broker has passed to the witness.
        var taken = 0
    }

    /// The longest a gesture waits in the bridge, five seconds, less what the bridge may need to connect again: its delay
    /// after two failures is up to two seconds, and a busy machine takes its time, too.
    private static let lifetime = Duration.seconds(2)
    /// By then a gesture has arrived or will not.
    private static let patience = Duration.seconds(8)

    private var entries: [UInt32: Entry] = [:]
    private var sequences: [String: [String: GestureSequence]] = [:]
    private(set) var made = 0
    private(set) var arrived = 0
    private(set) var repeated = 0
    private(set) var reordered = 0
    /// The fate of the gestures that did not arrive; complete after ``close(_:at:)``.
    private(set) var missing = MissingGestures()
    private(set) var latest = Duration.zero

    /// The gestures that the bridge did not count, or did not publish before it was killed.
    var lostAtTag: Int { made - arrived - missing.count }

    /// A gesture was typed.
    mutating func typed(_ number: UInt32, tag: String, count: Int, at now: ContinuousClock.Instant) {
        entries[number] = Entry(tag: tag, number: number, count: count, typed: now)
    }

    /// The simulator refused it: the tag is not there, or busy with another burst.
    mutating func refused(_ number: UInt32) {
        entries[number] = nil
    }

    /// All of it was made.
    mutating func done(_ number: UInt32, sent: Int, at now: ContinuousClock.Instant) {
        guard entries[number]?.made == nil else { return }
        entries[number]?.count = sent
        entries[number]?.made = now
        made += sent
    }

    /// Whether a line makes more than one, so that its end comes later.
    func isBurst(_ number: UInt32) -> Bool { (entries[number]?.count ?? 0) > 1 }

    /// Whether its end was reported.
    func isDone(_ number: UInt32) -> Bool { entries[number]?.made != nil }

    /// A gesture has come to the reader.
    ///
    /// - Returns: the broken rule, if any.
    mutating func received(
        _ document: GestureDocument, of tag: String, age: Duration, _ troubles: Troubles,
        at now: ContinuousClock.Instant
    ) -> String? {
        let isAroundTrouble = troubles.touchBroker(now - .seconds(10), now)
        let name = "gesture \(document.seq) of \(tag)"
        switch sequences[tag, default: [:]][document.boot, default: GestureSequence(at: now)].arrived(
            document.seq, at: now)
        {
        case .repeated:
            repeated += 1
            return isAroundTrouble ? nil : "\(name) arrived twice"
        case .behind(let last):
            arrived += 1
            entries[document.gesture]?.arrived += 1
            reordered += 1
            return isAroundFreeze(troubles, now) ? nil : "\(name) arrived behind \(last)"
        case .inOrder:
            arrived += 1
            entries[document.gesture]?.arrived += 1
            latest = max(latest, age)
            return age > .seconds(5) && !isAroundTrouble ? "\(name) came \(age) late" : nil
        }
    }

    /// A gesture has come to the witness: the broker has it.
    ///
    /// - Returns: the broken rule, if any.
    mutating func taken(_ document: GestureDocument, of tag: String, at now: ContinuousClock.Instant) -> String? {
        switch sequences[tag, default: [:]][document.boot, default: GestureSequence(at: now)].taken(document.seq) {
        case .repeated: return nil
        case .inOrder:
            entries[document.gesture]?.taken += 1
            return nil
        case .behind(let last):
            entries[document.gesture]?.taken += 1
            return "gesture \(document.seq) of \(tag) was published behind \(last)"
        }
    }

    /// Whether the broker may have discarded gestures of the reader's queue. mosquitto 2.0 then passes new gestures on
    /// before the rest of the queue.
    private func isAroundFreeze(_ troubles: Troubles, _ now: ContinuousClock.Instant) -> Bool {
        troubles.touch(.brokerFrozen, now - GestureSequence.aftermath, now)
    }

    /// Handles the counters published by the bridge.
    mutating func received(_ stats: StatsDocument, of tag: String, at now: ContinuousClock.Instant) {
        sequences[tag, default: [:]][stats.boot, default: GestureSequence(at: now)].received(stats)
    }

    /// Looks at what should have arrived by now.
    ///
    /// - Returns: the broken rules.
    mutating func review(_ troubles: Troubles, at now: ContinuousClock.Instant) -> [String] {
        guard troubles.isBrokerWell, !troubles.isOpen(.bridge) else { return [] }
        var violations: [String] = []
        for entry in entries.values {
            guard let made = entry.made, now > made + Self.patience else { continue }
            // An answer must have had time to come since the last trouble, too.
            guard !troubles.touchBroker(now - Self.patience, now) else { continue }
            entries[entry.number] = nil
            violations += judge(entry, made, troubles)
        }
        return violations
    }

    private mutating func judge(
        _ entry: Entry, _ made: ContinuousClock.Instant, _ troubles: Troubles
    ) -> [String] {
        let missing = entry.count - entry.arrived
        let name = "gesture \(entry.number) of \(entry.tag)"
        if missing == 0 { return [] }
        if missing < 0 { return ["\(name): made \(entry.count) times, arrived \(entry.arrived) times"] }
        if troubles.touch(.tag(entry.tag), entry.typed, made + .milliseconds(300))
            || troubles.touch(.bridge, entry.typed, made + .seconds(1))
        {
            return []
        }
        // Made when the broker had been away for a while, and not too long before it came back.
        let wasAway = [TroubledPart.brokerEnded, .brokerFrozen].contains { part in
            troubles.endOfTrouble(part, at: entry.typed).map { made >= $0 - Self.lifetime && made < $0 } ?? false
                && troubles.touch(part, entry.typed - .seconds(1), entry.typed - .seconds(1))
        }
        if !wasAway, troubles.touchBroker(entry.typed, made + Self.patience) { return [] }
        // What the broker had, it has discarded: the end decides whether it may have.
        if entry.taken == entry.count { return [] }
        return [
            "\(name): \(missing) of \(entry.count) did not arrive\(wasAway ? ", made while the broker was away" : "")"
        ]
    }

    /// At the end everything is well and quiet: what the bridge has counted is what arrived, or what may be missing.
    ///
    /// - Returns: the broken rules.
    mutating func close(_ troubles: Troubles, at now: ContinuousClock.Instant) -> [String] {
        sequences.flatMap { tag, boots in
            boots.flatMap { boot, sequence in
                let found = sequence.missing(troubles, at: now)
                missing.add(found)
                return found.violations.map { "\(tag), start \(boot): \($0)" }
            }
        }
    }
}
