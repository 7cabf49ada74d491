import JSON
import JacquardProtocol
import Time

/// Whether a tag is near the radio: from its link, and from how the link ended.
///
/// A tag that ends the link itself falls asleep, and is still near. It wakes when it is moved or touched, and advertises for
/// 60 s: a tag that leaves connects first, and its link times out.
struct Presence: Sendable {
    /// The published states.
    enum State: String, Sendable, CaseIterable {
        /// Linked, or received.
        case here
        /// It has ended its link, and is near.
        case asleep
        /// Its link timed out, and nothing was received since.
        case gone
        /// Never received since the start, and no earlier state is stored.
        case unknown
    }

    /// An event of the tag or its radio.
    enum Event: Sendable {
        /// The link is up.
        case linkUp
        /// The link has ended.
        ///
        /// - Parameters:
        ///   - end: how; nil if the stack does not say.
        ///   - idle: the time since the last message of the tag; nil if there was none.
        ///   - rssi: the last signal strength in dBm; nil if unknown.
        case linkEnded(LinkEnd?, idle: Duration?, rssi: Int?)
        /// An advertisement was received.
        case received(rssi: Int?)
        /// The tag will end its link within this time, because a command has requested it.
        case sleepRequested(within: Duration)
        /// The adapter cannot be used. This ends all links, and says nothing about the tags.
        case adapterOff
        /// The adapter can be used again.
        case adapterOn
    }

    /// The state.
    private(set) var state = State.unknown
    /// When the state began.
    private(set) var since: Timestamp
    /// Whether the state was concluded without a reason of the stack or a received message.
    private(set) var isInferred = true
    /// How the last link ended; nil while there is a link, or if the stack does not say.
    private(set) var ended: LinkEnd?
    /// How long a tag may be silent after its link was lost (`presence.away_after_s`).
    var awayAfter: Duration {
        didSet { silence?.until? += awayAfter - oldValue }
    }

    private var isLinked = false
    /// The silence after a link; nil while there is a link, and after the end of the silence.
    private var silence: Silence?
    /// When the end of the link is the requested one; nil if none is.
    private var sleepTime: ClosedRange<Instant>?

    /// A tag drops an idle link after ten minutes. Messages of the host that the bridge does not count move that end.
    static let idle = Duration.seconds(570)
    /// A weaker signal is that of a tag at the edge of the range, in dBm.
    static let weakSignal = -80
    /// How long after the links that it ends an adapter may be reported as off.
    private static let adapterDelay = Duration.seconds(2)

    /// Nothing is received.
    private struct Silence: Sendable {
        /// The state after it.
        let state: State
        let isInferred: Bool
        let begin: Instant
        /// When the state begins; nil while the adapter is off.
        var until: Instant?

        init(_ state: State, isInferred: Bool, at now: Instant, until: Instant? = nil) {
            (self.state, self.isInferred, begin, self.until) = (state, isInferred, now, until)
        }
    }

    /// - Parameters:
    ///   - awayAfter: how long a tag may be silent after its link was lost.
    ///   - earlier: the state of an earlier run; nil if there is none.
    ///   - now: the current time.
    init(awayAfter: Duration, earlier: (state: State, since: Timestamp)? = nil, at now: Timestamp) {
        self.awayAfter = awayAfter
        since = earlier?.since ?? now
        guard let earlier else { return }
        state = earlier.state
        // The restart has ended its link: it advertises for a minute, and falls asleep.
        if state == .here { begin(.asleep, at: now.instant) }
    }

    /// When to call ``deadlineReached(at:)``.
    var deadline: Instant? { silence?.until }

