/// Whether commands can reach the tag; why not, what to do and when the next attempt begins are attributes.
enum ConnectionEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "connection", .binarySensor, "Connection", category: .diagnostic, needs: .bridge,
                BinarySensorEntityDocument(
                    stateTopic: tag.topics.availability, payloadOn: "online", payloadOff: "offline",
                    deviceClass: "connectivity", jsonAttributesTopic: tag.topics.connection,
                    jsonAttributesTemplate:
                        "{{ {'error': value_json.error.text if value_json.error else none, "
                        + "'hint': value_json.error.hint if value_json.error else none, "
                        + "'retry': value_json.retry_at} | tojson }}"))
        ]
    }
}
