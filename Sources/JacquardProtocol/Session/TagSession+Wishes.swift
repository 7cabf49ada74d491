extension TagSession {
    /// Somebody wants the tag connected, from now on and again after each loss. Nothing happens if it is wanted already.
    public mutating func connect(at now: ContinuousClock.Instant) -> [Action] {
        switch state {
        case .stopped: return begin(at: now)
        case .closing(let deadline, .stop):
            state = .closing(deadline: deadline, then: .restart)
            return []
        default: return []
        }
    }

    /// Nobody wants the tag connected any more.
    public mutating func disconnect(at now: ContinuousClock.Instant) -> [Action] {
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
    public mutating func poweredOff(at now: ContinuousClock.Instant) -> [Action] {
        if case .stopped = state { return [] }
        return linkLost() + finish(.stop(TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")), at: now)
    }

    mutating func begin(at now: ContinuousClock.Instant) -> [Action] {
        failures = 0
        schedule.reset()
        return startLinking(after: nil, at: now)
    }
}
