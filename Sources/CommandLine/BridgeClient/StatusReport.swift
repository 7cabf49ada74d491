import Bridge
import BrokerAccess
import JSON
import Terminal
import Text

/// The output of `status`.
struct StatusReport: Equatable, Sendable {
    private let facts: RetainedFacts
    private let overview: TagOverview?
    private let now: Int64

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - facts: the retained messages.
    ///   - overview: the tags that the bridge receives; nil if this is not known.
    ///   - now: milliseconds since 1970.
    init(_ facts: RetainedFacts, _ overview: TagOverview? = nil, at now: Int64) {
        self.facts = facts
        self.overview = overview
        self.now = now
    }

    /// `{"bridge":{"instance","state","answers","info","health","adapters"},"tags":[{"id","availability","connection","battery",
    /// "forecast","gear","info","touch_mode","led","rssi","stats"}],"received"}`; each part as the bridge publishes it, or `null`.
    var document: JSONValue {
        let parts = ["availability", "connection", "battery", "gear", "info", "touch_mode", "led", "rssi", "stats"]
        let tags = facts.tags.map { id in
            JSONValue.object(
                Dictionary(uniqueKeysWithValues: parts.map { ($0, facts.tag(id, $0) ?? .null) })
                    .merging(["id": .string(id), "forecast": facts.tag(id, "battery/forecast") ?? .null]) { $1 })
        }
        return [
            "bridge": [
                "instance": .string(facts.topics.instance), "state": facts.bridge("state") ?? .null,
                "answers": facts.presence.flatMap(Self.answers).map(JSONValue.bool) ?? .null,
                "info": facts.bridge("info") ?? .null, "health": facts.bridge("health") ?? .null,
                "adapters": facts.bridge("adapter") ?? .null,
            ],
            "tags": .array(tags), "received": overview.map { .array($0.others) } ?? .null,
        ]
    }

    private static func answers(_ presence: BridgePresence) -> Bool? {
        switch presence {
        case .answers: true
        case .silent: false
        case .unknown: nil
        }
    }

    /// The lines for people.
    func lines(in style: TerminalStyle = .plain) -> [StyledLine] {
        [bridgeLine] + adapterLines.map { StyledLine($0) } + problemLines.map { StyledLine($0, .warning) } + [
            StyledLine()
        ]
            + tagLines(in: style) + receivedLines(in: style)
    }

    /// The received devices that are not the bridge's tags.
    private func receivedLines(in style: TerminalStyle) -> [StyledLine] {
        guard let others = overview?.others, !others.isEmpty else { return [] }
        var table = TextTable(titles: ["RECEIVED", "NAME", "ADDRESS", "STATE", "RSSI", "LAST SEEN"], state: "STATE")
        table.rows = others.map { tag in
            let isLinked = tag["connected"]?.flag == true
            let state =
                (isLinked ? "linked, " : "") + (tag["known"]?.flag == true ? "serial of another tag" : "not known")
            let seen = tag["last_seen"]?.string.flatMap(TimeText.unixMilliseconds).map { Age.text(from: $0, to: now) }
            return ["serial", "name", "address"].map { tag[$0]?.word ?? "" } + [
                state, tag["rssi"]?.word ?? "", seen ?? "",
            ]
        }
        return [StyledLine()] + table.lines(in: style)
    }

    private var isOnline: Bool { facts.isOnline }

    private var bridgeLine: StyledLine {
        let info = facts.bridge("info")
        let health = facts.bridge("health")
        let isSilent = facts.presence == .silent
        let state = isSilent ? SilentBridge.state : facts.bridge("state")?.string ?? "unknown"
        var parts = [info?["version"]?.word.map { "version \($0)" }, info?["bluez"]?.word.map { "BlueZ \($0)" }]
            .compactMap(\.self)
        if isOnline {
            parts += [info?["node"]?.word.map { "broker \($0)" }].compactMap(\.self)
            parts += [health?["status"]?.word.map { "health \($0)" }].compactMap(\.self)
            // `uptime_s` counts up to the time of the health document only.
            let started = info?["started"]?.string.flatMap(TimeText.unixMilliseconds)
            parts += [started.map { "up \(Age.span(seconds: max(0, now - $0) / 1000))" }].compactMap(\.self)
        }
        var line = StyledLine("bridge \(facts.topics.instance): ")
        line.append(state, isSilent ? .bad : Tone(state: state))
        parts.forEach { line.append(", " + $0) }
        return line
    }

