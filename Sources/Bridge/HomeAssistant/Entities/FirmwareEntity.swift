/// The version of the tag's firmware. A sensor and not an `update`: the bridge neither knows the latest nor installs it.
/// Keeps the last value while the tag is away.
enum FirmwareEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "firmware", .sensor, "Firmware", category: .diagnostic, icon: "mdi:chip", needs: .bridge,
                SensorEntityDocument(stateTopic: tag.topics.info, valueTemplate: "{{ value_json.firmware }}"))
        ]
    }
}
