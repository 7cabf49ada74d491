public import Time

extension TagSession {
    /// Which errors are final.
    public enum RetryRule: Hashable, Sendable, CaseIterable {
        /// Only a lost bond. For a known tag. The SDK's `connect(identifier)`.
        case always
        /// Any error before the three subscriptions are confirmed, then as ``always``. For a tag found by a scan,
        /// which may be
        /// gone or belong to another user. The SDK's `connect(tag)`.
        case oncePaired
    }

    /// Connects the tag, and reconnects it after each loss.
    ///
    /// If a connection is requested already, both requests are merged; ``RetryRule/always`` takes precedence.
    ///
    /// - Parameters:
    ///   - rule: which errors are final.
    ///   - bonding: whether to make a bond on the next link before service discovery.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
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

    /// Disconnects the tag.
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

    /// Handles Bluetooth being switched off. Ends the link; the state is final until the next call to `connect`.
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
