/// Whether the battery is being charged; unknown until the tag has told it.
enum ChargingEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "charging", .binarySensor, "Charging", category: .diagnostic,
                BinarySensorEntityDocument(
                    stateTopic: tag.topics.battery, valueTemplate: "{{ value_json.charging }}",
                    payloadOn: .templateTrue, payloadOff: .templateFalse, deviceClass: "battery_charging"))
        ]
    }
}

extension String {
    /// What a template makes of JSON's `true`.
    static let templateTrue = "True"
    /// What a template makes of JSON's `false`; of `null` it makes `None`, which Home Assistant reads as unknown.
    static let templateFalse = "False"
}
