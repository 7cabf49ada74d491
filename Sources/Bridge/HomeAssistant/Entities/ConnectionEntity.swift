/// Whether commands can reach the tag. It says so as long as the bridge is there.
enum ConnectionEntity: TagEntity {
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem] {
        [
            tag.entity(
                "connection", .binarySensor, "Connection", category: .diagnostic, needs: .bridge,
                BinarySensorEntityDocument(
                    stateTopic: tag.topics.availability, payloadOn: "online", payloadOff: "offline",
                    deviceClass: "connectivity"))
        ]
    }
}
