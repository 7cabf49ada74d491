import JSON
import JacquardProtocol
import Time

/// `request/forget`: removes the bond, then discovery, then all retained topics of a tag.
///
/// The tag is a bare word or the key `id`, which is then not a command `id`. Beside the key `tag`, `id` is a command
/// `id` as in all commands.
struct ForgetRequest: BridgeRequest {
    static let name = "forget"
    static var needsPayload: Bool { true }
    static let keys = ["id", "tag"]

    private let entry: TagEntry
    private let tag: TagHandle

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(payload) { text in ["id": .string(text)] }
        let key = arguments["tag"] == nil ? "id" : "tag"
        let text = try arguments.text(key, longest: TagID.longest)
        let position = try bridge.tagPosition(CommandArguments.required(text, key, mayBe: "the id of a tag"))
        (entry, tag) = (bridge.tags[position].entry, bridge.tags[position].handle)
        guard !bridge.leftovers.departures.isForgetting(entry.id) else {
            throw CommandFailure(.busy, "Tag \(entry.id) is being forgotten already", hint: "Wait for that result")
        }
    }

    /// Returns whether the `id` of a request names a tag: the same tag may be forgotten again within a minute.
    static func isTagID(_ payload: Result<CommandPayload, CommandFailure>) -> Bool {
        if case .success(.object(let arguments)) = payload { arguments["tag"] == nil } else { false }
    }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        bridge.leftovers.departures.setForgetting(entry.id, true)
        effects.add(.forget(tag, token: token))
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        bridge.leftovers.departures.setForgetting(entry.id, false)
        bridge.forgotten(entry, token: token, at: now, &effects)
        return .underWay
    }

    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) {
        bridge.leftovers.departures.setForgetting(entry.id, false)
        bridge.keptAfterAll(entry.id, at: now, &effects)
    }
}
