public import Time

extension TagSession {
    /// The link is up.
    public mutating func linkUp(at now: Instant) -> [Action] {
        switch state {
        case .linking(let deadline): return use(until: deadline)
        // A link that was given up has come up all the same: it serves the next attempt, or nobody.
        case .waiting: return use(until: now + timing.connect)
        case .stopped: return [.disconnect]
        case .bonding, .discovering, .subscribing, .starting, .connected, .closing: return []
        }
    }

    /// Android makes the bond before it looks at the service, and so do we where one is wanted.
    private mutating func use(until deadline: Instant) -> [Action] {
        link = Link()
        state = wantsBond ? .bonding(deadline: deadline) : .discovering(deadline: deadline)
        return [emit(.connecting(step: 0)), wantsBond ? .bond : .discover]
    }

    /// There is a bond with the tag now.
    public mutating func bonded(at now: Instant) -> [Action] {
        wantsBond = false
        guard case .bonding(let deadline) = state else { return [] }
        state = .discovering(deadline: deadline)
        return [.discover]
    }

    /// The tag, or its user, refuses a bond.
    public mutating func bondingFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .bonding = state else { return [] }
        return fail(error, at: now)
    }

    /// The link is down, or could not be made.
    ///
    /// - Parameters:
    ///   - error: why; nil when it was asked for.
    ///   - now: the time.
    /// - Returns: what to do now.
    public mutating func linkDown(_ error: TagConnectionError?, at now: Instant) -> [Action] {
        switch state {
        case .stopped, .waiting: return []
        case .closing(_, .stop(let error)): return finish(.stop(error), at: now)
        case .closing(_, let ending):
            guard let error, error.code == .peerRemovedPairingInfo else { return finish(ending, at: now) }
            return finish(.stop(error), at: now)
        case .linking, .bonding, .discovering, .subscribing, .starting, .connected:
            let error = error ?? TagConnectionError(.bluetoothConnectionError, "the link was dropped")
            return linkLost() + finish(ending(after: error, at: now), at: now)
        }
    }

    /// The link's ATT MTU became known, or has changed. Counts from the next packet on.
    public mutating func mtuChanged(to mtu: Int) -> [Action] {
        link.fragmentLength = Fragment.length(mtu: mtu)
        return []
    }

    /// Service and characteristics are there.
    ///
    /// - Parameters:
    ///   - properties: what the command characteristic takes.
    ///   - now: the time.
    /// - Returns: what to do now.
    public mutating func discovered(_ properties: Properties, at now: Instant) -> [Action] {
        guard case .discovering(let deadline) = state else { return [] }
        guard !properties.isEmpty else {
            let error = TagConnectionError(
                .characteristicDiscoveryError, "the command characteristic takes no writes")
            return [emit(.connecting(step: 1))] + fail(error, at: now)
        }
        link.properties = properties
        link.writesWithResponse = properties.contains(.write)
        state = .subscribing(deadline: deadline, confirmed: 0)
        return [emit(.connecting(step: 1)), emit(.connecting(step: 2))]
            + TagCharacteristic.notifying.map(Action.subscribe)
    }

    /// Service or characteristics are not there.
    public mutating func discoveryFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .discovering = state else { return [] }
        return fail(error, at: now)
    }

    /// Notifications of one more characteristic are on.
    public mutating func subscribed(at now: Instant) -> [Action] {
        guard case .subscribing(let deadline, let confirmed) = state else { return [] }
        guard confirmed + 1 == TagCharacteristic.notifying.count else {
            state = .subscribing(deadline: deadline, confirmed: confirmed + 1)
            return [emit(.connecting(step: 3 + confirmed))]
        }
        return didPair(at: now)
    }

    /// Notifications of a characteristic could not be switched on.
    public mutating func subscribeFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .subscribing = state else { return [] }
        return fail(error, at: now)
    }
}
