extension TagSession {
    mutating func startLinking(at now: ContinuousClock.Instant) -> [Action] {
        state = .linking(deadline: now + timing.connect)
        return [emit(.preparingToConnect, lastError), .connect]
    }

    /// Takes the link down; what comes then is known now.
    mutating func close(then ending: Ending, at now: ContinuousClock.Instant) -> [Action] {
        let lost = linkLost()
        state = .closing(deadline: now + timing.close, then: ending)
        guard case .retry(let error) = ending else { return lost + [.disconnect] }
        lastError = error
        return lost + [emit(.preparingToConnect, error), .disconnect]
    }

    /// The link is down.
    mutating func finish(_ ending: Ending, at now: ContinuousClock.Instant) -> [Action] {
        switch ending {
        case .retry(let error) where error.code != .peerRemovedPairingInfo:
            attempt += 1
            lastError = error
            // An attempt that found nobody has cost the radio nothing: the next may begin at once.
            let pause = error.code == .connectionTimeout ? .zero : schedule.next()
            state = .waiting(until: now + pause)
            return [emit(.preparingToConnect, error, retryAt: now + pause)]
        case .retry(let error): return stop(error)
        case .stop(let error): return stop(error)
        }
    }

    private mutating func stop(_ error: TagConnectionError?) -> [Action] {
        state = .stopped
        lastError = error
        return [emit(.disconnected, error)]
    }

    func emit(
        _ state: TagConnection.State, _ error: TagConnectionError? = nil, retryAt: ContinuousClock.Instant? = nil
    ) -> Action {
        .emit(.connection(TagConnection(state: state, attempt: max(1, attempt), error: error, retryAt: retryAt)))
    }
}
