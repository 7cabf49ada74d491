/// How many tags the latest scan found; the tags are in the attributes.
enum FoundTagsEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "found", .sensor, "Tags found", icon: "mdi:magnify",
            SensorEntityDocument(
                stateTopic: bridge.topics.found, valueTemplate: "{{ value_json.count }}",
                // Releases up to 2024 take the word None of a template for unknown in a numeric sensor only.
                stateClass: "measurement",
                jsonAttributesTopic: bridge.topics.found,
                jsonAttributesTemplate:
                    "{{ {'tags': value_json.tags, 'more': value_json.more, 'scanning': value_json.scanning} | tojson }}"
            ))
    }
}
