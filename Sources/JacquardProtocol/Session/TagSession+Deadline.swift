public import Time

extension TagSession {
    /// When ``deadlineReached(at:)`` is due next; nil while nothing is waited for.
    public var deadline: Instant? {
        switch state {
        case .stopped: nil
        case .waiting(let until, _): until
        case .linking(let deadline), .bonding(let deadline), .discovering(let deadline), .subscribing(let deadline, _):
            deadline
        case .closing(let deadline, _): deadline
        case .starting, .connected: link.deadline
        }
    }

    /// A time that was waited for has come, or may have: what is not due yet stays.
    public mutating func deadlineReached(at now: Instant) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .stopped: return []
        case .waiting(_, let error): return startLinking(after: error, at: now)
        case .linking, .bonding, .discovering, .subscribing: return connectionTimedOut(at: now)
        case .closing(_, let ending): return finish(ending, at: now)
        case .starting, .connected: return linkDeadlineReached(at: now)
        }
    }

    private mutating func linkDeadlineReached(at now: Instant) -> [Action] {
        if let due = link.fragments.deadline, due <= now {
            let seconds = timing.write.components.seconds
            return fail(
                TagConnectionError(.bluetoothConnectionError, "a write was not confirmed within \(seconds) s"), at: now)
        }
        let actions = requestExpired(at: now)
        guard isConnected else { return actions }
        return actions + gearAnnouncementMissed(at: now) + askForBatteryIfDue(at: now)
    }
}
