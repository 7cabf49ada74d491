/// How a bridge announces its tags to Home Assistant.
public struct HomeAssistantConfiguration: Hashable, Sendable {
    /// The two forms of MQTT discovery.
    public enum Form: String, Hashable, Sendable, CaseIterable {
        /// One message per device; Home Assistant 2024.11 and later.
        case device
        /// One message per entity and trigger; all releases.
        case single
    }

    /// Home Assistant's discovery prefix; may have several levels.
    public var prefix: String
    /// The form.
    public var form: Form
    /// The topic at which Home Assistant publishes `online` when it has started.
    public var statusTopic: String
    /// The address of the web page, to which the bridge's device links; nil for none.
    public var page: String?
    /// Whether gestures are announced as presses of a button, too.
    public var hasButtons: Bool
    /// Whether the LED of a tag is one of the lights of its area.
    public var isAreaLight: Bool

    /// Describes the announcements; the defaults are those of Home Assistant.
    public init(
        prefix: String = "homeassistant", form: Form = .device, statusTopic: String = "homeassistant/status",
        page: String? = nil, hasButtons: Bool = false, isAreaLight: Bool = false
    ) {
        self.page = page
        self.hasButtons = hasButtons
        self.isAreaLight = isAreaLight
        self.prefix = prefix
        self.form = form
        self.statusTopic = statusTopic
    }
}

/// The announcements of a bridge and its tags: the messages, and when to publish them.
public struct HomeAssistantDiscovery: Sendable {
    /// The messages.
    public private(set) var documents: DiscoveryDocuments
    /// When to publish them.
    public var life: DiscoveryLife
    private let bridge: DiscoveredBridge
    /// The tags that other bridges have announced with gear.
    private var gearElsewhere: Set<String> = []
    private var templates: [AnnouncementTemplate.Shape: AnnouncementTemplate] = [:]
    /// The ids of the tags, by object id.
    private var ids: [String: String] = [:]
    /// The topics that another client has emptied since their announcement, by object id.
    private var emptied: [String: Set<String>] = [:]
    /// Upper bound on templates. Tags have few shapes, unless each has chords of its own.
    private static let maxTemplates = 16

    /// Describes the announcements of a bridge that has no tags yet.
    public init(_ configuration: HomeAssistantConfiguration, _ bridge: DiscoveredBridge, _ words: Vocabulary) {
        let topics = DiscoveryTopics(prefix: configuration.prefix, form: configuration.form)
        self.bridge = bridge
        documents = DiscoveryDocuments(topics, bridge, words)
        life = DiscoveryLife(topics, statusTopic: configuration.statusTopic)
        setTags([])
    }

    /// Uses changed words from now on.
    public mutating func adopt(_ words: Vocabulary) {
        documents.words = words
        templates = [:]
    }

    /// Uses the serials of the tags that the latest scan has found, and that can be paired.
    ///
    /// - Returns: the announcement of the bridge; empty if they are the same as before.
    public mutating func setFound(_ serials: [String]) -> [DiscoveryMessage] {
        guard serials != documents.foundSerials else { return [] }
        documents.foundSerials = serials
        return life.hasAnnounced ? documents.announcementOfBridge : []
    }

    /// Announces a tag, and removes what an earlier run has announced and no longer exists.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - isShared: whether another bridge has the tag. It may have seen gear that this bridge has not.
    /// - Returns: the messages.
    public mutating func firstAnnouncement(of tag: DiscoveredTag, isShared: Bool = false) -> [DiscoveryMessage] {
        let former = life.formerComponents(DiscoveryTopics.objectID(ofTag: tag.id))
        if isShared, !former.isDisjoint(with: Entity.gear.map(AnnouncedComponent.init)) { gearElsewhere.insert(tag.id) }
        update(tag)
        let template = template(of: tag)
        return documents.adding(
            to: template.announcement(of: tag), theRemovalOf: former.subtracting(template.components), of: tag)
    }

    /// Announces a tag.
    public mutating func announcement(of tag: DiscoveredTag) -> [DiscoveryMessage] {
        update(tag)
        return template(of: tag).announcement(of: tag)
    }

    /// Uses what is known of a tag now.
    private mutating func update(_ tag: DiscoveredTag) {
        documents.features[tag.id] = tag.features
        if gearElsewhere.contains(tag.id) { documents.features[tag.id]?.hasGear = true }
    }

    /// The topics of the announcement of the tag with an id.
    public mutating func topics(ofTag id: String) -> [String] {
        template(of: DiscoveredTag(id: id, topic: "", name: "", serial: "", firmware: nil)).topics(ofTag: id)
    }

