/// The tag's own LED; its effects are the tag's patterns.
enum LEDEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "led", .light, "LED",
                LightEntityDocument(
                    stateTopic: tag.topics.led, commandTopic: tag.topics.command(LEDSet.name),
                    colorMode: tag.form == .single ? true : nil, effectList: LEDEffect.effects.map(\.word)))
        ]
    }
}
