/// Whether the bridge keeps the tag connected or leaves it alone.
enum ConnectEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "connect", .switch, "Keep connected", category: .config, icon: "mdi:bluetooth-connect", needs: .bridge,
                SwitchEntityDocument(
                    stateTopic: tag.topics.connection,
                    valueTemplate: "{{ 'OFF' if value_json.state == 'disconnected' else 'ON' }}",
                    stateOn: "ON", stateOff: "OFF", commandTopic: tag.topics.command(ConnectionSet.name),
                    payloadOn: "connect", payloadOff: "disconnect"))
        ]
    }
}
