/// Which gear the tag is in; the rest of `T/gear` are its attributes. Keeps the last value while the tag is away.
///
/// Gear without a name is shown by its product number, which the configuration needs to name it.
///
/// Not of the class `enum`: that refuses words that were not announced, and there may be gear with other names.
enum GearEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "gear", .sensor, "Gear", icon: "mdi:hanger", needs: .bridge,
                SensorEntityDocument(
                    stateTopic: tag.topics.gear,
                    valueTemplate:
                        "{{ 'none' if value_json.attached == false else value_json.product or value_json.product_id }}",
                    jsonAttributesTopic: tag.topics.gear))
        ]
    }
}
