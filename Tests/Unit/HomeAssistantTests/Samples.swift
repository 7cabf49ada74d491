import JSON

@testable import HomeAssistant

extension Vocabulary {
    static let sample = Vocabulary(
        gestures: ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"], unknownGesture: "unknown",
        touchModes: Choices(
            ["gesture", "continuous"], titles: ["gesture": "Gestures", "continuous": "Touch data (gestures pause)"]),
        effects: ["solid", "breathe", "pulse"], statuses: ["connected", "disconnected_by_user"],
        signals: ["default", "doorbell"],
        entities: [
            FeatureEntity(
                Entity(
                    "purr", "Purr",
                    .switch("purr", "{{ value | upper }}", command: "purr/set", on: "start", off: "stop"),
                    category: .config), of: .tag)
        ],
        pairingStates: ["idle", "searching", "found", "pairing", "connecting", "paired", "failed"])
}

extension DiscoveredBridge {
    static let attic = DiscoveredBridge(instance: "attic", topic: "jacquard/bridge/attic", version: "0.1.0")
}

extension DiscoveredTag {
    static let sleeve = DiscoveredTag(
        id: "003R", topic: "jacquard/tag/003R", name: "Left sleeve", serial: "003R", firmware: nil,
        features: TagFeatures(hasGear: true))
}

extension HomeAssistantDiscovery {
    /// The announcements of the bridge `attic` with tags.
    static func attic(
        _ form: HomeAssistantConfiguration.Form = .device, prefix: String = "homeassistant", tags: [String] = ["003R"]
    ) -> HomeAssistantDiscovery {
        var discovery = HomeAssistantDiscovery(
            HomeAssistantConfiguration(prefix: prefix, form: form), .attic, .sample)
        discovery.setTags(tags)
        return discovery
    }
}

extension DiscoveryMessage {
    var text: String { String(decoding: payload, as: UTF8.self) }

    /// The keys of the document.
    var document: [String: JSONValue] { JSONValue(parsing: payload)?.object ?? [:] }

    /// The entities of the device form, by key.
    var entities: [String: [String: JSONValue]] {
        (document["components"]?.object ?? [:]).compactMapValues(\.object)
    }
}

extension JSONValue {
    var object: [String: JSONValue]? { if case .object(let object) = self { object } else { nil } }

    var strings: [String] { (elements ?? []).compactMap(\.string) }
}

extension HomeAssistantDiscovery {
    /// The components of a tag with everything that a configuration can switch on, and of the bridge.
    static func everything() -> [String: [String: JSONValue]] {
        let words = Vocabulary(
            gestures: ["cover"], unknownGesture: "unknown", touchModes: Choices(["gesture", "slide"]),
            effects: ["solid"],
            statuses: ["connected"], signals: ["default"], pairingStates: ["idle"], presenceStates: ["here", "gone"],
            hasRadios: true, hasButtons: true)
        var discovery = HomeAssistantDiscovery(HomeAssistantConfiguration(), .attic, words)
        discovery.setTags(["003R"])
        let tag = DiscoveredTag(
            id: "003R", topic: "jacquard/tag/003R", name: "Left sleeve", serial: "003R", firmware: nil, features: .all)
        let messages = discovery.announcement(of: tag) + discovery.documents.announcementOfBridge
        return messages.reduce(into: [:]) { all, message in
            all.merge(
                message.entities.map { ("\(message.topic == messages[0].topic ? "" : "bridge_")\($0.key)", $0.value) }
            ) { $1 }
        }
    }
}

/// The machine of the bridge `attic` with one tag. A class, because `#expect` evaluates no mutating calls.
final class LifeUnderTest {
    private var discovery: HomeAssistantDiscovery
    private var life: DiscoveryLife {
        get { discovery.life }
        _modify { yield &discovery.life }
    }

    init(_ form: HomeAssistantConfiguration.Form = .device, prefix: String = "homeassistant") {
        discovery = .attic(form, prefix: prefix)
    }

    var deletions: HomeAssistantDiscovery.Deletions { discovery.deletions }

    func setTags(_ ids: [String]) { discovery.setTags(ids) }

    var deadline: Duration? { life.deadline }

    var filters: [String] { life.filters }

    var hasAnnounced: Bool { life.hasAnnounced }

    func brokerConnected(at now: Duration) {
        life.brokerConnected(at: now)
    }

    func received(_ topic: String, _ payload: [UInt8], isRetained: Bool, at now: Duration) -> Bool {
        discovery.received(topic, payload, isRetained: isRetained, at: now)
    }

    func takeDue(at now: Duration) -> [DiscoveryAction] {
        life.takeDue(at: now)
    }
}
