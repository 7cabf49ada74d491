import Time

extension TagSession {
    /// Handles a packet of the response characteristic.
    mutating func responseReceived(_ packet: ArraySlice<UInt8>, at now: Instant) -> [Action] {
        // A response that cannot be decoded has no id to match: the request times out.
        guard let response = try? Response.decode(packet) else { return [] }
        guard let purpose = link.requests.responseReceived(id: response.id) else { return [] }
        // The tag may respond before it has received all fragments. The rest would corrupt the next request.
        link.fragments.abandon()
        let actions =
            response.status == .ok
            ? succeeded(purpose, response.body, at: now) : failed(purpose, .status(response.status), at: now)
        return actions + sendNext(at: now)
    }

    mutating func requestExpired(at now: Instant) -> [Action] {
        guard let purpose = link.requests.expired(at: now) else { return [] }
        link.fragments.abandon()
        link.unanswered += 1
        return failed(purpose, .timeout, at: now) + probeIfSilent(at: now) + sendNext(at: now)
    }

    private mutating func succeeded(
        _ purpose: Purpose, _ body: Response.Body?, at now: Instant
    ) -> [Action] {
        switch (purpose, body) {
        case (.hello, .hello(let hello)) where hello.isSupported:
            link.requests.enqueue(.begin(), for: .begin, timeout: timing.start)
            return []
        case (.begin, .begin):
            link.requests.enqueue(.deviceInformationOfTag(), for: .tagInformation, timeout: timing.start)
            return []
        case (.tagInformation, .deviceInfo(let information)): return configure(information.tagComponent)
        case (.configuration, let body): return didConnect(body, at: now)
        case (.gearTouchMode(let gear), .dataChannel): return didSetTouchMode(ofGear: gear, at: now)
        case (.gearQueueDepth(let gear), _): return didSetQueueDepth(forGear: gear)
        case (.gearInformation(let gear), .deviceInfo(let information)): return didLearn(information, ofGear: gear)
        case (.battery, .batteryStatus(let report)), (.probe, .batteryStatus(let report)):
            return report.status.map { batteryReceived($0, at: now) } ?? []
        case (.battery, _), (.probe, _): return []
        case (.command(let token, let step), let body): return commandSucceeded(token, step, body, at: now)
        default: return failed(purpose, .malformedResponse, at: now)
        }
    }

    mutating func failed(
        _ purpose: Purpose, _ error: TagCommandError, at now: Instant
    ) -> [Action] {
        switch purpose {
        case .hello, .begin, .tagInformation, .configuration: return fail(Self.startError(purpose, error), at: now)
        // Without device information, gear is reported without version and UUID, as in the SDK.
        case .gearTouchMode, .gearQueueDepth, .gearInformation, .battery: return []
        case .probe: return probeFailed(at: now)
        case .command(let token, _): return [ended(token, .failure(error))]
        }
    }

    /// Ends all requests after the loss of the link.
    mutating func linkLost() -> [Action] {
        let (sent, unsent) = link.requests.drain()
        link.fragments = FragmentQueue()
        let first = sent.flatMap { lost($0, isSent: true) }
        return [first].compactMap(\.self) + unsent.compactMap { lost($0, isSent: false) }
    }

    private func lost(_ purpose: Purpose, isSent: Bool) -> Action? {
        guard case .command(let token, let step) = purpose else { return nil }
        switch step {
        // The tag has confirmed its name and was expected to disconnect.
        case .nameDisconnect: return ended(token, .success(.done))
        // The first half of the command was sent.
        case .touchQueueDepth: return ended(token, .failure(.linkLost))
        default: return ended(token, .failure(isSent ? .linkLost : .notConnected))
        }
    }

    func ended(_ token: UInt64, _ result: Result<TagCommandAnswer, TagCommandError>) -> Action {
        .emit(.commandEnded(token: token, result))
    }
}
