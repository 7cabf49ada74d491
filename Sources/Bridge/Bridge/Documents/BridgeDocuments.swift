import JSON
import JacquardProtocol
import Text

/// One element of `G/adapter`.
struct AdapterDocument: JSONRecord {
    let adapter: AdapterFacts

    func addMembers(to object: inout JSONWriter) {
        object.add("address", adapter.address)
        object.add("connected", adapter.connectedCount)
        object.add("discovering", adapter.isDiscovering)
        // Omitted if the adapter can be used, or if the reason is unknown.
        object.addIfPresent("error", adapter.error)
        // Omitted if it is unknown.
        object.addIfPresent("free_links", adapter.freeLinks)
        object.add("id", adapter.id)
        // Omitted if the bridge has one radio.
        object.addIfPresent("radio", adapter.radio)
        object.add("state", adapter.state.rawValue)
    }
}

/// `G/health`.
struct HealthDocument: JSONRecord {
    let problems: [Problem: Timestamp]
    let measurement: HealthMeasurement?
    let uptime: Duration

    /// `ok`, `degraded` or `failed`.
    var status: String {
        problems.keys.contains(where: \.isFatal) ? "failed" : problems.isEmpty ? "ok" : "degraded"
    }

    func addMembers(to object: inout JSONWriter) {
        let sorted = problems.map { ProblemDocument(code: $0.key.code.rawValue, text: $0.text, since: $1.text) }
            .sorted { ($0.since, $0.text) < ($1.since, $1.text) }
        object.add("broker_reconnects", measurement?.brokerReconnects ?? 0)
        object.add("dropped", measurement?.dropped ?? 0)
        object.add("problems", sorted)
        object.add("queue", measurement?.queued ?? 0)
        object.add("rss_kb", measurement?.residentKilobytes)
        object.add("status", status)
        object.add("uptime_s", uptime.components.seconds)
    }
}

/// One problem in `G/health`.
private struct ProblemDocument: JSONRecord {
    let code: String
    let text: String
    let since: String

    func addMembers(to object: inout JSONWriter) {
        object.add("code", code)
        object.add("since", since)
        object.add("text", text)
    }
}

/// The values of `type` in `G/event`.
enum BridgeEventKind: String, Hashable, Sendable, CaseIterable {
    case scanStarted = "scan_started"
    case scanStopped = "scan_stopped"
    case pairStarted = "pair_started"
    case pairFound = "pair_found"
    case pairPairing = "pair_pairing"
    case pairConnecting = "pair_connecting"
    case paired
    case pairFailed = "pair_failed"
    case tagForgotten = "tag_forgotten"
    case adapterLost = "adapter_lost"
    case adapterBack = "adapter_back"
    case duplicateSerial = "duplicate_serial"
    case bridgeSilent = "bridge_silent"
}
