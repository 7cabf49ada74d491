import Time

extension TagSession {
    mutating func startLinking(after error: TagConnectionError?, at now: Instant) -> [Action] {
        state = .linking(deadline: now + timing.connect)
        return [emit(.preparingToConnect, error), .connect]
    }

    /// Handles a failure while the link is up: disconnects.
    mutating func fail(_ error: TagConnectionError, at now: Instant) -> [Action] {
        close(then: ending(after: error, at: now), at: now)
    }

    /// Handles an attempt that did not reach the start of the protocol in time.
    mutating func connectionTimedOut(at now: Instant) -> [Action] {
        let seconds = timing.connect.components.seconds
        let error = TagConnectionError(.connectionTimeout, "no connection within \(seconds) s")
        guard case .linking = state else { return fail(error, at: now) }
        // The tag did not advertise: the next attempt may start at once.
        return close(then: ending(after: error, pause: .zero, at: now), at: now)
    }

    /// Decides what follows an error: a retry after the given or the scheduled pause, or the end.
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

    /// Disconnects, and stores what follows once the link is down.
    mutating func close(then ending: Ending, at now: Instant) -> [Action] {
        let lost = linkLost()
        state = .closing(deadline: now + timing.close, then: ending)
        // All other states are reported once the link is down.
        guard case .retry(let error, let pause) = ending, pause > .zero else { return lost + [.disconnect] }
        return lost + [emit(.preparingToConnect, error), .disconnect]
    }

    /// Continues after the link is down.
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
