import JacquardProtocol
import Time

/// `request/gatt`: an object with `tag` and `duration_s` records the Bluetooth traffic with a tag; `stop`,
/// also in `gatt`, ends it.
struct GATTRequest: BridgeRequest {
    static let name = "gatt"
    static var needsPayload: Bool { true }
    static let keys = ["gatt", "tag", "duration_s"]

    private enum Intent: Sendable {
        case record(TagID, seconds: Int)
        case stop
    }

    private let intent: Intent

    /// One second to one hour.
    private static let durations = 1...3_600
    private static let standardSeconds = 60

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let starts = try payload.starts("gatt")
        let arguments = try CommandArguments(payload, word: "gatt")
        let name = try arguments.text("tag", longest: TagID.longest)
        let seconds = try arguments.integer("duration_s", Self.durations) ?? Self.standardSeconds
        guard starts else {
            intent = .stop
            return
        }
        let tag = try CommandArguments.required(name, "tag", mayBe: "the id of a tag")
        intent = .record(bridge.tags[try bridge.tagPosition(tag)].entry.id, seconds: seconds)
    }

    func checkBeginning(in bridge: borrowing BridgeState) throws(CommandFailure) {
        guard case .record = intent, let running = bridge.diagnostics.recorder.recording else { return }
        throw CommandFailure(
            .busy, "The traffic of tag \(running.tag) is being recorded until \(running.until.text)",
            hint: "Wait for its end, or send the request \"stop\"")
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        switch intent {
        case .record(let tag, let seconds):
            bridge.diagnostics.recorder.begin(tag, bridge.handle(of: tag), for: .seconds(seconds), at: now, &effects)
        case .stop:
            bridge.diagnostics.recorder.end(.stopped, at: now, &effects)
        }
        return .done(bridge.diagnostics.recorder.data)
    }
}
