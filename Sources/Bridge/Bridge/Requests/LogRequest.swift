import JSON
import JacquardProtocol
import Text
import Time

/// `request/log`: publishes log records on `G/log` for a duration, which 0 ends, and first those of the last time. A new
/// request replaces the last one.
struct LogRequest: BridgeRequest {
    static let name = "log"
    static let keys = ["level", "tag", "duration_s", "past_s"]

    private let level: LogLevel
    private let tag: TagID?
    private let seconds: Int
    private let pastSeconds: Int

    /// At most an hour.
    private static let durations = 0...3_600
    /// At most ten minutes.
    private static let pasts = 0...600
    private static let standardSeconds = 300
    private static let levels = LogLevel.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload, with: "level, tag, duration_s, past_s")
        level = try arguments.word("level", of: Self.levels) ?? .info
        seconds = try arguments.integer("duration_s", Self.durations) ?? Self.standardSeconds
        pastSeconds = try arguments.integer("past_s", Self.pasts) ?? 0
        let text = try arguments.text("tag", longest: TagID.longest)
        tag = if let text { bridge.tags[try bridge.tagPosition(text)].entry.id } else { nil }
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard seconds > 0, pastSeconds > 0 else {
            return follow(seconds == 0 ? nil : selection, past: nil, in: &bridge, at: now, &effects)
        }
        effects.add(.recallLog(level, .seconds(pastSeconds), token: token))
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard case .recalled(let past) = response else { return .failed(.neverEnded) }
        return follow(selection, past: past, in: &bridge, at: now, &effects)
    }

    private func follow(
        _ selection: (level: LogLevel, tag: TagID?, duration: Duration)?, past: RecalledLog?,
        in bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        bridge.diagnostics.log.follow(selection, past: past, of: bridge.tags, at: now, &effects)
        let stream = bridge.diagnostics.log.selection
        return .done(
            CommandData { object in
                object.add("level", stream?.level.rawValue)
                // From when on all records are published; nil if the publication has ended.
                object.add("since", (stream?.since).map(TimeText.utc))
                // nil for all records.
                object.add("tag", stream?.tag?.text)
                object.add("until", stream?.until)
            })
    }

    private var selection: (level: LogLevel, tag: TagID?, duration: Duration) { (level, tag, .seconds(seconds)) }
}
