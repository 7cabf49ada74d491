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

    // MARK: Wishes

    /// Somebody wants the tag connected, from now on and again after each loss. Nothing happens if it is wanted already.
    public mutating func connect(at now: ContinuousClock.Instant) -> [Action] {
        switch state {
        case .stopped:
            attempt = 1
            lastError = nil
            schedule.reset()
            return startLinking(at: now)
        case .closing(let deadline, .stop):
            let canceled = TagConnectionError(.bluetoothConnectionError, "the connection was asked for again")
            state = .closing(deadline: deadline, then: .retry(canceled))
            return []
        default: return []
        }
    }

    /// Nobody wants the tag connected any more.
    public mutating func disconnect(at now: ContinuousClock.Instant) -> [Action] {
        switch state {
        case .stopped: return []
        case .waiting: return finish(.stop(nil), at: now)
        case .closing(let deadline, _):
            state = .closing(deadline: deadline, then: .stop(nil))
            return []
        default: return close(then: .stop(nil), at: now)
        }
    }

    /// Bluetooth is off: the link is gone, and the state is final until somebody asks for a connection again.
    public mutating func poweredOff(at now: ContinuousClock.Instant) -> [Action] {
        if case .stopped = state { return [] }
        return linkLost() + finish(.stop(TagConnectionError(.bluetoothPowerOff, "Bluetooth is off")), at: now)
    }

    // MARK: What the link does

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

    // MARK: Steps

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
