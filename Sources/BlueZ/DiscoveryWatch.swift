import Time

/// Doubts a discovery that hears nothing: after hours some controllers stop reporting without a word.
///
/// The evidence is weak, since a filtered discovery is silent as long as every tag sleeps. So the remedy is mild at first:
/// stop and start, less often each time. Only where the user allows it, and nobody is connected, the adapter is
/// switched off and on.
struct DiscoveryWatch {
    /// What to do about silence.
    enum Step: Equatable {
        case restart
        case resetAdapter
    }

    /// So many restarts must have been in vain before the adapter is reset.
    static let restartsBeforeReset = 3
    /// The pause grows to so many times the silence.
    private static let longest = 16

    private let silence: Duration
    private var restarts = 0
    /// When something was heard, or something was last done about it.
    private var since: Instant

    init(silence: Duration, now: Instant) {
        self.silence = silence
        since = now
    }

    /// When silence becomes suspicious.
    var deadline: Instant { since + silence * min(1 << min(restarts, 10), Self.longest) }
    /// Whether nothing has been done about this silence yet; it is told once.
    var isFresh: Bool { restarts == 0 }

    /// A device was heard.
    mutating func heard(at now: Instant) {
        since = now
        restarts = 0
    }

    /// A discovery begins after a time without any: that time was no silence.
    mutating func began(at now: Instant) {
        since = now
    }

    /// The deadline may have passed.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - mayReset: whether the adapter may be switched off and on.
    /// - Returns: what to do; nil while there is no reason to doubt.
    mutating func step(at now: Instant, mayReset: Bool) -> Step? {
        guard deadline <= now else { return nil }
        restarts += 1
        since = now
        return mayReset && restarts == Self.restartsBeforeReset + 1 ? .resetAdapter : .restart
    }
}
