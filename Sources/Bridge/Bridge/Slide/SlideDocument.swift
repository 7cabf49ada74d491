import JSON
import JacquardProtocol
import Time

/// `T/slide`.
struct SlideDocument: JSONRecord {
    let event: SlideMachine.Event
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        object.add("delta", event.delta)
        object.add("phase", event.phase.rawValue)
        object.add("position", event.position)
        object.add("strength", event.strength)
        object.add("time", now)
    }
}

extension CommandData {
    /// The data of the result of `touch_mode/set` `slide`, which ends after so much time without a touch.
    static func slide(idle: Duration) -> CommandData {
        CommandData { object in
            object.add("idle_min", idle.components.seconds / 60)
            object.add(
                "note", "While the touch mode is slide the gear streams, which empties the battery of the tag faster")
        }
    }
}

extension CommandFailure {
    /// The touch mode `slide` without `slide.enabled`.
    static let slideIsDisabled = CommandFailure(
        .notPermitted, "The touch mode slide is disabled in the configuration",
        hint: "It empties the battery of the tag faster; set slide.enabled: true, and reload")
}
