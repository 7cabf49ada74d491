/// `G/health`.
struct HealthDocument: Encodable {
    let status: String
    let problems: [ProblemDocument]
    let uptimeSeconds: Int64
    @OrNull var residentKilobytes: Int?
    let queue: Int
    let dropped: Int
    let brokerReconnects: Int

    private enum CodingKeys: String, CodingKey {
        case status, problems, queue, dropped
        case uptimeSeconds = "uptime_s"
        case residentKilobytes = "rss_kb"
        case brokerReconnects = "broker_reconnects"
    }

    init(_ problems: [Problem: Moment], measurement: HealthMeasurement?, uptime: Duration) {
        status = problems.keys.contains(where: \.isFatal) ? "failed" : problems.isEmpty ? "ok" : "degraded"
        self.problems = problems.map { ProblemDocument(code: $0.key.code.rawValue, text: $0.text, since: $1.text) }
            .sorted { ($0.since, $0.text) < ($1.since, $1.text) }
        uptimeSeconds = uptime.components.seconds
        residentKilobytes = measurement?.residentKilobytes
        queue = measurement?.queued ?? 0
        dropped = measurement?.dropped ?? 0
        brokerReconnects = measurement?.brokerReconnects ?? 0
    }
}

/// One problem in `G/health`.
struct ProblemDocument: Encodable {
    let code: String
    let text: String
    let since: String
}
