import Time

extension TagSession {
    /// The three notifications are on. From here on the connection is kept up, whatever the rule was until now.
    mutating func didPair(at now: Instant) -> [Action] {
        state = .starting
        retryRule = .always
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return [emit(.initializing(step: 5))] + sendNext(at: now)
    }

    /// The tag takes no writes with response: the rest of the protocol's start goes without, beginning with a new hello.
    mutating func repeatHello(at now: Instant) -> [Action] {
        link.writesWithResponse = false
        link.extraSteps = 1
        _ = link.requests.drain()
        link.requests.enqueue(.hello(), for: .hello, timeout: timing.start)
        return sendNext(at: now)
    }

    /// The step that begins with sending a request.
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
        // From here on the SDK writes without response and grants eight seconds.
        if link.properties.contains(.writeWithoutResponse) { link.writesWithResponse = false }
        link.requests.enqueue(
            .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth), for: .configuration,
            timeout: timing.request)
        return [emit(.initializing(step: 9 + link.extraSteps)), .emit(.information(component))]
    }

    mutating func didConnect(_ body: Response.Body?, at now: Instant) -> [Action] {
        state = .connected(since: now)
        // Only an answer that holds the whole configuration tells the name.
        if case .config(let configuration) = body { link.tagName = configuration.ble?.customAdvertisedName }
        switch link.gear {
        case .untold, .expected: link.gear = .expected(by: now + timing.gearAnnouncement)
        case .told(let gear): if let gear { setUp(gear) }
        }
        link.batteryDue = now + (link.isBatteryKnown ? timing.batteryInterval : timing.batteryAnnouncement)
        return [emit(.connected)]
    }

    /// What the failure of a request means for the connection.
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
