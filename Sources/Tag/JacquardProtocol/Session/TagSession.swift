public import Time

/// State machine of one tag: connecting, protocol start, commands, notifications and reconnecting.
///
/// Each method takes an event and the current time, and returns the actions to perform. A driver performs them in
/// order, and calls ``deadlineReached(at:)`` at ``deadline``. Events that do not fit the state, such as a late event of
/// an earlier link, are ignored.
///
/// The session itself makes and ends links. What happens on a link after its notifications are enabled is the subject
/// of `TagLink`. Source: protocol article, "Steps"; JacquardSDKiOS, `TagConnectionStateMachine`.
public struct TagSession: Sendable {
    private enum State {
        /// No connection is requested.
        case stopped
        /// Waiting for the next attempt. `after` is the error of the last one.
        case waiting(until: Instant, after: TagConnectionError)
        /// A link is being made.
        case linking(deadline: Instant)
        /// A bond is being made. The user may have to press the tag's button.
        case bonding(deadline: Instant)
        /// Service discovery is in progress.
        case discovering(deadline: Instant)
        /// Subscriptions are in progress. `confirmed` is the number of successful ones.
        case subscribing(deadline: Instant, confirmed: Int)
        /// Notifications are enabled: the protocol is being started, or the tag accepts commands.
        case open
        /// The link is being disconnected.
        case closing(deadline: Instant, then: Ending)
    }

    /// The step after the end of the link.
    private enum Ending {
        /// Another attempt, after a pause.
        case retry(TagConnectionError, pause: Duration)
        /// A new connection: it was requested while the session was stopping.
        case restart
        /// The end: requested, or after an error that no retry can fix.
        case stop(TagConnectionError?)
    }

    private let shared: SharedTiming
    private var catalogue: GearCatalogue
    private var state = State.stopped
    /// The protocol on the current link, or on the last one.
    private var link: TagLink
    private var schedule: ReconnectSchedule
    private var retryRule = RetryRule.always
    /// Whether to make a bond on the next link.
    private var wantsBond = false
    /// The number of failed attempts since the tag was last connected.
    private var failures = 0
    /// The views of raw data to report.
    private var rawViews: RawViews = []
    /// Whether the session has stopped because the tag had lost its bond, and a new bond starts it again.
    public private(set) var waitsForBond = false

    /// Creates a stopped session.
    ///
    /// - Parameters:
    ///   - timing: timeouts and intervals.
    ///   - catalogue: names and capabilities of gear.
    ///   - seed: seed of the jitter of the pauses between attempts.
    public init(timing: Timing = Timing(), catalogue: GearCatalogue = .builtIn, seed: UInt64) {
        self.init(sharing: SharedTiming(timing), catalogue: catalogue, seed: seed)
    }

    /// Creates a stopped session that shares its timeouts with others.
    ///
    /// - Parameters:
    ///   - timing: timeouts and intervals.
    ///   - catalogue: names and capabilities of gear.
    ///   - seed: seed of the jitter of the pauses between attempts.
    public init(sharing timing: SharedTiming, catalogue: GearCatalogue = .builtIn, seed: UInt64) {
        shared = timing
        self.catalogue = catalogue
        link = TagLink(timing: shared, catalogue: catalogue, attempt: 1)
        schedule = ReconnectSchedule(seed: seed)
    }

    private var timing: Timing { shared.values }

    // MARK: State

    /// Whether the tag accepts commands.
    public var isConnected: Bool { connectedAt != nil }

    /// Whether the session uses a link: from service discovery on, not while a bond is being made before it.
    public var usesLink: Bool {
        switch state {
        case .discovering, .subscribing, .open: true
        case .stopped, .waiting, .linking, .bonding, .closing: false
        }
    }

    /// Whether the session waits for a link.
    public var isLinking: Bool {
        if case .linking = state { true } else { false }
    }

    /// Whether the session is disconnecting and will then stop.
    public var isStopping: Bool {
        if case .closing(_, .stop) = state { true } else { false }
    }

    /// When to call ``deadlineReached(at:)``; nil if the session waits for nothing.
    public var deadline: Instant? {
        switch state {
        case .stopped: nil
        case .waiting(let until, _): until
        case .linking(let deadline), .bonding(let deadline), .discovering(let deadline), .subscribing(let deadline, _):
            deadline
        case .open: link.deadline
        case .closing(let deadline, _): deadline
        }
    }

