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

    mutating func failed(
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
}
