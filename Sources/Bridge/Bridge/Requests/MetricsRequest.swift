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
        return .done(CommandData(MetricsDocument(metrics, after: tag)))
    }
}

/// The data of the result of `request/metrics`.
struct MetricsDocument: Encodable {
    /// The last tag of this part, if there are more: `after` of the next request.
    @OrNull var next: String?
    /// The part in the format of Prometheus.
    let text: String

    init(_ metrics: BridgeMetrics, after tag: String?) {
        (text, next) = metrics.part(after: tag)
    }
}
