import JacquardProtocol

/// A device trigger for each gesture that a user can make: the shortest way from a gesture to an automation.
///
/// They are there whether or not gear is attached: Home Assistant does not forgive a trigger that comes and goes.
enum GestureTriggers: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        Gesture.known.map { gesture in
            let word = GestureName(gesture).rawValue
            let trigger = TriggerDocument(
                type: "gesture", subtype: word, topic: tag.topics.gesture,
                valueTemplate: "{{ value_json.event_type }}", payload: word)
            return DiscoveryItem(key: "trigger_" + word, platform: .deviceAutomation, parts: [trigger])
        }
    }
}
