import JSON

/// A tag as Home Assistant shows it.
public struct DiscoveredTag: Hashable, Sendable {
    /// The tag's id in topics.
    public let id: String
    /// The tag's topic, `T`: `jacquard/tag/003R`.
    public let topic: String
    /// The name to show.
    public let name: String
    /// The serial printed on the tag.
    public let serial: String
    /// The version of its firmware; nil while it is unknown.
    public let firmware: String?
    /// The properties that decide which entities it has.
    public let features: TagFeatures

    /// Describes a tag.
    public init(
        id: String, topic: String, name: String, serial: String, firmware: String?,
        features: TagFeatures = TagFeatures()
    ) {
        self.features = features
        self.id = id
        self.topic = topic
        self.name = name
        self.serial = serial
        self.firmware = firmware
    }
}

/// The bridge as Home Assistant shows it.
public struct DiscoveredBridge: Hashable, Sendable {
    /// The bridge's name in topics.
    public let instance: String
    /// The bridge's topic, `G`: `jacquard/bridge/attic`.
    public let topic: String
    /// The version of the program.
    public let version: String
    /// The address of its web page; nil if there is none.
    public let page: String?

    /// Describes a bridge.
    public init(instance: String, topic: String, version: String, page: String? = nil) {
        self.page = page
        self.instance = instance
        self.topic = topic
        self.version = version
    }
}

/// An entity or a device trigger of an announcement.
public struct AnnouncedComponent: Hashable, Sendable {
    /// Identifies it within its device.
    let key: String
    /// Home Assistant's platform.
    let platform: String

    init(key: String, platform: String) {
        (self.key, self.platform) = (key, platform)
    }

    init(_ entity: Entity) {
        self.init(key: entity.key, platform: entity.kind.platform)
    }

    /// The component of a topic of the single form; nil for another topic.
    init?(ofSingleForm topic: String) {
        let levels = topic.split(separator: "/")
        guard levels.count >= 4 else { return nil }
        self.init(key: String(levels[levels.count - 2]), platform: String(levels[levels.count - 4]))
    }
}

/// A retained message of discovery, to be published with QoS 1. An empty payload removes what the topic announced.
public struct DiscoveryMessage: Hashable, Sendable {
    /// The topic.
    public let topic: String
    /// The payload: JSON, or empty.
    public let payload: [UInt8]
    /// Whether it removes components that the next message of the topic does not have: Home Assistant has to receive both.
    public let removesComponents: Bool

    init(topic: String, payload: [UInt8], removesComponents: Bool = false) {
        (self.topic, self.payload, self.removesComponents) = (topic, payload, removesComponents)
    }

    /// Removes what a topic announced.
    static func empty(_ topic: String) -> DiscoveryMessage {
        DiscoveryMessage(topic: topic, payload: [])
    }

    /// Asks Home Assistant to expect the entities of a topic in the other form.
    static func migrationRequest(_ topic: String) -> DiscoveryMessage {
        DiscoveryMessage(topic: topic, payload: requestPayload)
    }

    private static let requestPayload = Array(#"{"migrate_discovery":true}"#.utf8)
    /// The name of the program in `origin`, by which it recognizes its own messages.
    static let program = "jacquard2mqtt"
    /// Longer payloads are not read.
    private static let maxBytes = 65_536

    /// Whether this program published a payload, in this run or an earlier one.
    static func isOwn(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty, payload.count <= maxBytes else { return false }
        if payload == requestPayload { return true }
        return JSONValue(parsing: payload)?["origin"]?["name"]?.string == program
    }
}

/// The messages that announce the bridge and its tags, and those that remove them.
public struct DiscoveryDocuments: Sendable {
    let topics: DiscoveryTopics
    private let bridge: DiscoveredBridge
    var words: Vocabulary
    /// The serials of the tags that the latest scan has found, and that can be paired.
    var foundSerials: [String] = []
    /// The properties of announced tags, by id.
    var features: [String: TagFeatures] = [:]

    init(_ topics: DiscoveryTopics, _ bridge: DiscoveredBridge, _ words: Vocabulary) {
        self.topics = topics
        self.bridge = bridge
        self.words = words
    }

