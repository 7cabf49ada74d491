/// Looks for tags for half a minute.
enum ScanButton: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "scan", .button, "Scan", icon: "mdi:radar",
            ButtonEntityDocument(commandTopic: bridge.topics.request("scan"), payloadPress: #"{"duration_s":30}"#))
    }
}
