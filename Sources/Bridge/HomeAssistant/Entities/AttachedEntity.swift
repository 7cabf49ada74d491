/// Whether the tag is in its gear; unknown until the tag has told it.
enum AttachedEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "attached", .binarySensor, "Attached", icon: "mdi:tshirt-crew",
                BinarySensorEntityDocument(
                    stateTopic: tag.topics.gear, valueTemplate: "{{ value_json.attached }}",
                    payloadOn: .templateTrue, payloadOff: .templateFalse))
        ]
    }
}
