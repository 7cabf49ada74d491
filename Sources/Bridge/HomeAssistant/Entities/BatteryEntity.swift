/// The battery's level in percent; unknown until the tag has told it.
enum BatteryEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "battery", .sensor, "Battery", category: .diagnostic,
                SensorEntityDocument(
                    stateTopic: tag.topics.battery, valueTemplate: "{{ value_json.level }}", deviceClass: "battery",
                    unitOfMeasurement: "%", stateClass: "measurement"))
        ]
    }
}
