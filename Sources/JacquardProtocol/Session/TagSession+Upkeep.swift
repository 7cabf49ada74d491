import Time

/// Maintenance of a connected link: requests the battery status, and checks whether the tag still responds.
extension TagSession {
    // MARK: Battery

    /// Handles a battery status, requested or not.
    mutating func batteryReceived(_ status: BatteryStatus, at now: Instant) -> [Action] {
        link.isBatteryKnown = true
        if isConnected { link.batteryDue = now + timing.batteryInterval }
        return [.emit(.battery(status))]
    }

    mutating func requestBatteryIfDue(at now: Instant) -> [Action] {
        guard isConnected, let due = link.batteryDue, due <= now else { return [] }
        link.batteryDue = now + timing.batteryInterval
        link.requests.enqueue(.batteryStatus(), for: .battery, timeout: timing.request)
        return sendNext(at: now)
    }

    // MARK: Probe

    /// Probes a tag after several requests without a response, before any other request is sent.
    mutating func probeIfSilent(at now: Instant) -> [Action] {
        guard isConnected, link.unanswered == timing.unansweredLimit else { return [] }
        link.requests.enqueueNext(.batteryStatus(), for: .probe, timeout: timing.probe)
        return []
    }

    /// Handles a probe without a response. Any other value received since also shows that the tag is reachable.
    mutating func probeFailed(at now: Instant) -> [Action] {
        guard link.unanswered >= timing.unansweredLimit else { return [] }
        return fail(TagConnectionError(.bluetoothConnectionError, "the tag no longer responds"), at: now)
    }

    // MARK: Touch mode

    /// Handles the confirmation of a touch mode.
    mutating func touchModeConfirmed(_ mode: TouchMode, at now: Instant) -> [Action] {
        link.touchMode = (mode, now)
        return [.emit(.touchMode(mode))]
    }

    /// Updates the touch mode from a value that gear sends in this mode only, in case the response to a change was
    /// lost.
    ///
    /// Values that arrive shortly after a confirmed change may still be of the previous mode and are ignored.
    mutating func followTouchMode(_ mode: TouchMode, at now: Instant, _ actions: inout [Action]) {
        guard mode != link.touchMode.mode else { return }
        if let confirmedAt = link.touchMode.confirmedAt, now - confirmedAt < timing.touchModeChange { return }
        link.touchMode = (mode, nil)
        actions.append(.emit(.touchMode(mode)))
    }
}
