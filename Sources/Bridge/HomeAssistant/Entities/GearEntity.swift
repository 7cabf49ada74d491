/// Which gear the tag is in; the rest of `T/gear` are its attributes.
///
/// Not of the class `enum`: that refuses words that were not announced, and there may be gear with other names.
enum GearEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "gear", .sensor, "Gear", icon: "mdi:hanger",
                SensorEntityDocument(
                    stateTopic: tag.topics.gear,
                    valueTemplate: "{{ 'none' if value_json.attached == false else value_json.product }}",
                    jsonAttributesTopic: tag.topics.gear))
        ]
    }
}
