import JSON
import JacquardProtocol

/// `request/log`: publishes log records on `G/log` for a duration, which 0 ends. A new request replaces the last one.
struct LogRequest: BridgeRequest {
    static let name = "log"
    static let keys = ["level", "tag", "duration_s"]

    private let level: LogThreshold
    private let tag: TagID?
    private let seconds: Int

    /// At most an hour.
    private static let durations = 0...3_600
    private static let standardSeconds = 300
    private static let levels = LogThreshold.allCases.map { Word($0.rawValue, $0) }

    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload, with: "level, tag, duration_s")
        level = try arguments.word("level", of: Self.levels) ?? .info
        seconds = try arguments.integer("duration_s", Self.durations) ?? Self.standardSeconds
        let text = try arguments.text("tag", longest: TagID.longest)
        tag = if let text { bridge.tags[try bridge.tagPosition(text)].entry.id } else { nil }
    }

    func begin(in bridge: BridgeState, token: UInt64) -> BridgeRequestStep {
        .done(.log, [.log(seconds == 0 ? nil : (level, tag, .seconds(seconds)))])
    }
}

/// The data of the result of `request/log`.
struct LogRequestDocument: Encodable {
    @OrNull var level: LogThreshold?
    /// The tag whose records are published; nil for all records.
    @OrNull var tag: String?
    /// When the publication ends; nil if it has ended.
    @OrNull var until: String?

    init(_ stream: LogStream?) {
        level = stream?.level
        tag = stream?.tag?.text
        until = stream?.until.text
    }
}
