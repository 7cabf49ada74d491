import Time

extension TagSession {
    mutating func startLinking(after error: TagConnectionError?, at now: Instant) -> [Action] {
        state = .linking(deadline: now + timing.connect)
        return [emit(.preparingToConnect, error), .connect]
    }

    /// Something has failed while the link is up: takes it down.
    mutating func fail(_ error: TagConnectionError, at now: Instant) -> [Action] {
        close(then: ending(after: error, at: now), at: now)
    }

    /// No link, or not all that makes it useful, in time.
    mutating func connectionTimedOut(at now: Instant) -> [Action] {
        let seconds = timing.connect.components.seconds
        let error = TagConnectionError(.connectionTimeout, "no connection within \(seconds) s")
        guard case .linking = state else { return fail(error, at: now) }
        // An attempt that found nobody has cost the radio nothing: the next may begin at once.
        return close(then: ending(after: error, pause: .zero, at: now), at: now)
    }

    /// What comes after an error: an attempt after this pause, or after one that grows.
    mutating func ending(
        after error: TagConnectionError, pause: Duration? = nil, at now: Instant
    ) -> Ending {
        guard error.code != .peerRemovedPairingInfo, retryRule == .always else { return .stop(error) }
        guard case .connected(let since) = state else {
            failures += 1
            return .retry(error, pause: pause ?? schedule.next())
        }
        failures = 0
        if now - since >= timing.stable { schedule.reset() }
        return .retry(error, pause: pause ?? schedule.nextOnceConnected())
    }

    /// Takes the link down; what comes then is known now.
    mutating func close(then ending: Ending, at now: Instant) -> [Action] {
        let lost = linkLost()
        state = .closing(deadline: now + timing.close, then: ending)
        // The others are told when the link is down, for only then they are true.
        guard case .retry(let error, let pause) = ending, pause > .zero else { return lost + [.disconnect] }
        return lost + [emit(.preparingToConnect, error), .disconnect]
    }

    /// The link is down.
    mutating func finish(_ ending: Ending, at now: Instant) -> [Action] {
        switch ending {
        case .retry(let error, let pause) where pause > .zero:
            state = .waiting(until: now + pause, after: error)
            return [emit(.preparingToConnect, error, retryAt: now + pause)]
        case .retry(let error, _): return startLinking(after: error, at: now)
        case .restart: return begin(at: now)
        case .stop(let error):
            state = .stopped
            return [emit(.disconnected, error)]
        }
    }
}
