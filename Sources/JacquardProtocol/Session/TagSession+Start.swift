import Time

extension TagSession {
    /// Starts the protocol after all three subscriptions. From now on the connection is retried whatever the rule
    /// was.
    mutating func didPair(at now: Instant) -> [Action] {
        state = .starting
        retryRule = .always
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return [emit(.initializing(step: 5))] + sendNext(at: now)
    }

    /// Restarts the protocol with writes without response, for a tag that does not permit writes with response.
    mutating func repeatHello(at now: Instant) -> [Action] {
        link.writesWithResponse = false
        link.extraSteps = 1
        _ = link.requests.drain()
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return sendNext(at: now)
    }

    /// Returns the step to report when a request is sent.
    func announcement(of purpose: Purpose) -> [Action] {
        let more = link.extraSteps
        return switch purpose {
        case .hello: [emit(.initializing(step: 6 + more))]
        case .begin: [emit(.initializing(step: 7 + more))]
        case .tagInformation: [emit(.initializing(step: 8 + more))]
        case .configuration: [emit(.configuring(step: 10 + more))]
        default: []
        }
    }

    mutating func configure(_ component: Component) -> [Action] {
        link.tag = component
        // From now on the SDK writes without response, with a timeout of 8 s.
        if link.properties.contains(.writeWithoutResponse) { link.writesWithResponse = false }
        link.requests.enqueue(
            .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth), for: .configuration,
            timeout: timing.request)
        return [emit(.initializing(step: 9 + link.extraSteps)), .emit(.information(component))]
    }

    mutating func didConnect(_ body: Response.Body?, at now: Instant) -> [Action] {
        state = .connected(since: now)
        // Only a response with the whole configuration contains the name.
        if case .config(let configuration) = body { link.tagName = configuration.ble?.customAdvertisedName }
        switch link.gear {
        case .unknown, .expected: link.gear = .expected(by: now + timing.gearAnnouncement)
        case .known(let gear): if let gear { setUp(gear) }
        }
        link.batteryDue = now + (link.isBatteryKnown ? timing.batteryInterval : timing.batteryAnnouncement)
        return [emit(.connected)]
    }

    /// Converts the error of a request during the start to the error of the connection.
    static func startError(_ purpose: Purpose, _ error: TagCommandError) -> TagConnectionError {
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