    /// Announces the bridge.
    public var announcementOfBridge: [DiscoveryMessage] {
        var keys: [String: JSONValue] = [
            "name": .string("Jacquard bridge \(bridge.instance)"),
            "manufacturer": .string(DiscoveryMessage.program), "model": "MQTT bridge",
            "sw_version": .string(bridge.version),
        ]
        keys["configuration_url"] = bridge.page.map(JSONValue.string)
        return messages(
            Device(
                objectID: DiscoveryTopics.objectID(ofBridge: bridge.instance), topic: bridge.topic,
                bridgeTopic: bridge.topic, keys: keys,
                availability: [bridge.topic + "/state"],
                entities: Entity.bridgeEntities(words, found: foundSerials)))
    }

    /// Announces a tag. After gear was attached once, the announcement does not depend on it: entities that need gear are
    /// unavailable without it.
    public func announcement(of tag: DiscoveredTag) -> [DiscoveryMessage] {
        announcement(
            of: tag,
            TagNames(
                objectID: DiscoveryTopics.objectID(ofTag: tag.id), id: tag.id,
                address: DiscoveryTopics.addressPart(ofTag: tag.id)))
    }

    /// The forms of a tag's id in an announcement.
    struct TagNames {
        var objectID: String
        var id: String
        /// A part of the address of its place on the web page.
        var address: String
    }

    /// Announces a tag with other texts in place of its ids, such as the fields of a template.
    func announcement(of tag: DiscoveredTag, _ names: TagNames) -> [DiscoveryMessage] {
        var keys: [String: JSONValue] = [
            "name": .string(tag.name), "manufacturer": "Google", "model": "Jacquard Tag",
            "serial_number": .string(tag.serial),
            "via_device": .string(DiscoveryTopics.objectID(ofBridge: bridge.instance)),
        ]
        keys["sw_version"] = tag.firmware.map(JSONValue.string)
        keys["configuration_url"] = bridge.page.map { .string(Self.page(ofTag: names.address, at: $0)) }
        return messages(
            Device(
                objectID: names.objectID, topic: tag.topic, bridgeTopic: bridge.topic, keys: keys,
                availability: [bridge.topic + "/state", tag.topic + "/availability"],
                entities: entities(ofTag: tag.id, payload: names.id)))
    }

    /// The address of a tag's place on the web page. Home Assistant opens pages of its own without the part after `#`.
    private static func page(ofTag part: String, at page: String) -> String {
        guard !page.hasPrefix("homeassistant:"), !page.contains("#") else { return page }
        return page + "#tag/" + part
    }

    /// Announces a tag, and removes the components that were announced before and no longer exist.
    public func announcement(of tag: DiscoveredTag, removing former: Set<AnnouncedComponent>) -> [DiscoveryMessage] {
        adding(to: announcement(of: tag), theRemovalOf: former.subtracting(components(ofTag: tag.id)), of: tag)
    }

    /// Removes components before a tag is announced.
    func adding(
        to announcement: [DiscoveryMessage], theRemovalOf components: Set<AnnouncedComponent>, of tag: DiscoveredTag
    ) -> [DiscoveryMessage] {
        let removed = components.sorted { $0.key < $1.key }
        guard !removed.isEmpty else { return announcement }
        let objectID = DiscoveryTopics.objectID(ofTag: tag.id)
        switch topics.form {
        case .device: return announcement.map { $0.removing(removed) } + announcement
        case .single: return removed.map { .empty(topics.announcement(of: $0, objectID)) } + announcement
        }
    }

    /// The entities and device triggers of a tag.
    public func components(ofTag id: String) -> Set<AnnouncedComponent> {
        Set(entities(ofTag: id).map(AnnouncedComponent.init))
    }

    /// The components that a tag can have in the present form; nil: the bridge. Features of a tag may be unknown yet.
    func possibleComponents(ofTag id: String?) -> Set<AnnouncedComponent> {
        let entities = id.map { Entity.tagEntities(words, ofTag: $0, .all) } ?? Entity.bridgeEntities(words)
        return Set(
            entities.filter { topics.form == .device || !$0.kind.isOnlyInDeviceForm }.map(AnnouncedComponent.init))
    }

