/// The last gesture, with everything that `T/gesture` says of it.
///
/// It needs the bridge alone. Otherwise it would change its state whenever the tag leaves and comes back, and run every
/// automation that waits for its state to change.
enum GestureEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        let titles = GestureName.allCases.map { ($0.rawValue, $0.title) }
        return [
            tag.entity(
                "gesture", .event, "Gesture", icon: "mdi:gesture", needs: .bridge,
                EventEntityDocument(
                    stateTopic: tag.topics.gesture,
                    valueTemplate:
                        "{{ dict(value_json, mqtt_event_type=value_json.event_type, "
                        + "event_type=\(titles.template).get(value_json.event_type, '\(GestureName.unknown.title)')) | tojson }}",
                    eventTypes: titles.map(\.1)))
        ]
    }
}

extension GestureName {
    /// The gesture as Home Assistant shows it.
    fileprivate var title: String {
        switch self {
        case .doubleTap: "Double tap"
        case .brushIn: "Brush in"
        case .brushOut: "Brush out"
        case .cover: "Cover"
        case .brushUp: "Brush up"
        case .brushDown: "Brush down"
        case .unknown: "Unknown gesture"
        }
    }
}
