import JSON
import JacquardProtocol
import Time

/// `request/metrics`: the metrics as text, in parts of at most 64 KiB.
struct MetricsRequest: BridgeRequest {
    static let name = "metrics"
    static let keys = ["after"]

    /// The last tag of the part before; nil: the first part.
    let tag: String?

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        tag = try CommandArguments(emptyOrObject: payload, with: "after").text("after", longest: TagID.longest)
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        effects.add(.measure(token: token))
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard case .measured(let measurement) = response else { return .failed(.neverEnded) }
        let metrics = BridgeMetrics(of: bridge, measurement, at: now)
        let (text, next) = metrics.part(after: tag)
        return .done(
            CommandData { object in
                // The last tag of this part, if there are more: `after` of the next request.
                object.add("next", next)
                // In the format of Prometheus.
                object.add("text", text)
            })
    }
}
