/// The signal strength; changes often, so it has to be enabled by the user.
enum SignalEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "rssi", .sensor, "Signal strength", category: .diagnostic, isEnabled: false,
                SensorEntityDocument(
                    stateTopic: tag.topics.rssi, valueTemplate: "{{ value_json }}", deviceClass: "signal_strength",
                    unitOfMeasurement: "dBm", stateClass: "measurement"))
        ]
    }
}
