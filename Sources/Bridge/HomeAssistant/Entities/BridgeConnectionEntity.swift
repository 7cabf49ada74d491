/// Whether the bridge is there. Always available: otherwise it could not say no.
enum BridgeConnectionEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "connection", .binarySensor, "Connection", category: .diagnostic, isAlwaysAvailable: true,
            BinarySensorEntityDocument(
                stateTopic: bridge.topics.state, payloadOn: "online", payloadOff: "offline",
                deviceClass: "connectivity"))
    }
}
