extension TagSession {
    /// What lives as long as one link.
    struct Link: Sendable {
        var properties: Properties = []
        /// Whether the command characteristic is written with response.
        var writesWithResponse = true
        /// How often hello had to be sent again; all later steps are so many higher.
        var repeatedHellos = 0
        var responses = Reassembler()
        var notifications = Reassembler()
        var requests = RequestQueue<Purpose>()
        var fragments = FragmentQueue()
        var gear: Component?
        /// Whether the tag has told its gear, or that there is none.
        var isGearKnown = false
        var gearDeadline: ContinuousClock.Instant?
    }

    /// What the command characteristic takes.
    public struct Properties: OptionSet, Hashable, Sendable {
        /// Bits of our own.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Write with response.
        public static let write = Properties(rawValue: 1)
        /// Write without response. Firmware below 1.43.0 takes nothing else.
        public static let writeWithoutResponse = Properties(rawValue: 2)
    }

    /// The link is up.
    public mutating func linkUp(at now: ContinuousClock.Instant) -> [Action] {
        guard case .linking(let deadline) = state else { return [] }
        link = Link()
        lastError = nil
        state = .discovering(deadline: deadline)
        return [emit(.connecting(step: 0)), .discover]
    }

    /// The link is down, or could not be made.
    ///
    /// - Parameter error: why; nil when it was asked for.
    public mutating func linkDown(_ error: TagConnectionError?, at now: ContinuousClock.Instant) -> [Action] {
        switch state {
        case .stopped, .waiting: return []
        case .closing(_, let ending): return finish(ending, at: now)
        case .connected(let since):
            if now - since >= timing.stable { schedule.reset() }
            attempt = 0
        case .linking, .discovering, .subscribing, .starting: break
        }
        let error = error ?? TagConnectionError(.bluetoothConnectionError, "the link was dropped")
        return linkLost() + finish(.retry(error), at: now)
    }

    /// Service and characteristics are there.
    ///
    /// - Parameter properties: what the command characteristic takes.
    public mutating func discovered(_ properties: Properties, at now: ContinuousClock.Instant) -> [Action] {
        guard case .discovering(let deadline) = state else { return [] }
        guard !properties.isEmpty else {
            let error = TagConnectionError(
                .characteristicDiscoveryError, "the command characteristic takes no writes")
            return [emit(.connecting(step: 1))] + close(then: .retry(error), at: now)
        }
        link.properties = properties
        link.writesWithResponse = properties.contains(.write)
        state = .subscribing(deadline: deadline, confirmed: 0)
        return [emit(.connecting(step: 1)), emit(.connecting(step: 2))]
            + TagCharacteristic.notifying.map(Action.subscribe)
    }

    /// Service or characteristics are not there.
    public mutating func discoveryFailed(_ error: TagConnectionError, at now: ContinuousClock.Instant) -> [Action] {
        guard case .discovering = state else { return [] }
        return close(then: .retry(error), at: now)
    }

    /// Notifications of one more characteristic are on.
    public mutating func subscribed(at now: ContinuousClock.Instant) -> [Action] {
        guard case .subscribing(let deadline, let confirmed) = state else { return [] }
        guard confirmed + 1 == TagCharacteristic.notifying.count else {
            state = .subscribing(deadline: deadline, confirmed: confirmed + 1)
            return [emit(.connecting(step: 3 + confirmed))]
        }
        state = .starting
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return [emit(.initializing(step: 5))] + sendNext(at: now)
    }

    /// Notifications of a characteristic could not be switched on.
    public mutating func subscribeFailed(_ error: TagConnectionError, at now: ContinuousClock.Instant) -> [Action] {
        guard case .subscribing = state else { return [] }
        return close(then: .retry(error), at: now)
    }
}
