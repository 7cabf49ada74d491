import JacquardProtocol
import Time

/// Detects bridges that have died together with their node of the broker, so that no will was published.
///
/// Each bridge publishes a beat every ten seconds, and receives its own beats and those of at most eight others: the
/// next online ones by name, in a ring. A bridge is silent if none of its beats arrived for 33 s, and then one of this
/// bridge's own beats came back without delay. So a slow or broken connection of this bridge makes no other one silent.
///
/// Beats of a silent bridge are still received. A beat from a bridge whose state is `offline` at this node of the broker
/// requests that it publishes its facts again: this repairs the state after a cluster was split.
struct FleetWatch: Sendable {
    /// The effect of an event.
    enum Effect: Equatable, Sendable {
        /// Publish a beat with this number.
        case beat(UInt64)
        /// Subscribe to the beats of these bridges.
        case subscribe([ExactText])
        /// Unsubscribe from the beats of these bridges.
        case unsubscribe([ExactText])
        /// Publish `offline` for this bridge and its tags.
        case silent(ExactText)
        /// Request that this bridge publishes its facts again.
        case refresh(ExactText)
    }

    /// The interval of the beats.
    static let interval = Duration.seconds(10)
    /// How long the beats of a bridge may be absent. Two may be lost; the third one may be three seconds late.
    static let patience = Duration.seconds(33)
    /// How long an own beat may take to come back.
    static let roundTrip = Duration.seconds(5)
    /// The pause between a connection and the first beat: the facts are published first.
    static let firstBeat = Duration.seconds(1)
    /// An outage of this length allows the others more time to connect, because their pauses grow to 30 s.
    static let longOutage = Duration.seconds(60)
    /// How much later a bridge can become silent after the start and after a long outage.
    static let startPause = Duration.seconds(30)
    /// The number of watched bridges.
    static let ringSize = 8
    /// Maximum number of silent bridges whose beats are still received.
    static let maxSilent = 8

    /// A bridge whose beats are received.
    private struct Watched {
        /// When its silence began: its latest beat, or when it could be received first.
        var since: Instant
        /// The own beat that decides whether it is silent.
        var probe: UInt64?
        /// Whether `offline` was published for it.
        var isSilent = false

        /// Whether no own beat that decides about its silence is on its way.
        var isUndecided: Bool { !isSilent && probe == nil }
    }

    private let instance: ExactText
    private var watched: [ExactText: Watched] = [:]
    /// The number of the latest own beat.
    private var number: UInt64 = 0
    /// The earliest own beat that has not come back.
    private var pending: (number: UInt64, sent: Instant)?
    /// When the next beat is due; nil without a connection.
    private var nextBeat: Instant?
    /// When silence began to count; in the future after a start.
    private var countsFrom: Instant?
    /// When the connection was lost; nil before the first one.
    private var lostAt: Instant?

    init(instance: String) {
        self.instance = ExactText(instance)
    }

    /// The bridges whose beats are received, this one included.
    var sources: [ExactText] { [instance] + watched.keys.sorted() }

    /// The watched bridges.
    var ring: [ExactText] { watched.filter { !$0.value.isSilent }.keys.sorted() }

    /// When the next beat or decision is due.
    var deadline: Instant? {
        guard var earliest = nextBeat else { return nil }
        for other in watched.values where other.isUndecided { earliest = min(earliest, other.since + Self.patience) }
        return earliest
    }

    /// Handles a connection. The beats of all sources are subscribed to.
    mutating func brokerConnected(at now: Instant) {
        let isLong = lostAt.map { now - $0 >= Self.longOutage } ?? true
        pending = nil
        nextBeat = now + Self.firstBeat
        restart(at: isLong ? now + Self.startPause : now)
    }

    /// Handles the end of a connection.
    mutating func brokerDisconnected(at now: Instant) {
        guard nextBeat != nil else { return }
        (nextBeat, lostAt) = (nil, now)
    }

