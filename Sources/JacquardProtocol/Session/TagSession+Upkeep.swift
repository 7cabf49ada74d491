import Time

/// What a session does by itself on a link that is up: asks for the battery, and finds out whether the tag still answers.
extension TagSession {
    // MARK: Battery

    /// The tag has sent its battery, asked or not.
    mutating func batteryReceived(_ status: BatteryStatus, at now: Instant) -> [Action] {
        link.isBatteryKnown = true
        if isConnected { link.batteryDue = now + timing.batteryInterval }
        return [.emit(.battery(status))]
    }

    mutating func askForBatteryIfDue(at now: Instant) -> [Action] {
        guard isConnected, let due = link.batteryDue, due <= now else { return [] }
        link.batteryDue = now + timing.batteryInterval
        link.requests.enqueue(.batteryStatus(), for: .battery, timeout: timing.request)
        return sendNext(at: now)
    }

    // MARK: Signs of life

    /// Probes a tag that has left several requests in a row without an answer, before anything else is sent to it.
    mutating func probeIfSilent(at now: Instant) -> [Action] {
        guard isConnected, link.unanswered == timing.unansweredLimit else { return [] }
        link.requests.enqueueNext(.batteryStatus(), for: .probe, timeout: timing.probe)
        return []
    }

    /// The probe had no answer; any other value that came meanwhile is a sign of life as well.
    mutating func probeFailed(at now: Instant) -> [Action] {
        guard link.unanswered >= timing.unansweredLimit else { return [] }
        return fail(TagConnectionError(.bluetoothConnectionError, "the tag does not answer any more"), at: now)
    }

    // MARK: Touch mode

    /// Gear has confirmed its mode.
    mutating func touchModeConfirmed(_ mode: TouchMode, at now: Instant) -> [Action] {
        link.touchMode = (mode, now)
        return [.emit(.touchMode(mode))]
    }

    /// Gear has sent what it sends in this mode only: the answer to a change may be lost, its values show the mode too.
    /// Those that were on their way when the mode was confirmed show the former one.
    mutating func followTouchMode(_ mode: TouchMode, at now: Instant, _ actions: inout [Action]) {
        guard mode != link.touchMode.mode else { return }
        if let confirmedAt = link.touchMode.confirmedAt, now - confirmedAt < timing.touchModeChange { return }
        link.touchMode = (mode, nil)
        actions.append(.emit(.touchMode(mode)))
    }
}
