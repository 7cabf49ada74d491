import JSON
import JacquardProtocol
import Time

/// `T/slide`.
struct SlideDocument: Encodable {
    let delta: Int
    let phase: String
    let position: Int
    let strength: Int
    let time: String

    init(_ event: SlideMachine.Event, at now: Timestamp) {
        delta = event.delta
        phase = event.phase.rawValue
        position = event.position
        strength = event.strength
        time = now.text
    }
}

/// `data` of the result of `touch_mode/set` `slide`.
private struct SlideNote: Encodable, Sendable {
    let idleMinutes: Int64
    let note = "While the touch mode is slide the gear streams, which empties the battery of the tag faster"

    private enum CodingKeys: String, CodingKey {
        case idleMinutes = "idle_min"
        case note
    }
}

extension CommandData {
    /// The data of the result of `touch_mode/set` `slide`, which ends after so much time without a touch.
    static func slide(idle: Duration) -> CommandData {
        CommandData(SlideNote(idleMinutes: idle.components.seconds / 60))
    }
}

extension CommandFailure {
    /// The touch mode `slide` without `slide.enabled`.
    static let slideIsDisabled = CommandFailure(
        .notPermitted, "The touch mode slide is disabled in the configuration",
        hint: "It empties the battery of the tag faster; set slide.enabled: true, and reload")
}