    private mutating func template(of tag: DiscoveredTag) -> AnnouncementTemplate {
        let shape = AnnouncementTemplate.Shape(
            events: documents.events(ofTag: tag.id), hasFirmware: tag.firmware != nil,
            features: documents.features[tag.id, default: TagFeatures()])
        if let template = templates[shape] { return template }
        let template = AnnouncementTemplate(of: tag, documents)
        if templates.count >= Self.maxTemplates { templates = [:] }
        templates[shape] = template
        return template
    }

    /// Sets the ids of the bridge's tags.
    public mutating func setTags(_ ids: [String]) {
        let objectIDs = ids.map { DiscoveryTopics.objectID(ofTag: $0) }
        life.setDevices([DiscoveryTopics.objectID(ofBridge: bridge.instance)] + objectIDs)
        self.ids = Dictionary(zip(objectIDs, ids)) { first, _ in first }
        if !emptied.isEmpty { emptied = emptied.filter { isBridge($0.key) || self.ids[$0.key] != nil } }
    }

    /// Sets the prefixes of earlier runs, whose announcements are searched for.
    public mutating func setFormerPrefixes(_ prefixes: [String]) { life.setFormerPrefixes(prefixes) }

    /// The filters to subscribe to for a tag that is added after the announcements.
    public func filter(ofTag id: String) -> String { life.filter(of: DiscoveryTopics.objectID(ofTag: id)) }

    /// Takes over the announcements of these tags that were published under other settings in the same run.
    public mutating func takeOver(from other: HomeAssistantDiscovery, tags: [DiscoveredTag]) {
        guard other.life.hasAnnounced else { return }
        var other = other
        for message in other.documents.announcementOfBridge + tags.flatMap({ other.announcement(of: $0) }) {
            life.inherit(message, possibleComponents)
        }
    }

    /// Removes the announcements of the bridge and of tags that are still to be migrated: those of other settings.
    public func withdrawalOfUnfinished(_ tags: [String]) -> [DiscoveryMessage] {
        let objectIDs = Set(tags.map { DiscoveryTopics.objectID(ofTag: $0) })
        return life.unfinishedTopics { isBridge($0) || objectIDs.contains($0) }.map(DiscoveryMessage.empty)
    }

    private func isBridge(_ objectID: String) -> Bool {
        objectID == DiscoveryTopics.objectID(ofBridge: bridge.instance)
    }

    /// The components of a device that may be announced.
    private func possibleComponents(of objectID: String) -> Set<AnnouncedComponent> {
        documents.possibleComponents(ofTag: isBridge(objectID) ? nil : ids[objectID, default: objectID])
    }
}

// MARK: Received messages

extension HomeAssistantDiscovery {
    /// Receives any message.
    ///
    /// - Returns: whether the message is part of discovery; if so, nothing else should handle it.
    public mutating func received(_ topic: String, _ payload: [UInt8], isRetained: Bool, at now: Duration) -> Bool {
        // Each command to a tag passes this check.
        guard life.concerns(topic) else { return false }
        let isPresent = noteDeletion(topic, payload)
        let documents = documents
        let (ids, bridge) = (ids, DiscoveryTopics.objectID(ofBridge: bridge.instance))
        let isHandled = life.received(
            topic, payload, isRetained: isRetained,
            { documents.possibleComponents(ofTag: $0 == bridge ? nil : ids[$0, default: $0]) }, at: now)
        return isHandled || isPresent
    }

    /// Home Assistant empties the topics of a device or an entity that a user deletes there. The bridge receives its own
    /// messages, too: the last one of a topic decides.
    ///
    /// - Returns: whether the topic is one of this run's announcements.
    private mutating func noteDeletion(_ topic: String, _ payload: [UInt8]) -> Bool {
        guard life.hasAnnounced, let objectID = life.presentDevice(of: topic) else { return false }
        guard payload.isEmpty else {
            emptied[objectID]?.remove(topic)
            if emptied[objectID]?.isEmpty == true { emptied[objectID] = nil }
            return true
        }
        let announced = ids[objectID].map { topics(ofTag: $0) } ?? documents.announcedTopicsOfBridge
        if announced.contains(topic) { emptied[objectID, default: []].insert(topic) }
        return true
    }

    /// The devices that a user has deleted in Home Assistant.
    public struct Deletions: Hashable, Sendable {
        /// Whether it is the bridge's device, or one of its entities.
        public var ofBridge = false
        /// The ids of the tags whose device, or one of its entities, was deleted.
        public var tags: Set<String> = []
    }

    /// The devices that were deleted since they were announced.
    public var deletions: Deletions {
        guard !emptied.isEmpty else { return Deletions() }
        return Deletions(
            ofBridge: emptied.keys.contains(where: isBridge), tags: Set(emptied.keys.compactMap { ids[$0] }))
    }
}