    /// Returns ``deadline`` and ``isLinking``. Changes nothing: it is mutating because a driver asks for them after each
    /// event, and the session is copied for other calls.
    public mutating func expectation() -> (deadline: Instant?, isLinking: Bool) { (deadline, isLinking) }

    private var connectedAt: Instant? {
        if case .open = state { link.connectedAt } else { nil }
    }

    /// Changes the state and returns the actions of this transition. All transitions use this method.
    private mutating func move(to next: State, _ actions: Action...) -> [Action] {
        state = next
        return actions
    }

    // MARK: Requests of the user

    /// Connects the tag, and reconnects it after each loss.
    ///
    /// If a connection is requested already, both requests are merged; ``RetryRule/always`` takes precedence.
    ///
    /// - Parameters:
    ///   - rule: which errors are final.
    ///   - bonding: whether to make a bond on the next link before service discovery.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func connect(
        retrying rule: RetryRule = .always, bonding: Bool = false, at now: Instant
    ) -> [Action] {
        wantsBond = wantsBond || bonding
        waitsForBond = false
        switch state {
        case .stopped:
            retryRule = rule
            return begin(at: now)
        case .closing(let deadline, .stop):
            retryRule = rule
            return move(to: .closing(deadline: deadline, then: .restart))
        default:
            if rule == .always { retryRule = .always }
            return []
        }
    }

    /// Whether the session pauses before the next attempt.
    public var isPausing: Bool {
        if case .waiting = state { true } else { false }
    }

    /// Ends the pause before the next attempt; the pauses begin again with the shortest one.
    public mutating func endPause(at now: Instant) -> [Action] {
        guard case .waiting(_, let error) = state else { return [] }
        schedule.reset()
        return startLinking(after: error, at: now)
    }

    /// Disconnects the tag.
    public mutating func disconnect(at now: Instant) -> [Action] {
        waitsForBond = false
        return switch state {
        case .stopped, .closing(_, .stop): []
        case .waiting: finish(.stop(nil), at: now)
        case .closing(let deadline, _): move(to: .closing(deadline: deadline, then: .stop(nil)))
        case .linking, .bonding, .discovering, .subscribing, .open: close(then: .stop(nil), at: now)
        }
    }

    /// Enqueues a command. Each command ends with exactly one ``TagEvent/commandEnded(token:_:)``, at once or later.
    ///
    /// - Parameters:
    ///   - command: the command. If the component does not support it, nothing is sent.
    ///   - token: identifies the command in `commandEnded`.
    ///   - isFirst: whether it precedes the commands that wait, except earlier ones with the same right.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func enqueue(
        _ command: TagCommand, token: UInt64, isFirst: Bool = false, at now: Instant
    ) -> [Action] {
        guard isConnected else { return [.emit(.commandEnded(token: token, .failure(.notConnected)))] }
        var actions: [Action] = []
        link.enqueue(command, token: token, isFirst: isFirst, at: now, &actions)
        return actions
    }

    /// Selects the views of raw data that are reported, on this link and later ones.
    public mutating func observeRawData(_ views: RawViews) -> [Action] {
        rawViews = views
        link.bulk.views = views
        return []
    }

    /// Replaces the gear catalogue. Attached gear is reported again if its description changes.
    public mutating func adopt(_ catalogue: GearCatalogue) -> [Action] {
        self.catalogue = catalogue
        var actions: [Action] = []
        link.adopt(catalogue, &actions)
        return actions
    }

    // MARK: Events of the link

    /// Handles Bluetooth becoming unusable. Ends the link; the state is final until the next call to `connect`.
    ///
    /// - Parameters:
    ///   - error: why Bluetooth is unusable.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func poweredOff(_ error: TagConnectionError, at now: Instant) -> [Action] {
        if case .stopped = state { return [] }
        return endLink() + finish(.stop(error), at: now)
    }

    /// Handles a new link.
    public mutating func linkUp(at now: Instant) -> [Action] {
        switch state {
        case .linking(let deadline): use(until: deadline)
        // The attempt was cancelled, but the link came up: use it for the next attempt.
        case .waiting: use(until: now + timing.connect)
        case .stopped: [.disconnect]
        case .bonding, .discovering, .subscribing, .open, .closing: []
        }
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
        case .linking, .bonding, .discovering, .subscribing, .open:
            let error = error ?? TagConnectionError(.bluetoothConnectionError, "the link was dropped")
            return endLink() + finish(ending(after: error, at: now), at: now)
        }
    }

    /// Handles the cause of the last link's end, if it is found out before the next link.
    public mutating func correctLoss(_ error: TagConnectionError) -> [Action] {
        switch state {
        case .waiting(let until, _):
            move(to: .waiting(until: until, after: error), report(.preparingToConnect, error, retryAt: until))
        case .linking: [report(.preparingToConnect, error)]
        case .stopped, .bonding, .discovering, .subscribing, .open, .closing: []
        }
    }

    /// Handles a new ATT MTU of the link. It applies from the next packet on.
    public mutating func mtuChanged(to mtu: Int) -> [Action] {
        link.mtuChanged(to: mtu)
        return []
    }

    /// Handles a new bond with the tag. A driver also calls it to continue without the requested bond.
    public mutating func bonded(at now: Instant) -> [Action] {
        wantsBond = false
        guard case .bonding(let deadline) = state else { return [] }
        return move(to: .discovering(deadline: deadline), .discover)
    }

    /// Handles a new bond with a tag that is not connected: another program on this host may have paired it. Connects the tag if
    /// the session has stopped because the former bond was lost.
    public mutating func bondRenewed(at now: Instant) -> [Action] {
        guard waitsForBond, case .stopped = state else { return [] }
        return connect(retrying: .always, at: now)
    }

    /// Handles a bond that the tag or its user has refused.
    public mutating func bondingFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .bonding = state else { return [] }
        return fail(error, at: now)
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
            return [report(.connecting(step: 1))] + fail(error, at: now)
        }
        link.discovered(properties)
        return move(
            to: .subscribing(deadline: deadline, confirmed: 0),
            report(.connecting(step: 1)), report(.connecting(step: 2))
        ) + TagCharacteristic.notifying.map(Action.subscribe)
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
            return move(
                to: .subscribing(deadline: deadline, confirmed: confirmed + 1), report(.connecting(step: 3 + confirmed))
            )
        }
        // From now on the connection is retried whatever the rule was.
        retryRule = .always
        var actions = move(to: .open)
        link.start(at: now, &actions)
        return actions
    }

    /// Handles a failed subscription.
    public mutating func subscribeFailed(_ error: TagConnectionError, at now: Instant) -> [Action] {
        guard case .subscribing = state else { return [] }
        return fail(error, at: now)
    }

    // MARK: Values of characteristics

    /// Handles the confirmation of a write.
    public mutating func written(at now: Instant) -> [Action] {
        var actions: [Action] = []
        link.written(at: now, &actions)
        return actions
    }

    /// Handles a failed write.
    ///
    /// - Parameters:
    ///   - error: the error with the stack's name and text.
    ///   - isNotPermitted: whether it is ATT error 3, which tags return that permit only writes without response.
    ///   - isUnsent: whether the stack was too busy to send the value.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func writeFailed(
        _ error: TagConnectionError, isNotPermitted: Bool, isUnsent: Bool = false, at now: Instant
    ) -> [Action] {
        var actions: [Action] = []
        do throws(TagConnectionError) {
            try link.writeFailed(error, isNotPermitted: isNotPermitted, isUnsent: isUnsent, at: now, &actions)
        } catch {
            actions += fail(error, at: now)
        }
        return actions
    }

    /// Handles a notified value.
    ///
    /// - Parameters:
    ///   - value: a fragment of a packet.
    ///   - characteristic: the characteristic.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func received(
        _ value: [UInt8], on characteristic: TagCharacteristic, at now: Instant
    ) -> [Action] {
        switch state {
        // The tag sends battery and gear right after the subscription, and gestures until the link is down, which may
        // take seconds.
        case .subscribing, .open, .closing: break
        case .stopped, .waiting, .linking, .bonding, .discovering: return []
        }
        var actions: [Action] = []
        do throws(TagConnectionError) {
            try link.received(value, on: characteristic, at: now, &actions)
        } catch {
            actions += fail(error, at: now)
        }
        return actions
    }

    // MARK: Time

    /// Handles all deadlines that have passed. A call before ``deadline`` does nothing.
    public mutating func deadlineReached(at now: Instant) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .stopped: return []
        case .waiting(_, let error): return startLinking(after: error, at: now)
        // The tag did not advertise: the next attempt may start at once.
        case .linking: return close(then: ending(after: connectionTimeout, pause: .zero, at: now), at: now)
        case .bonding, .discovering, .subscribing: return fail(connectionTimeout, at: now)
        case .closing(_, let ending): return finish(ending, at: now)
        case .open:
            var actions: [Action] = []
            do throws(TagConnectionError) {
                try link.deadlineReached(at: now, &actions)
            } catch {
                actions += fail(error, at: now)
            }
            return actions
        }
    }

    private var connectionTimeout: TagConnectionError {
        TagConnectionError(.connectionTimeout, "no connection within \(timing.connect.components.seconds) s")
    }

    // MARK: Transitions

    private mutating func begin(at now: Instant) -> [Action] {
        failures = 0
        schedule.reset()
        return startLinking(after: nil, at: now)
    }

    private mutating func startLinking(after error: TagConnectionError?, at now: Instant) -> [Action] {
        move(to: .linking(deadline: now + timing.connect), report(.preparingToConnect, error), .connect)
    }

    /// Sets up a link. A requested bond is made before service discovery, as on Android.
    private mutating func use(until deadline: Instant) -> [Action] {
        link = TagLink(timing: shared, catalogue: catalogue, attempt: failures + 1)
        if !rawViews.isEmpty { link.bulk.views = rawViews }
        return wantsBond
            ? move(to: .bonding(deadline: deadline), report(.connecting(step: 0)), .bond)
            : move(to: .discovering(deadline: deadline), report(.connecting(step: 0)), .discover)
    }

    /// Handles a failure while the link is up: disconnects.
    private mutating func fail(_ error: TagConnectionError, at now: Instant) -> [Action] {
        close(then: ending(after: error, at: now), at: now)
    }

    /// Decides what follows an error: a retry after the given or the scheduled pause, or the end.
    private mutating func ending(
        after error: TagConnectionError, pause: Duration? = nil, at now: Instant
    ) -> Ending {
        guard error.code != .peerRemovedPairingInfo, retryRule == .always else { return .stop(error) }
        guard let connectedAt else {
            failures += 1
            let isPresent = error.code == .inUse
            return .retry(error, pause: pause ?? (isPresent ? schedule.nextWhilePresent() : schedule.next()))
        }
        failures = 0
        if now - connectedAt >= timing.stable { schedule.reset() }
        return .retry(error, pause: pause ?? schedule.nextWhilePresent())
    }

    /// Disconnects, and stores what follows once the link is down.
    private mutating func close(then ending: Ending, at now: Instant) -> [Action] {
        var actions = endLink()
        // All other states are reported once the link is down.
        if case .retry(let error, let pause) = ending, pause > .zero {
            actions.append(report(.preparingToConnect, error))
        }
        return actions + move(to: .closing(deadline: now + timing.close, then: ending), .disconnect)
    }

    /// Continues after the link is down.
    private mutating func finish(_ ending: Ending, at now: Instant) -> [Action] {
        var actions: [Action] = []
        link.linkDown(&actions)
        return actions + next(after: ending, at: now)
    }

    private mutating func next(after ending: Ending, at now: Instant) -> [Action] {
        switch ending {
        case .retry(let error, let pause) where pause > .zero:
            move(
                to: .waiting(until: now + pause, after: error),
                report(.preparingToConnect, error, retryAt: now + pause))
        case .retry(let error, _): startLinking(after: error, at: now)
        case .restart: begin(at: now)
        case .stop(let error): stop(error)
        }
    }

    private mutating func stop(_ error: TagConnectionError?) -> [Action] {
        waitsForBond = error?.code == .peerRemovedPairingInfo
        return move(to: .stopped, report(.disconnected, error))
    }

    /// Ends the commands of a link that is down or will be disconnected.
    private mutating func endLink() -> [Action] {
        var actions: [Action] = []
        link.end(&actions)
        return actions
    }

    private func report(
        _ state: TagConnection.State, _ error: TagConnectionError? = nil, retryAt: Instant? = nil
    ) -> Action {
        .emit(.connection(TagConnection(state: state, attempt: failures + 1, error: error, retryAt: retryAt)))
    }
}
