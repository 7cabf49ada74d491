import Bridge
import JSON

/// What `status` prints.
///
/// For machines: `{"bridge":{"instance","state","info","health","adapters"},"tags":[{"id","availability","connection",
/// "battery","gear","info","touch_mode","led","rssi","stats"}]}`, each part as the bridge publishes it, or `null`.
struct StatusReport: Hashable, Sendable {
    private let facts: RetainedFacts
    private let now: Int64

    /// A report on what was retained, `now` milliseconds after 1970.
    init(_ facts: RetainedFacts, at now: Int64) {
        self.facts = facts
        self.now = now
    }

    /// For machines.
    var document: JSONValue {
        let parts = ["availability", "connection", "battery", "gear", "info", "touch_mode", "led", "rssi", "stats"]
        let tags = facts.tags.map { id in
            JSONValue.object(
                Dictionary(uniqueKeysWithValues: parts.map { ($0, facts.tag(id, $0) ?? .null) })
                    .merging(["id": .string(id)]) { $1 })
        }
        return [
            "bridge": [
                "instance": .string(facts.topics.instance), "state": facts.bridge("state") ?? .null,
                "info": facts.bridge("info") ?? .null, "health": facts.bridge("health") ?? .null,
                "adapters": facts.bridge("adapter") ?? .null,
            ],
            "tags": .array(tags),
        ]
    }

    /// For people.
    var lines: [String] {
        [bridgeLine] + adapterLines + problemLines + [""] + tagLines
    }

    private var bridgeLine: String {
        let info = facts.bridge("info")
        let health = facts.bridge("health")
        let state = facts.bridge("state")?.string ?? "unknown"
        var parts = ["bridge \(facts.topics.instance): \(state)"]
        parts += [info?["version"]?.word.map { "version \($0)" }, info?["bluez"]?.word.map { "BlueZ \($0)" }]
            .compactMap(\.self)
        if state == "online" {
            parts += [health?["status"]?.word.map { "health \($0)" }].compactMap(\.self)
            parts += [health?["uptime_s"]?.integer.map { "up \(Age.span(seconds: $0))" }].compactMap(\.self)
        }
        return DisplayText.escaped(parts.joined(separator: ", "))
    }

    private var adapterLines: [String] {
        (facts.bridge("adapter")?.elements ?? []).map { adapter in
            let words = ["id", "address", "state"].compactMap { adapter[$0]?.word }.joined(separator: " ")
            let connected = adapter["connected"]?.integer.map { ", \($0) connected" } ?? ""
            return DisplayText.escaped(
                "adapter \(words)\(adapter["discovering"]?.flag == true ? ", scanning" : "")\(connected)")
        }
    }

    private var problemLines: [String] {
        (facts.bridge("health")?["problems"]?.elements ?? []).map { problem in
            DisplayText.escaped("problem: \(problem["text"]?.word ?? problem["code"]?.word ?? "unknown")")
        }
    }

    private var tagLines: [String] {
        guard !facts.tags.isEmpty else { return ["The bridge has no tag. To pair one: jacquard2mqtt pair SERIAL"] }
        var table = TextTable(titles: ["ID", "NAME", "CONNECTION", "BATTERY", "GEAR", "RSSI", "LAST SEEN"])
        table.rows = facts.tags.map { id in
            [
                id, facts.tag(id, "info")?["name"]?.word ?? "", connection(id), battery(id), gear(id),
                facts.tag(id, "rssi")?.word ?? "", lastSeen(id),
            ]
        }
        return table.lines
    }
}

extension StatusReport {
    private func isConnected(_ id: String) -> Bool {
        facts.tag(id, "connection")?["state"]?.string == "connected"
            && facts.tag(id, "availability")?.string == "online"
    }

    private func connection(_ id: String) -> String {
        guard let connection = facts.tag(id, "connection") else { return "" }
        return ConnectionText(connection).short
    }

    private func battery(_ id: String) -> String {
        guard let level = facts.tag(id, "battery")?["level"]?.word else { return "" }
        return "\(level) %" + (facts.tag(id, "battery")?["charging"]?.flag == true ? " charging" : "")
    }

    private func gear(_ id: String) -> String {
        switch facts.tag(id, "gear")?["attached"]?.flag {
        case true: facts.tag(id, "gear")?["product"]?.word ?? "unknown gear"
        case false: "none"
        case nil: ""
        }
    }

    /// The contract has no key for it: what is newest of all that only the tag itself can have said.
    private func lastSeen(_ id: String) -> String {
        guard !isConnected(id) else { return "now" }
        let times = ["battery", "gear", "stats"].compactMap { facts.tag(id, $0)?["time"]?.string }
        return times.compactMap(Age.unixMilliseconds).max().map { Age.text(from: $0, to: now) } ?? ""
    }
}
