extension TagSession {
    mutating func configure(_ component: Component) -> [Action] {
        let depth = TouchMode.gesture.notificationQueueDepth
        // From here on the SDK writes without response and grants eight seconds.
        if link.properties.contains(.writeWithoutResponse) { link.writesWithResponse = false }
        link.requests.enqueue(.notificationQueueDepth(depth), for: .configuration, timeout: timing.request)
        return [emit(.initializing(step: 9 + link.repeatedHellos)), .emit(.information(component))]
    }

    mutating func didConnect(at now: ContinuousClock.Instant) -> [Action] {
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
