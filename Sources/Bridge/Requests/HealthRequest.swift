/// `request/health`: measures the process and returns the document of `G/health`.
struct HealthRequest: BridgeRequest {
    static let name = "health"

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        _ = try CommandArguments(emptyOrObject: payload)
    }

    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep {
        .underWay([.measure(token: token)])
    }

    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep {
        guard case .host(.measured(let measurement)) = answer else { return .failed(.neverEnded) }
        let actions = bridge.measured(measurement, at: now)
        return .done(CommandData(bridge.healthDocument(at: now)), actions)
    }
}
