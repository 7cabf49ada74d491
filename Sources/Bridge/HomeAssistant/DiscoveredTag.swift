/// A tag as far as Home Assistant has to know it, and what its entities are made of.
struct DiscoveredTag: Sendable {
    /// What an entity needs in order to be available.
    enum Reach: Sendable {
        /// The bridge: the entity does not see the tag come and go.
        case bridge
        /// The tag too.
        case tag
        /// Gear on the tag too, able to do something.
        case gear(GearNeed)
    }

    /// What gear has to be able to do.
    enum GearNeed: Sendable {
        case anything, haptic
    }

    let id: TagID
    let name: String
    let serial: String
    let firmware: String?
    let topics: TagTopics
    /// `G/state`
    let bridgeState: String
    let form: HomeAssistantConfiguration.Form

    /// Everything that a tag has, in the order in which it is announced.
    private static let entities: [any TagEntity.Type] = [
        ConnectionEntity.self, BatteryEntity.self, ChargingEntity.self, AttachedEntity.self, GearEntity.self,
        GestureEntity.self, GestureTriggers.self, LEDEntity.self, HapticButtons.self, TouchModeEntity.self,
        ConnectEntity.self, SignalEntity.self, FirmwareEntity.self,
    ]

    /// The device, linked to that of the bridge.
    func device(bridgeObjectID: String) -> DiscoveredDevice {
        DiscoveredDevice(
            objectID: id.objectID,
            document: DeviceDocument(
                identifiers: [id.objectID], name: name, manufacturer: "Google", model: "Jacquard Tag",
                serialNumber: serial, swVersion: firmware, viaDevice: bridgeObjectID),
            items: Self.entities.flatMap { $0.items(of: self) })
    }
}

/// One kind of thing that is announced for a tag; one type for each.
protocol TagEntity: Sendable {
    /// One item, or several of a kind.
    static func items(of tag: DiscoveredTag) -> [DiscoveryItem]
}

extension DiscoveredTag {
    /// An entity of the tag.
    func entity(
        _ key: String,
        _ platform: DiscoveryItem.Platform,
        _ name: String,
        category: EntityDocument.Category? = nil,
        icon: String? = nil,
        isEnabled: Bool = true,
        needs reach: Reach = .tag,
        _ document: some Encodable & Sendable
    ) -> DiscoveryItem {
        let common = EntityDocument(
            uniqueID: "\(id.objectID)_\(key)", name: name, category: category, icon: icon, isEnabled: isEnabled,
            availability: availability(reach))
        return DiscoveryItem(key: key, platform: platform, parts: [common, document])
    }

    private func availability(_ reach: Reach) -> [AvailabilityDocument] {
        let bridge = AvailabilityDocument(topic: bridgeState)
        let tag = AvailabilityDocument(topic: topics.availability)
        switch reach {
        case .bridge: return [bridge]
        case .tag: return [bridge, tag]
        case .gear(let need):
            return [bridge, tag, AvailabilityDocument(topic: topics.gear, valueTemplate: need.template)]
        }
    }
}

extension DiscoveredTag.GearNeed {
    /// Reads `T/gear`.
    fileprivate var template: String {
        switch self {
        case .anything: "{{ 'online' if value_json.attached else 'offline' }}"
        case .haptic: "{{ 'online' if 'haptic' in (value_json.capabilities or []) else 'offline' }}"
        }
    }
}

extension TagID {
    /// The tag's name in discovery topics and ids. It does not change when the tag is renamed or moves to another bridge.
    var objectID: String { "jacquard_tag_" + text.discoveryWord }
}

extension String {
    /// The text in the letters that Home Assistant takes in discovery topics; any other byte as `_` and two hexadecimal
    /// digits.
    var discoveryWord: String {
        utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                String(UnicodeScalar(byte))
            default: "_" + String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
            }
        }.joined()
    }
}
