import JacquardProtocol

/// `request/metrics`: the metrics as text, in parts of at most 64 KiB.
struct MetricsRequest: BridgeRequest {
    static let name = "metrics"
    static let keys = ["after"]

    /// The last tag of the part before; nil: the first part.
    let tag: String?

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        tag = try CommandArguments(emptyOrObject: payload, with: "after").text("after", longest: TagID.longest)
    }

    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep {
        .underWay([.action(.measure(token: token))])
    }

    func succeeded(_ response: RequestResponse, token: UInt64) -> BridgeRequestStep {
        guard case .measured(let measurement) = response else { return .failed(.neverEnded) }
        return .done(.metrics(after: tag, measurement), [])
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
