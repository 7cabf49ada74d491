/// Whether a person should look at the bridge, and why.
enum ProblemEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "problem", .binarySensor, "Problem", category: .diagnostic,
            BinarySensorEntityDocument(
                stateTopic: bridge.topics.health,
                valueTemplate: "{{ 'OFF' if value_json.status == 'ok' else 'ON' }}",
                payloadOn: "ON", payloadOff: "OFF", deviceClass: "problem",
                jsonAttributesTopic: bridge.topics.health,
                jsonAttributesTemplate:
                    "{{ {'problems': value_json.problems | map(attribute='text') | list} | tojson }}"))
    }
}
