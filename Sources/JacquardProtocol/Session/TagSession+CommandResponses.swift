import Time

extension TagSession {
    /// Handles a successful response to a request of a command.
    mutating func commandSucceeded(
        _ token: UInt64, _ step: CommandStep, _ body: Response.Body?, at now: Instant
    ) -> [Action] {
        switch (step, body) {
        case (.acknowledged, _), (.nameDisconnect, _): return [ended(token, .success(.done))]
        case (.battery, .batteryStatus(let report)):
            guard let status = report.status else { break }
            return batteryReceived(status, at: now) + [ended(token, .success(.battery(status)))]
        case (.configValue, .configGet(let response)):
            return [ended(token, .success(.configValue(response.element?.value)))]
        case (.tagInformation, .deviceInfo(let information)):
            let tag = information.tagComponent
            link.tag = tag
            return [.emit(.information(tag)), ended(token, .success(.component(tag)))]
        case (.gearInformation(let gear), .deviceInfo(let information)):
            return didLearn(information, ofGear: gear) + [endedWithGear(token, gear)]
        case (.touchMode(let mode, let gear), .dataChannel): return didSetTouchMode(mode, gear, token, at: now)
        case (.touchQueueDepth(let mode, let gear), _): return didSetQueueDepth(mode, gear, token)
        case (.name(let name), _): return didSetName(name, token)
        default: break
        }
        return [ended(token, .failure(.malformedResponse))]
    }

    private func endedWithGear(_ token: UInt64, _ number: UInt32) -> Action {
        guard let gear = link.gear.component, gear.componentID == number else {
            return ended(token, .failure(.gearNotAttached))
        }
        return ended(token, .success(.component(gear)))
    }

    private mutating func didSetTouchMode(
        _ mode: TouchMode, _ gear: UInt32, _ token: UInt64, at now: Instant
    ) -> [Action] {
        guard link.gear.isAttached(gear) else { return [ended(token, .failure(.gearNotAttached))] }
        link.requests.enqueueNext(
            .notificationQueueDepth(mode.notificationQueueDepth),
            for: .command(token: token, .touchQueueDepth(mode, gear: gear)), timeout: timing.request)
        return touchModeConfirmed(mode, at: now)
    }

    private func didSetQueueDepth(_ mode: TouchMode, _ gear: UInt32, _ token: UInt64) -> [Action] {
        guard link.gear.isAttached(gear) else { return [ended(token, .failure(.gearNotAttached))] }
        return [ended(token, .success(.done))]
    }

    private mutating func didSetName(_ name: String, _ token: UInt64) -> [Action] {
        link.tagName = name
        link.requests.enqueueNext(
            .disconnect(), for: .command(token: token, .nameDisconnect), timeout: timing.request)
        return []
    }
}