    private var adapterLines: [String] {
        (facts.bridge("adapter")?.elements ?? []).map { adapter in
            let names = ["radio", "id", "address"].compactMap { adapter[$0]?.word }.joined(separator: " ")
            // The last state that a stopped bridge published is out of date.
            guard isOnline else { return DisplayText.escaped("adapter \(names)") }
            let words = "\(names), \((adapter["state"]?.word ?? "unknown").asWords)"
            let connected = adapter["connected"]?.integer.map { ", \($0) connected" } ?? ""
            let error = adapter["error"]?.word.map { ": \($0)" } ?? ""
            return DisplayText.escaped(
                "adapter \(words)\(adapter["discovering"]?.flag == true ? ", scanning" : "")\(connected)\(error)")
        }
    }

    private var problemLines: [String] {
        guard isOnline else { return [] }
        guard let health = facts.bridge("health") else {
            return ["problems and adapters are not known: the broker sends them to other users only"]
        }
        return (health["problems"]?.elements ?? []).map { problem in
            DisplayText.escaped("problem: \(problem["text"]?.word ?? problem["code"]?.word ?? "unknown")")
        }
    }

    private func tagLines(in style: TerminalStyle) -> [StyledLine] {
        guard !facts.tags.isEmpty else {
            return [StyledLine("The bridge has no tag. To pair one: jacquard2mqtt pair SERIAL")]
        }
        var table = TextTable(
            titles: ["ID", "NAME", "CONNECTION", "BATTERY", "GEAR", "RSSI", "LAST SEEN"], state: "CONNECTION")
        table.rows = facts.tags.map { id in
            [
                id, facts.tag(id, "info")?["name"]?.word ?? "", connection(id), battery(id), gear(id),
                isOnline ? facts.tag(id, "rssi")?.word ?? "" : "", lastSeen(id),
            ]
        }
        return table.lines(in: style)
    }
}

extension StatusReport {
    private func isConnected(_ id: String) -> Bool {
        isOnline && facts.tag(id, "connection")?["state"]?.string == "connected"
            && facts.tag(id, "availability")?.string == "online"
    }

    private func connection(_ id: String) -> String {
        guard isOnline else { return "bridge offline" }
        guard let connection = facts.tag(id, "connection") else { return "" }
        return ConnectionText(connection).short
    }

    private func battery(_ id: String) -> String {
        guard let level = facts.tag(id, "battery")?["level"]?.word else { return "" }
        if facts.tag(id, "battery")?["charging"]?.flag == true { return "\(level) % charging" }
        let forecast = facts.tag(id, "battery/forecast").flatMap { ForecastText($0, at: now) }
        return "\(level) %" + (forecast.map { ", \($0.short)" } ?? "")
    }

    private func gear(_ id: String) -> String {
        switch facts.tag(id, "gear")?["attached"]?.flag {
        case true: facts.tag(id, "gear")?["product"]?.word ?? "unknown gear"
        case false: "none"
        case nil: ""
        }
    }

    /// When the bridge last received something from the tag; if that is unknown, when the tag last reported a value.
    private func lastSeen(_ id: String) -> String {
        guard !isConnected(id) else { return "now" }
        let exact = facts.tag(id, "connection")?["last_seen"]?.string
        let reports = ["battery", "gear"].map { facts.tag(id, $0)?["time"]?.string }
        let times = (exact.map { [$0] } ?? reports).compactMap(\.self).compactMap(TimeText.unixMilliseconds)
        return times.max().map { Age.text(from: $0, to: now) } ?? ""
    }
}

/// The text of `T/battery/forecast`.
struct ForecastText: Hashable, Sendable {
    private let empty: Int64
    private let earliest: Int64
    private let latest: Int64

    /// Reads a document; nil without a forecast.
    ///
    /// - Parameters:
    ///   - document: the document.
    ///   - now: milliseconds since 1970; the document may be older than its times.
    init?(_ document: JSONValue, at now: Int64) {
        func seconds(_ key: String) -> Int64? {
            document[key]?.string.flatMap(TimeText.unixMilliseconds).map { max(0, $0 - now) / 1_000 }
        }
        guard let empty = seconds("empty"), let earliest = seconds("earliest"), let latest = seconds("latest") else {
            return nil
        }
        (self.empty, self.earliest, self.latest) = (empty, earliest, latest)
    }

    /// `empty in 12 d 4 h`.
    var short: String { "empty in \(Age.span(seconds: empty))" }

    /// The same, with the interval.
    var long: String {
        "\(short) (between \(Age.span(seconds: earliest)) and \(Age.span(seconds: latest)))"
    }
}