    /// Handles a change of the bridges that are online and send beats.
    ///
    /// - Parameters:
    ///   - ring: the next ones by name, at most ``ringSize``.
    ///   - isOnline: whether a bridge is one of them, in the ring or not.
    ///   - now: the current time.
    ///   - effects: gets what to do about it.
    mutating func ringChanged(
        to ring: [ExactText], isOnline: (ExactText) -> Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        for (name, other) in watched where other.isSilent && isOnline(name) {
            watched[name] = Watched(since: now)
        }
        let wanted = Set(ring)
        let leaving = watched.filter { !$0.value.isSilent && !wanted.contains($0.key) }.keys.sorted()
        for name in leaving { watched[name] = nil }
        let joining = ring.filter { watched[$0] == nil }
        for name in joining { watched[name] = Watched(since: max(now, countsFrom ?? now)) }
        if !leaving.isEmpty { effects.append(.unsubscribe(leaving)) }
        if !joining.isEmpty { effects.append(.subscribe(joining)) }
    }

    /// Handles a beat.
    ///
    /// - Parameters:
    ///   - name: the bridge that sent it, possibly this one.
    ///   - payload: the number.
    ///   - isOnline: whether the bridge's state is `online`.
    ///   - now: the current time.
    ///   - effects: gets what to do about it.
    mutating func received(
        beatOf name: ExactText, _ payload: [UInt8], isOnline: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        guard name != instance else {
            let number = payload.count <= 20 ? UInt64(String(decoding: payload, as: UTF8.self)) : nil
            if let number { cameBack(number, at: now, &effects) }
            return
        }
        guard let other = watched[name] else {
            // An earlier connection of this session subscribed to it.
            effects.append(.unsubscribe([name]))
            return
        }
        watched[name] = Watched(since: now, isSilent: other.isSilent && !isOnline)
        if other.isSilent, !isOnline { effects.append(.refresh(name)) }
    }

    /// Sends a beat that is due, or one that decides about bridges without beats.
    mutating func deadlineReached(at now: Instant, _ effects: inout [Effect]) {
        guard let due = nextBeat else { return }
        // Own beats that don't come back say nothing about others.
        if let pending, pending.sent + Self.roundTrip < now { restart(at: now) }
        let suspects = watched.filter { $0.value.isUndecided && $0.value.since + Self.patience <= now }.keys
        guard due <= now || !suspects.isEmpty else { return }
        number += 1
        for name in suspects { watched[name]?.probe = number }
        if pending == nil { pending = (number, now) }
        nextBeat = now + Self.interval
        effects.append(.beat(number))
    }

    /// Handles an own beat. What the broker received before it has arrived, too.
    private mutating func cameBack(_ number: UInt64, at now: Instant, _ effects: inout [Effect]) {
        guard let pending, number >= pending.number, number <= self.number, nextBeat != nil else { return }
        self.pending = nil
        guard pending.sent + Self.roundTrip >= now else { return restart(at: now) }
        let silent = watched.filter { !$0.value.isSilent && $0.value.probe.map { $0 <= number } == true }.keys.sorted()
        for name in silent {
            watched[name] = Watched(since: now, isSilent: true)
            effects.append(.silent(name))
        }
        forgetSilent(&effects)
    }

    /// Forgets the silent bridges that exceed the maximum; those that were silent first.
    private mutating func forgetSilent(_ effects: inout [Effect]) {
        let silent = watched.filter(\.value.isSilent).sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
        let forgotten = silent.dropLast(Self.maxSilent).map(\.key)
        for name in forgotten { watched[name] = nil }
        if !forgotten.isEmpty { effects.append(.unsubscribe(forgotten)) }
    }

    /// The silence of each bridge begins again.
    private mutating func restart(at start: Instant) {
        countsFrom = start
        for (name, other) in watched { watched[name] = Watched(since: start, isSilent: other.isSilent) }
    }
}
