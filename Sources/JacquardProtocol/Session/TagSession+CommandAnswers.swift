extension TagSession {
    /// A request of a command was carried out.
    mutating func answered(_ token: UInt64, _ step: CommandStep, _ body: Response.Body?) -> [Action] {
        switch (step, body) {
        case (.acknowledged, _): return [ended(token, .success(.done))]
        case (.battery, .batteryStatus(let report)):
            guard let status = report.status else { break }
            return [.emit(.battery(status)), ended(token, .success(.battery(status)))]
        case (.touchMode(let mode, let gear), .dataChannel): return didSetTouchMode(mode, gear, token)
        case (.touchQueueDepth(let mode, let gear), _): return didSetQueueDepth(mode, gear, token)
        default: break
        }
        return [ended(token, .failure(.malformedResponse))]
    }

    private mutating func didSetTouchMode(_ mode: TouchMode, _ gear: UInt32, _ token: UInt64) -> [Action] {
        guard link.gear.isAttached(gear) else { return [ended(token, .failure(.gearNotAttached))] }
        link.requests.enqueueNext(
            .notificationQueueDepth(mode.notificationQueueDepth),
            for: .command(token: token, .touchQueueDepth(mode, gear: gear)), timeout: timing.request)
        return []
    }

    private func didSetQueueDepth(_ mode: TouchMode, _ gear: UInt32, _ token: UInt64) -> [Action] {
        guard link.gear.isAttached(gear) else { return [ended(token, .failure(.gearNotAttached))] }
        return [.emit(.touchMode(mode)), ended(token, .success(.done))]
    }
}