    /// The entities and device triggers of a tag in the present form.
    ///
    /// - Parameters:
    ///   - id: the tag.
    ///   - payload: the id in payloads, if it is another one.
    /// - Returns: the entities.
    private func entities(ofTag id: String, payload: String? = nil) -> [Entity] {
        Entity.tagEntities(words, ofTag: id, features[id, default: TagFeatures()], payload: payload)
            .filter { topics.form == .device || !$0.kind.isOnlyInDeviceForm }
    }

    /// The gestures and chords that a user can make with a tag.
    func events(ofTag id: String) -> [String] { words.events(ofTag: id) }

    /// Removes the announcements of the bridge and of tags.
    public func withdrawal(ofBridgeAndTags tags: [String]) -> [DiscoveryMessage] {
        announcedTopics(tags).map(DiscoveryMessage.empty)
    }

    /// Removes the announcement of a tag.
    public func withdrawal(ofTag id: String) -> [DiscoveryMessage] {
        announcedTopics(ofTag: id, topics, features[id] ?? .all).map(DiscoveryMessage.empty)
    }

    /// Removes the announcement of a tag in both forms: an earlier run may have used the other one.
    public func withdrawalInBothForms(ofTag id: String) -> [DiscoveryMessage] {
        topics.inBothForms.flatMap { announcedTopics(ofTag: id, $0, .all) }.map(DiscoveryMessage.empty)
    }

    /// Removes the announcement of a bridge in both forms, such as that of this bridge under a former name.
    public func withdrawalInBothForms(ofBridge instance: String) -> [DiscoveryMessage] {
        topics.inBothForms.flatMap { announcedTopics(ofBridge: instance, $0) }.map(DiscoveryMessage.empty)
    }

    /// Removes the announcement of a tag in the present form, with all that it can have.
    public func withdrawalInOneForm(ofTag id: String) -> [DiscoveryMessage] {
        announcedTopics(ofTag: id, topics, .all).map(DiscoveryMessage.empty)
    }

    /// Removes the announcement of a bridge in the present form.
    public func withdrawalInOneForm(ofBridge instance: String) -> [DiscoveryMessage] {
        announcedTopics(ofBridge: instance, topics).map(DiscoveryMessage.empty)
    }

    /// Whether a topic belongs to the device form while the single form is used. Releases without the device form log an
    /// error for each message to it.
    public func isUnknownToEarlyReleases(_ topic: String) -> Bool {
        topics.form == .single && topic.hasPrefix("\(topics.prefix)/\(DiscoveryTopics.deviceLevel)/")
    }

    /// The topics of the announcements of the bridge and of tags.
    func announcedTopics(_ tags: [String]) -> [String] {
        announcedTopics(ofBridge: bridge.instance, topics)
            + tags.flatMap { announcedTopics(ofTag: $0, topics, features[$0] ?? .all) }
    }

    private func announcedTopics(
        ofTag id: String, _ topics: DiscoveryTopics, _ features: TagFeatures
    ) -> [String] {
        let entities = Entity.tagEntities(words, ofTag: id, features).filter { !$0.kind.isOnlyInDeviceForm }
        return topics.announcements(of: DiscoveryTopics.objectID(ofTag: id), entities)
    }

    /// The topics of the announcement of this bridge.
    var announcedTopicsOfBridge: [String] { announcedTopics(ofBridge: bridge.instance, topics) }

    private func announcedTopics(ofBridge instance: String, _ topics: DiscoveryTopics) -> [String] {
        topics.announcements(of: DiscoveryTopics.objectID(ofBridge: instance), Entity.bridgeEntities(words))
    }
}

extension DiscoveryMessage {
    /// The components of a message of the device form.
    var components: Set<AnnouncedComponent> {
        guard case .object(let announced)? = JSONValue(parsing: payload)?["components"] else { return [] }
        return Set(
            announced.compactMap { key, value in
                value["platform"]?.string.map { AnnouncedComponent(key: key, platform: $0) }
            })
    }

