extension TagSession {
    /// Takes a command. It ends with exactly one ``TagEvent/commandEnded(token:_:)``, here or later.
    ///
    /// - Parameters:
    ///   - command: what to do. What the component cannot do is refused before anything is sent.
    ///   - token: comes back with the end.
    ///   - now: the time.
    public mutating func enqueue(
        _ command: TagCommand, token: UInt64, at now: ContinuousClock.Instant
    ) -> [Action] {
        do throws(TagCommandError) {
            guard isConnected else { throw .notConnected }
            let (request, step) = try request(for: command)
            link.requests.enqueue(request, for: .command(token: token, step), timeout: timing.request)
            return sendNext(at: now)
        } catch {
            return [.emit(.commandEnded(token: token, .failure(error)))]
        }
    }

    private func request(for command: TagCommand) throws(TagCommandError) -> (Request, CommandStep) {
        switch command {
        // Every tag has an LED; that is its only capability.
        case .playLEDPattern(let pattern, on: .tag): return (.playLEDOnTag(pattern), .acknowledged)
        case .playLEDPattern(let pattern, on: .gear):
            let gear = try gear(with: .led, or: .componentDoesNotSupportPlayLEDPattern)
            return (.playLED(pattern, onGear: gear), .acknowledged)
        case .playHaptic(let pattern):
            let gear = try gear(with: .haptic, or: .componentDoesNotSupportPlayHaptic)
            return (.playHaptic(pattern, component: gear), .acknowledged)
        case .setTouchMode(let mode):
            let capability: Capability = mode == .gesture ? .gesture : .touchDataStream
            let gear = try gear(with: capability, or: .componentDoesNotSupportTouchMode)
            return (.touchMode(mode, component: gear), .touchMode(mode, component: gear))
        case .batteryStatus: return (.batteryStatus(), .battery)
        }
    }

    private func gear(
        with capability: Capability, or error: TagCommandError
    ) throws(TagCommandError) -> UInt32 {
        guard let gear = link.gear else { throw .gearNotAttached }
        guard gear.capabilities.contains(capability) else { throw error }
        return gear.componentID
    }

    mutating func answered(_ token: UInt64, _ step: CommandStep, _ body: Response.Body?) -> [Action] {
        switch (step, body) {
        case (.acknowledged, _): return [ended(token, .success(.done))]
        case (.battery, .batteryStatus(let report)):
            guard let status = report.status else { break }
            return [.emit(.battery(status)), ended(token, .success(.battery(status)))]
        case (.touchMode(let mode, _), .dataChannel):
            link.requests.enqueue(
                .notificationQueueDepth(mode.notificationQueueDepth),
                for: .command(token: token, .touchQueueDepth(mode)),
                timeout: timing.request)
            return []
        case (.touchQueueDepth(let mode), _):
            return [.emit(.touchMode(mode)), ended(token, .success(.done))]
        default: break
        }
        return [ended(token, .failure(.malformedResponse))]
    }

    private func ended(_ token: UInt64, _ result: Result<TagCommandAnswer, TagCommandError>) -> Action {
        .emit(.commandEnded(token: token, result))
    }
}
