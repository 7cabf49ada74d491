/// How many tags are connected through the bridge.
enum ConnectedTagsEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "connected_tags", .sensor, "Connected tags", category: .diagnostic, icon: "mdi:bluetooth",
            SensorEntityDocument(
                stateTopic: bridge.topics.tags, valueTemplate: "{{ value_json.connected }}",
                stateClass: "measurement"))
    }
}
