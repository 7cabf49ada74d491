/// The battery's level in percent; unknown until the tag has reported it. Keeps the last value while the tag is away.
enum BatteryEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "battery", .sensor, "Battery", category: .diagnostic, needs: .bridge,
                SensorEntityDocument(
                    stateTopic: tag.topics.battery, valueTemplate: "{{ value_json.level }}", deviceClass: "battery",
                    unitOfMeasurement: "%", stateClass: "measurement"))
        ]
    }
}
