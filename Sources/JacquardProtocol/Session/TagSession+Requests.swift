extension TagSession {
    /// What a request is for.
    enum Purpose: Hashable, Sendable {
        case hello
        case begin
        case tagInformation
        case configuration
        /// Touch mode of gear that has just been attached: its two requests.
        case gearTouchMode(component: UInt32)
        case gearQueueDepth(component: UInt32)
        case gearInformation(component: UInt32)
        /// A command of the user.
        case command(token: UInt64, CommandStep)
    }

    /// What the answer to a request of a command has to hold, and what follows.
    enum CommandStep: Hashable, Sendable {
        case acknowledged
        case battery
        case touchMode(TouchMode, component: UInt32)
        case touchQueueDepth(TouchMode)
    }

    // MARK: Writing

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

    // MARK: Answers

    /// Takes a packet of the response characteristic.
    mutating func answered(_ packet: ArraySlice<UInt8>, at now: ContinuousClock.Instant) -> [Action] {
        // Without an id it is the answer to nothing: the request times out.
        guard let response = try? Response.decode(packet) else { return [] }
        guard let purpose = link.requests.answered(id: response.id) else { return [] }
        // The tag has heard enough to answer; what is left of the packet would only disturb the next.
        link.fragments.abandon()
        let actions =
            response.status == .ok
            ? succeeded(purpose, response, at: now) : failed(purpose, .status(response.status), at: now)
        return actions + sendNext(at: now)
    }

    mutating func requestExpired(at now: ContinuousClock.Instant) -> [Action] {
        guard let purpose = link.requests.expired(at: now) else { return [] }
        link.fragments.abandon()
        return failed(purpose, .timeout, at: now) + sendNext(at: now)
    }

    private mutating func succeeded(
        _ purpose: Purpose, _ response: Response, at now: ContinuousClock.Instant
    ) -> [Action] {
        switch (purpose, response.body) {
        case (.hello, .hello(let hello)) where hello.isSupported:
            link.requests.enqueue(.begin(), for: .begin, timeout: timing.start)
            return []
        case (.begin, .begin):
            link.requests.enqueue(.deviceInformationOfTag(), for: .tagInformation, timeout: timing.start)
            return []
        case (.tagInformation, .deviceInfo(let information)):
            return configure(information.tagComponent)
        case (.configuration, _): return didConnect(at: now)
        case (.gearTouchMode(let component), .dataChannel):
            link.requests.enqueue(
                .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth),
                for: .gearQueueDepth(component: component), timeout: timing.request)
            return []
        case (.gearQueueDepth(let component), _): return didSetGestureMode(component)
        case (.gearInformation(let component), .deviceInfo(let information)):
            return didLearn(information, of: component)
        case (.command(let token, let step), let body): return answered(token, step, body)
        default: return failed(purpose, .malformedResponse, at: now)
        }
    }

    private mutating func failed(
        _ purpose: Purpose, _ error: TagCommandError, at now: ContinuousClock.Instant
    ) -> [Action] {
        switch purpose {
        case .hello, .begin, .tagInformation, .configuration:
            return close(then: .retry(Self.startError(purpose, error)), at: now)
        // Gear without its details is still gear: the SDK publishes it without version and uuid.
        case .gearTouchMode, .gearQueueDepth, .gearInformation: return []
        case .command(let token, _): return [.emit(.commandEnded(token: token, .failure(error)))]
        }
    }

    private static func startError(_ purpose: Purpose, _ error: TagCommandError) -> TagConnectionError {
        let name =
            switch purpose {
            case .hello: "hello"
            case .begin: "begin"
            case .tagInformation: "the request for device information"
            default: "the configuration"
            }
        return switch error {
        case .timeout: TagConnectionError(.jacquardInitializationError, "the tag does not answer \(name)")
        case .status(let status):
            TagConnectionError(.jacquardInitializationError, "the tag answers \(name) with \(status)")
        default: TagConnectionError(.malformedResponseError, "the tag's answer to \(name) cannot be used")
        }
    }

    // MARK: The protocol's start

    private mutating func configure(_ component: Component) -> [Action] {
        let depth = TouchMode.gesture.notificationQueueDepth
        // From here on the SDK writes without response and grants eight seconds.
        if link.properties.contains(.writeWithoutResponse) { link.writesWithResponse = false }
        link.requests.enqueue(.notificationQueueDepth(depth), for: .configuration, timeout: timing.request)
        return [emit(.initializing(step: 9 + link.repeatedHellos)), .emit(.information(component))]
    }

    private mutating func didConnect(at now: ContinuousClock.Instant) -> [Action] {
        state = .connected(since: now)
        if let gear = link.gear { setUp(gear) }
        if !link.isGearKnown { link.gearDeadline = now + timing.gearAnnouncement }
        return [emit(.connected)]
    }

    /// Ends everything that waits for the tag: what was sent has an unknown effect, the rest never left.
    mutating func linkLost() -> [Action] {
        let (sent, unsent) = link.requests.drain()
        link.fragments = FragmentQueue()
        return [sent].compactMap { $0 }.compactMap { ended($0, .linkLost) }
            + unsent.compactMap { ended($0, .notConnected) }
    }

    private func ended(_ purpose: Purpose, _ error: TagCommandError) -> Action? {
        guard case .command(let token, _) = purpose else { return nil }
        return .emit(.commandEnded(token: token, .failure(error)))
    }
}
