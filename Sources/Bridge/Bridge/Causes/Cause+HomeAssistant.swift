/// The causes that lie in Home Assistant.
extension Cause {
    /// A user has deleted the device of a tag, or one of its entities.
    static func deletedInHomeAssistant(_ tag: TagEntry) -> Cause {
        Cause(
            .deletedInHomeAssistant, .homeAssistant,
            "The device of tag \(tag.id) or one of its entities was deleted in Home Assistant. It comes back when Home Assistant or "
                + "the bridge starts again",
            remedies: [
                "To remove the tag for good, take it out of the configuration, or forget it: jacquard2mqtt forget \(tag.id)"
            ])
    }

    /// A user has deleted the device of the bridge, or one of its entities.
    static let bridgeDeleted = Cause(
        .deletedInHomeAssistant, .homeAssistant,
        "The device of the bridge or one of its entities was deleted in Home Assistant. It comes back when Home Assistant or the "
            + "bridge starts again",
        remedies: ["To remove it for good, set home_assistant.discovery: false"])
}
