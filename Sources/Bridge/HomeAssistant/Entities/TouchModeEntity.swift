import JacquardProtocol

/// What the gear reports: gestures or touches. The name of the option says that gestures pause meanwhile.
enum TouchModeEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        let titles = TouchMode.allCases.map { ($0.word, $0.title) }
        return [
            tag.entity(
                "touch_mode", .select, "Touch mode", category: .config, icon: "mdi:gesture-tap",
                needs: .gear(.anything),
                SelectEntityDocument(
                    stateTopic: tag.topics.touchMode, valueTemplate: "{{ \(titles.template).get(value) }}",
                    commandTopic: tag.topics.command(TouchModeSet.name),
                    commandTemplate: "{{ \(titles.reversedTemplate)[value] }}", options: titles.map(\.1)))
        ]
    }
}

extension TouchMode {
    /// The mode as Home Assistant shows it.
    fileprivate var title: String {
        switch self {
        case .gesture: "Gestures"
        case .continuous: "Touch data (gestures pause)"
        }
    }
}
