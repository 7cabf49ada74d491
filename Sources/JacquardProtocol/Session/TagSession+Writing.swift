extension TagSession {
    /// The last write was confirmed or accepted.
    public mutating func written(at now: ContinuousClock.Instant) -> [Action] {
        if let fragment = link.fragments.written() { return [write(fragment)] }
        return sendNext(at: now)
    }

    /// The last write was refused.
    ///
    /// - Parameters:
    ///   - error: the stack's name and words.
    ///   - isNotPermitted: ATT error 3, which a tag gives that takes writes without response only.
    ///   - now: the time.
    public mutating func writeFailed(
        _ error: TagConnectionError, isNotPermitted: Bool, at now: ContinuousClock.Instant
    ) -> [Action] {
        link.fragments.abandon()
        _ = link.fragments.written()
        switch state {
        case .starting where isNotPermitted && link.writesWithResponse: return repeatHello(at: now)
        case .starting: return close(then: .retry(error), at: now)
        case .connected:
            guard let purpose = link.requests.landed() else { return sendNext(at: now) }
            let failure = TagCommandError.writeFailed(name: error.stackName ?? "", text: error.text)
            return failed(purpose, failure, at: now) + sendNext(at: now)
        default: return []
        }
    }

    /// The rest of the protocol's start goes without response, beginning with a new hello; the failed request is
    /// dropped. Protocol article, "Protocol start".
    private mutating func repeatHello(at now: ContinuousClock.Instant) -> [Action] {
        link.writesWithResponse = false
        link.repeatedHellos += 1
        _ = link.requests.drain()
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return sendNext(at: now)
    }

    /// Sends the next request if the last one has ended and its packet is out.
    mutating func sendNext(at now: ContinuousClock.Instant) -> [Action] {
        guard !link.fragments.isWriting, let (packet, purpose) = link.requests.next(at: now) else { return [] }
        guard let fragment = link.fragments.send(packet) else { return [] }
        return announcement(of: purpose) + [write(fragment)]
    }

    private func write(_ fragment: [UInt8]) -> Action {
        .write(fragment, withResponse: link.writesWithResponse)
    }

    private func announcement(of purpose: Purpose) -> [Action] {
        let more = link.repeatedHellos
        return switch purpose {
        case .hello: [emit(.initializing(step: 6 + more))]
        case .begin: [emit(.initializing(step: 7 + more))]
        case .tagInformation: [emit(.initializing(step: 8 + more))]
        case .configuration: [emit(.configuring(step: 10 + more))]
        default: []
        }
    }
}
