/// A button for each haptic pattern. The less common ones are there, but have to be enabled by the user.
enum HapticButtons: TagEntity {
    /// Words of `haptic/set`, with names and whether they are enabled.
    private static let buttons: [(word: String, name: String, isCommon: Bool)] = [
        ("short", "Vibrate short", true),
        ("long", "Vibrate long", true),
        ("stop", "Stop vibrating", true),
        ("sine_increase", "Vibrate sine increasing", false),
        ("sine_decrease", "Vibrate sine decreasing", false),
        ("linear_increase", "Vibrate linear increasing", false),
        ("linear_decrease", "Vibrate linear decreasing", false),
        ("parabolic_increase", "Vibrate parabolic increasing", false),
        ("parabolic_decrease", "Vibrate parabolic decreasing", false),
    ]

    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        buttons.map { button in
            tag.entity(
                "haptic_" + button.word, .button, button.name, icon: "mdi:vibrate", isEnabled: button.isCommon,
                needs: .gear(.haptic),
                ButtonEntityDocument(commandTopic: tag.topics.command(HapticSet.name), payloadPress: button.word))
        }
    }
}
