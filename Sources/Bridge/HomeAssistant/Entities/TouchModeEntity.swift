import JacquardProtocol

/// What the gear reports: gestures or touches.
enum TouchModeEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "touch_mode", .select, "Touch mode", category: .config, icon: "mdi:gesture-tap",
                needs: .gear(.anything),
                SelectEntityDocument(
                    stateTopic: tag.topics.touchMode, commandTopic: tag.topics.command(TouchModeSet.name),
                    options: TouchMode.allCases.map(\.word)))
        ]
    }
}
