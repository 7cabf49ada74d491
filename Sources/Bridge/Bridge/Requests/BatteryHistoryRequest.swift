import JSON
import JacquardProtocol
import Time

/// `request/battery_history`: the levels of a tag's battery since its last charge. The tag is a bare word or the key `tag`.
struct BatteryHistoryRequest: BridgeRequest {
    static let name = "battery_history"
    static var needsPayload: Bool { true }
    static let keys = ["tag"]

    private let tag: TagID

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let text = try CommandArguments(payload, word: "tag").text("tag", longest: TagID.longest)
        let position = try bridge.tagPosition(CommandArguments.required(text, "tag", mayBe: "the id of a tag"))
        tag = bridge.tags[position].entry.id
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard let position = bridge.tags.position(of: tag) else { return .failed(bridge.unknownTag(tag.text)) }
        let history = bridge.tags[position].battery.monitor.history
        return .done(CommandData(BatteryHistoryDocument(of: tag, history)))
    }
}

/// The data of the result of `request/battery_history`.
struct BatteryHistoryDocument: Encodable {
    /// A change of the level. It holds until the next one.
    struct Point: Encodable {
        let level: UInt8
        let time: String
    }

    /// In order of time, at most ``BatteryHistory/maxPoints``.
    let points: [Point]
    let tag: String

    init(of tag: TagID, _ history: BatteryHistory) {
        points = history.points.map { Point(level: $0.level, time: TimeText.utc(Int64($0.second) * 1_000)) }
        self.tag = tag.text
    }
}
