import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes

@testable import Bridge

extension Scene {
    /// A bridge with discovery, before its start. Its tags were attached to gear before, except the bare ones.
    static func announcing(
        _ form: HomeAssistantConfiguration.Form = .device, prefix: String = "homeassistant",
        tags: [TagEntry] = [.sleeve], bare: Set<TagID> = []
    ) -> Scene {
        let scene = Scene(tags: tags)
        let configuration = BridgeConfiguration(
            instance: "attic", version: "0.1.0", tags: tags,
            homeAssistant: HomeAssistantConfiguration(prefix: prefix, form: form))
        let gear = TagRecord.Gear(vendorID: "74-a8-ce-54", productID: "8a-66-50-f4", name: "Trucker Jacket")
        let records = tags.filter { !bare.contains($0.id) }.map {
            TagRecord(id: $0.id, serial: $0.serial, lastGear: gear)
        }
        scene.state = BridgeState(
            configuration: configuration, records: records, boot: "9f3c", startedAt: Scene.beginning)
        return scene
    }

    /// A bridge that has announced its tags and has no further deadline.
    static func announced(
        _ form: HomeAssistantConfiguration.Form = .device, tags: [TagEntry] = [.sleeve], bare: Set<TagID> = []
    ) -> Scene {
        let scene = announcing(form, tags: tags, bare: bare)
        scene.begin()
        scene.wait(.seconds(2))
        return scene
    }

    /// The bridge starts and connects to the broker.
    func begin() {
        handle(.started)
        handle(.brokerConnected)
    }

    /// A message arrives on a topic outside the base topic.
    @discardableResult
    func receive(_ topic: String, _ payload: String, isRetained: Bool = false) -> [String] {
        receive(MQTTMessage(topic: topic, payload: Array(payload.utf8), isRetained: isRetained))
    }
}

extension TagEntry {
    static let sleeve = TagEntry(id: .tag003R, serial: "003R", name: "Left sleeve")
}

extension [String] {
    /// The topics of the lines, without those below the base topic.
    var discoveryTopics: [String] {
        map { String($0.prefix { $0 != " " }) }.filter { !$0.hasPrefix("jacquard/") }
    }
}

/// A parsed discovery message.
struct Announcement {
    let topic: String
    let document: [String: JSONValue]

    init?(_ publication: Publication) {
        guard publication.topic.hasSuffix("/config"), publication.message.isRetained,
            publication.message.qos == .atLeastOnce,
            case .object(let document)? = JSONValue(parsing: publication.payload)
        else { return nil }
        topic = publication.topic
        self.document = document
    }

    /// The components of the device form, by key.
    var components: [String: [String: JSONValue]] {
        guard case .object(let components)? = document["components"] else { return [:] }
        return components.compactMapValues { if case .object(let object) = $0 { object } else { nil } }
    }
}

extension Scene {
    /// All discovery messages so far.
    var announcements: [Announcement] { publications.compactMap(Announcement.init) }

    /// The components of a device in the device form, by key.
    func components(of objectID: String = "jacquard_tag_003R") -> [String: [String: JSONValue]] {
        announcements.last { $0.topic == "homeassistant/device/\(objectID)/config" }?.components ?? [:]
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }

    var list: [JSONValue] { if case .array(let list) = self { list } else { [] } }
}
