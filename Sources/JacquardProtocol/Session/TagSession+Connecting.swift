public import Time

extension TagSession {
    /// Handles a new link.
    public mutating func linkUp(at now: Instant) -> [Action] {
        switch state {
        case .linking(let deadline): return use(until: deadline)
        // The attempt was cancelled, but the link came up: use it for the next attempt.
        case .waiting: return use(until: now + timing.connect)
        case .stopped: return [.disconnect]
        case .bonding, .discovering, .subscribing, .starting, .connected, .closing: return []
        }
    }

    /// Sets up a link. A requested bond is made before service discovery, as on Android.
    private mutating func use(until deadline: Instant) -> [Action] {
        link = Link()
        state = wantsBond ? .bonding(deadline: deadline) : .discovering(deadline: deadline)
        return [emit(.connecting(step: 0)), wantsBond ? .bond : .discover]
    }

    /// Handles a new bond with the tag. A driver also calls it to continue without the requested bond.
    public mutating func bonded(at now: Instant) -> [Action] {
        wantsBond = false
        guard case .bonding(let deadline) = state else { return [] }
        state = .discovering(deadline: deadline)
        return [.discover]
    }

    /// Handles a bond that the tag or its user has refused.
    public mutating func bondingFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .bonding = state else { return [] }
        return fail(error, at: now)
    }

    /// Handles the end of a link, or a failed attempt to make one.
    ///
    /// - Parameters:
    ///   - error: the cause; nil if the session requested it.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
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

    /// Handles a new ATT MTU of the link. It applies from the next packet on.
    public mutating func mtuChanged(to mtu: Int) -> [Action] {
        link.fragmentLength = Fragment.length(mtu: mtu)
        return []
    }

    /// Handles successful discovery of the service and its characteristics.
    ///
    /// - Parameters:
    ///   - properties: the properties of the command characteristic.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
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

    /// Handles failed discovery of the service or its characteristics.
    public mutating func discoveryFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .discovering = state else { return [] }
        return fail(error, at: now)
    }

    /// Handles a successful subscription to one more characteristic.
    public mutating func subscribed(at now: Instant) -> [Action] {
        guard case .subscribing(let deadline, let confirmed) = state else { return [] }
        guard confirmed + 1 == TagCharacteristic.notifying.count else {
            state = .subscribing(deadline: deadline, confirmed: confirmed + 1)
            return [emit(.connecting(step: 3 + confirmed))]
        }
        return didPair(at: now)
    }

    /// Handles a failed subscription.
    public mutating func subscribeFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .subscribing = state else { return [] }
        return fail(error, at: now)
    }
}
