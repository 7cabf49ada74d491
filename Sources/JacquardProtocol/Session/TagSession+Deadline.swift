public import Time

extension TagSession {
    /// When to call ``deadlineReached(at:)``; nil if the session waits for nothing.
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

    /// Handles all deadlines that have passed. A call before ``deadline`` does nothing.
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
        return actions + gearAnnouncementMissed(at: now) + requestBatteryIfDue(at: now)
    }
}
