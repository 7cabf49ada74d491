/// The last gesture, with everything that `T/gesture` says of it.
///
/// It needs the bridge alone. Otherwise it would change its state whenever the tag leaves and comes back, and run every
/// automation that waits for its state to change.
enum GestureEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "gesture", .event, "Gesture", icon: "mdi:gesture", needs: .bridge,
                EventEntityDocument(
                    stateTopic: tag.topics.gesture, eventTypes: GestureName.allCases.map(\.rawValue)))
        ]
    }
}
