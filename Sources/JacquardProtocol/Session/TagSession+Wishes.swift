public import Time

extension TagSession {
    /// Which errors are final.
    public enum RetryRule: Hashable, Sendable, CaseIterable {
        /// None but a lost bond: the tag is known and will come. The SDK's `connect(identifier)`.
        case always
        /// Also the first one before the tag is "paired", which it is when its three notifications are on: what a scan has
        /// found may be gone or somebody else's. From then on as ``always``. The SDK's `connect(tag)`.
        case oncePaired
    }

    /// Somebody wants the tag connected, from now on and again after each loss.
    ///
    /// If it is wanted already, the wish joins the one that is there, of which the more lasting rule stays.
    ///
    /// - Parameters:
    ///   - rule: which errors are final.
    ///   - bonding: whether to make a bond on the next link, before anything else.
    ///   - now: the time.
    /// - Returns: what to do now.
    public mutating func connect(
        retrying rule: RetryRule = .always, bonding: Bool = false, at now: Instant
    ) -> [Action] {
        wantsBond = wantsBond || bonding
        switch state {
        case .stopped:
            retryRule = rule
            return begin(at: now)
        case .closing(let deadline, .stop):
            retryRule = rule
            state = .closing(deadline: deadline, then: .restart)
            return []
        default:
            if rule == .always { retryRule = .always }
            return []
        }
    }

    /// Nobody wants the tag connected any more.
    public mutating func disconnect(at now: Instant) -> [Action] {
        switch state {
        case .stopped, .closing(_, .stop): return []
        case .waiting: return finish(.stop(nil), at: now)
        case .closing(let deadline, _):
            state = .closing(deadline: deadline, then: .stop(nil))
            return []
        default: return close(then: .stop(nil), at: now)
        }
    }

    /// Bluetooth is off: the link is gone, and the state is final until somebody asks for a connection again.
    public mutating func poweredOff(at now: Instant) -> [Action] {
        if case .stopped = state { return [] }
        return linkLost() + finish(.stop(TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")), at: now)
    }

    mutating func begin(at now: Instant) -> [Action] {
        failures = 0
        schedule.reset()
        return startLinking(after: nil, at: now)
    }
}
