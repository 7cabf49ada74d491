/// The serial of the tag that ``PairButton`` pairs.
enum PairingSerialEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "pair_serial", .text, "Serial of the tag to pair", icon: "mdi:form-textbox",
            TextEntityDocument(
                stateTopic: bridge.topics.pairing, valueTemplate: "{{ value_json.request_serial or '' }}",
                commandTopic: bridge.topics.request(PairSerialRequest.name), max: 64, pattern: "^[0-9A-Za-z-]*$"))
    }
}

/// Pairs the tag with the serial of ``PairingSerialEntity``.
enum PairButton: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        bridge.entity(
            "pair", .button, "Pair", icon: "mdi:bluetooth-settings",
            ButtonEntityDocument(commandTopic: bridge.topics.request(PairRequest.name), payloadPress: "{}"))
    }
}

/// How far the pairing is; why it failed and what to do are attributes.
enum PairingEntity: BridgeEntity {
    static func item(of bridge: DiscoveredBridge) -> DiscoveryItem {
        let titles = PairingProgress.State.allCases.map { ($0.rawValue, $0.title) }
        return bridge.entity(
            "pairing", .sensor, "Pairing", icon: "mdi:bluetooth-connect",
            SensorEntityDocument(
                stateTopic: bridge.topics.pairing, valueTemplate: "{{ \(titles.template).get(value_json.state) }}",
                deviceClass: "enum", options: titles.map(\.1), jsonAttributesTopic: bridge.topics.pairing,
                jsonAttributesTemplate:
                    "{{ {'serial': value_json.serial, 'hint': value_json.hint, "
                    + "'error': value_json.error.text if value_json.error else none} | tojson }}"))
    }
}

extension PairingProgress.State {
    /// The state as Home Assistant shows it.
    fileprivate var title: String {
        switch self {
        case .idle: "Idle"
        case .searching: "Searching, hold the tag's button"
        case .found: "Found"
        case .pairing: "Pairing"
        case .connecting: "Connecting"
        case .paired: "Paired"
        case .failed: "Failed"
        }
    }
}
