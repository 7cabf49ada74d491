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
        return .done(
            CommandData { object in
                // In order of time, at most ``BatteryHistory/maxPoints``.
                object.add("points", history.points.map { BatteryPointDocument(point: $0) })
                object.add("tag", tag.text)
            })
    }
}

/// A change of the level. It holds until the next one.
private struct BatteryPointDocument: JSONRecord {
    let point: BatteryHistory.Point

    func addMembers(to object: inout JSONWriter) {
        object.add("level", point.level)
        object.add("time", TimeText.utc(Int64(point.second) * 1_000))
    }
}
