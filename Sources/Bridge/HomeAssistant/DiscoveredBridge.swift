/// The bridge itself as a device, through which Home Assistant sees the tags.
struct DiscoveredBridge: Sendable {
    let instance: String
    let version: String
    let topics: BridgeTopics

    /// The bridge's name in discovery topics and ids.
    var objectID: String { Self.objectID(of: instance) }

    /// The same of any bridge.
    static func objectID(of instance: String) -> String { "jacquard_bridge_" + instance.discoveryWord }

    /// Everything that a bridge has, in the order in which it is announced.
    private static let entities: [any BridgeEntity.Type] = [
        BridgeConnectionEntity.self, ScanButton.self, FoundTagsEntity.self, PairingSerialEntity.self, PairButton.self,
        PairingEntity.self, ConnectedTagsEntity.self, ProblemEntity.self,
    ]

    /// The device.
    var device: DiscoveredDevice {
        DiscoveredDevice(
            objectID: objectID,
            document: DeviceDocument(
                identifiers: [objectID], name: "Jacquard bridge \(instance)", manufacturer: OriginDocument.program,
                model: "MQTT bridge", swVersion: version),
            items: Self.entities.map { $0.item(of: self) })
    }
}

/// One thing that is announced for the bridge; one type for each.
protocol BridgeEntity: Sendable {
    /// The item.
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem
}

extension DiscoveredBridge {
    /// An entity of the bridge.
    func entity(
        _ key: String,
        _ platform: DiscoveryItem.Platform,
        _ name: String,
        category: EntityDocument.Category? = nil,
        icon: String? = nil,
        isAlwaysAvailable: Bool = false,
        _ document: some Encodable & Sendable
    ) -> DiscoveryItem {
        let common = EntityDocument(
            uniqueID: "\(objectID)_\(key)", name: name, category: category, icon: icon, isEnabled: true,
            availability: isAlwaysAvailable ? [] : [AvailabilityDocument(topic: topics.state)])
        return DiscoveryItem(key: key, platform: platform, parts: [common, document])
    }
}
