extension TagSession {
    /// When ``deadlineReached(at:)`` is due next; nil while nothing is waited for.
    public var deadline: ContinuousClock.Instant? {
        switch state {
        case .stopped: nil
        case .waiting(let until): until
        case .linking(let deadline), .discovering(let deadline), .subscribing(let deadline, _): deadline
        case .closing(let deadline, _): deadline
        case .starting, .connected:
            [link.requests.inFlight?.deadline, link.gearDeadline].compactMap { $0 }.min()
        }
    }

    /// A time that was waited for has come, or may have: what is not due yet stays.
    public mutating func deadlineReached(at now: ContinuousClock.Instant) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .stopped: return []
        case .waiting: return startLinking(at: now)
        case .linking, .discovering, .subscribing:
            let seconds = timing.connect.components.seconds
            return close(
                then: .retry(TagConnectionError(.connectionTimeout, "no connection within \(seconds) s")), at: now)
        case .closing(_, let ending): return finish(ending, at: now)
        case .starting, .connected: return requestExpired(at: now) + gearAnnouncementMissed(at: now)
        }
    }
}