    /// The same message of the device form with components reduced to their platform, which removes them. Home Assistant
    /// keeps a component that is only missing from the message.
    func removing(_ removed: [AnnouncedComponent]) -> DiscoveryMessage {
        guard case .object(var document)? = JSONValue(parsing: payload),
            case .object(var components)? = document["components"]
        else { return self }
        for component in removed { components[component.key] = ["platform": .string(component.platform)] }
        document["components"] = .object(components)
        return DiscoveryMessage(
            topic: topic, payload: JSONText.bytes(of: JSONValue.object(document)), removesComponents: true)
    }
}

// MARK: Encoding

/// A device with what its entities share.
private struct Device {
    let objectID: String
    /// The prefix of the topics of its entities.
    let topic: String
    /// The topic of its bridge.
    let bridgeTopic: String
    /// The keys of `device`. Home Assistant rejects every entity of a device with an unknown key, here, in `origin` or beside
    /// them, and with a platform that it does not know (2026.11); `model_id` is missing because releases before 2024.8 do not
    /// know it.
    let keys: [String: JSONValue]
    /// The topics that are `online` while it is available; the bridge's is the first.
    let availability: [String]
    let entities: [Entity]

    var document: JSONValue {
        .object(keys.merging(["identifiers": [.string(objectID)]]) { $1 })
    }

    /// The keys of an entity, the same in both forms. There is no `default_entity_id`: for an entity that comes back, Home
    /// Assistant 2026.11 replaces the id that the owner has chosen by it.
    func keys(of entity: Entity) -> [String: JSONValue] {
        // In each entity: early releases with the device form do not pass a shared value on.
        var keys = entity.kind.values.merging(["qos": 1]) { $1 }
        for (key, level) in entity.kind.topics { keys[key] = .string("\(topic)/\(level)") }
        for (key, level) in entity.kind.bridgeTopics { keys[key] = .string("\(bridgeTopic)/\(level)") }
        guard let name = entity.name else { return keys }
        keys["unique_id"] = .string("\(objectID)_\(entity.key)")
        keys["name"] = .string(name)
        keys["entity_category"] = entity.category.map { .string($0.rawValue) }
        keys["icon"] = entity.icon.map(JSONValue.string)
        keys["enabled_by_default"] = entity.isEnabled ? nil : false
        let availability = availability(of: entity.requirement)
        guard !availability.isEmpty else { return keys }
        keys["availability"] = .array(availability)
        // The default is that the latest payload of any topic decides.
        keys["availability_mode"] = "all"
        return keys
    }

    private func availability(of requirement: Entity.Requirement) -> [JSONValue] {
        let online = availability.map { JSONValue.object(["topic": .string($0)]) }
        return switch requirement {
        case .nothing: []
        case .bridge: Array(online.prefix(1))
        case .device: online
        case .gear: online + [gear("{{ 'online' if value_json.attached | default(false) else 'offline' }}")]
        case .hapticGear:
            online + [gear("{{ 'online' if 'haptic' in value_json.capabilities | default([], true) else 'offline' }}")]
        }
    }

    private func gear(_ template: String) -> JSONValue {
        ["topic": .string(topic + "/gear"), "value_template": .string(template)]
    }
}

extension DiscoveryDocuments {
    private func messages(_ device: Device) -> [DiscoveryMessage] {
        let shared: [String: JSONValue] = [
            "device": device.document,
            "origin": ["name": .string(DiscoveryMessage.program), "sw_version": .string(bridge.version)],
        ]
        let documents = device.entities.map { entity in
            var keys = device.keys(of: entity)
            switch topics.form {
            case .device: keys["platform"] = .string(entity.kind.platform)
            case .single: keys.merge(entity.kind.singleFormValues.merging(shared) { $1 }) { $1 }
            }
            return (entity.key, JSONValue.object(keys))
        }
        let payloads: [JSONValue]
        switch topics.form {
        case .device:
            let components = JSONValue.object(Dictionary(documents) { first, _ in first })
            payloads = [.object(shared.merging(["components": components]) { $1 })]
        case .single: payloads = documents.map(\.1)
        }
        return zip(topics.announcements(of: device.objectID, device.entities), payloads).map {
            DiscoveryMessage(topic: $0, payload: JSONText.bytes(of: $1))
        }
    }
}
