/// What can be in trouble.
enum TroubledPart: Hashable {
    /// The broker has ended, and with it what it held; its connections are gone.
    case brokerEnded
    /// The broker stands still, but forgets nothing.
    case brokerFrozen
    /// The daemon has ended, by itself or not.
    case bridge
    /// A tag may not be connected, or not report gestures.
    case tag(String)
}

/// When which part was in trouble. What happens at such a time is excused from some of the rules.
struct Troubles {
    private struct Span {
        let start: ContinuousClock.Instant
        var end: ContinuousClock.Instant?
    }

    private var spans: [TroubledPart: [Span]] = [:]

    /// The part is in trouble from now on.
    mutating func begin(_ part: TroubledPart, at now: ContinuousClock.Instant) {
        guard !isOpen(part) else { return }
        spans[part, default: []].append(Span(start: now))
    }

    /// The part was seen to be well.
    mutating func end(_ part: TroubledPart, at now: ContinuousClock.Instant) {
        guard isOpen(part), let last = spans[part]?.indices.last else { return }
        spans[part]?[last].end = now
    }

    func isOpen(_ part: TroubledPart) -> Bool {
        spans[part]?.last.map { $0.end == nil } ?? false
    }

    /// Whether the part was in trouble at any time between two instants.
    func touch(_ part: TroubledPart, _ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant) -> Bool {
        spans[part]?.contains { $0.start <= to && ($0.end ?? to) >= from } ?? false
    }

    /// When the trouble of a part ended that lay over an instant; nil when there was none or it lasts.
    func endOfTrouble(_ part: TroubledPart, at instant: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        spans[part]?.first { $0.start <= instant && ($0.end ?? instant) >= instant }?.end
    }

    /// How many there were.
    func count(of part: TroubledPart) -> Int { spans[part]?.count ?? 0 }
}

extension Troubles {
    /// Whether the way from the bridge to a reader was broken.
    func touchBroker(_ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant) -> Bool {
        touch(.brokerEnded, from, to) || touch(.brokerFrozen, from, to)
    }

    var isBrokerWell: Bool { !isOpen(.brokerEnded) && !isOpen(.brokerFrozen) }
}