    /// Handles an event.
    ///
    /// - Returns: whether the published values have changed.
    mutating func handle(_ event: Event, at now: Timestamp) -> Bool {
        switch event {
        case .linkUp:
            (isLinked, silence, ended) = (true, nil, nil)
            return become(.here, isInferred: false, at: now)
        case .linkEnded(let end, let idle, let rssi):
            guard isLinked else { return false }
            (isLinked, ended) = (false, end)
            return linkEnded(end, idle: idle, isWeak: Self.isWeak(rssi), at: now)
        case .received(let rssi): return received(isWeak: Self.isWeak(rssi), at: now)
        case .sleepRequested(let time):
            sleepTime = TagSleep.endOfLink(ofTagThatSleepsIn: time, at: now.instant)
            return false
        case .adapterOff:
            // Some stacks report the ends of the links first, without a reason.
            let hasTakenLink = ended == nil && silence.map { now.instant - $0.begin <= Self.adapterDelay } ?? false
            if isLinked || hasTakenLink { silence = Silence(.asleep, isInferred: true, at: now.instant) }
            isLinked = false
            silence?.until = nil
            return state == .unknown ? false : become(state, isInferred: true, at: now)
        case .adapterOn:
            silence?.until = now.instant + awayAfter
            return false
        }
    }

    /// Handles elapsed time.
    ///
    /// - Returns: whether the published values have changed.
    mutating func deadlineReached(at now: Timestamp) -> Bool {
        guard let end = silence, let until = end.until, until <= now.instant else { return false }
        silence = nil
        return become(end.state, isInferred: end.isInferred, at: now)
    }

    private mutating func linkEnded(_ end: LinkEnd?, idle: Duration?, isWeak: Bool, at now: Timestamp) -> Bool {
        let isRequested = sleepTime?.contains(now.instant) ?? false
        sleepTime = nil
        if (isRequested && end != .timeout) || end == .remote { return become(.asleep, isInferred: false, at: now) }
        if end == nil, !isWeak, let idle, idle >= Self.idle { return become(.asleep, isInferred: true, at: now) }
        // A link that the host has ended says nothing: the tag advertises for a minute then, and falls asleep.
        let isAsleep = end == .local && !isWeak
        begin(isAsleep ? .asleep : .gone, isInferred: end != .timeout, at: now.instant)
        return false
    }

    private mutating func received(isWeak: Bool, at now: Timestamp) -> Bool {
        guard !isLinked else { return false }
        // At the edge of the range single advertisements arrive: they don't bring a tag back.
        if state == .gone, isWeak { return false }
        // A tag that is not connected after its minute of advertising falls asleep.
        begin(isWeak ? .gone : .asleep, at: now.instant)
        return become(.here, isInferred: false, at: now)
    }

    /// Begins a silence, after which the state is this one.
    private mutating func begin(_ state: State, isInferred: Bool = true, at now: Instant) {
        silence = Silence(state, isInferred: isInferred, at: now, until: now + awayAfter)
    }

    private mutating func become(_ new: State, isInferred: Bool, at now: Timestamp) -> Bool {
        if new == .asleep || new == .gone { silence = nil }
        guard new != state || isInferred != self.isInferred else { return false }
        if new != state { since = now }
        (state, self.isInferred) = (new, isInferred)
        return true
    }

    private static func isWeak(_ rssi: Int?) -> Bool { (rssi ?? 0) <= weakSignal }
}

/// `T/presence`.
struct PresenceDocument: JSONRecord {
    let presence: Presence
    /// nil while the bridge has a single one.
    let radio: String?

    func addMembers(to object: inout JSONWriter) {
        object.add("inferred", presence.isInferred)
        object.add("radio", radio)
        object.add("since", presence.since)
        object.add("state", presence.state.rawValue)
    }
}

extension LinkEnd {
    /// The word in `T/connection`.
    var word: String {
        switch self {
        case .remote: "remote"
        case .timeout: "timeout"
        case .local: "local"
        }
    }
}

extension TagConnection {
    /// Removes the failure of an attempt to reach a tag that sleeps, which is none: it connects when it wakes.
    mutating func removeFailureOfSleepingTag(after last: TagConnection) {
        switch error?.code {
        case .bluetoothConnectionError, .connectionTimeout: (error, attempt) = (nil, last.attempt)
        default: break
        }
    }
}

extension PresenceDocument {
    static let topic = TopicRow("presence", .fact, while: .feature, isRecorded: true) { document in
        let doubt = document["inferred"]?.flag == true ? ", as far as the bridge can tell" : ""
        return switch document["state"]?.string {
        case "here": "is here\(doubt)"
        case "asleep": "is asleep, and here\(doubt)"
        case "gone": "is gone\(doubt)"
        case "unknown": "has not been received yet"
        default: nil
        }
    }
}
