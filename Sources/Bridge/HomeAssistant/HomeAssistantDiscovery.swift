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

    /// Describes the announcements; the defaults are those of Home Assistant.
    public init(
        prefix: String = "homeassistant", form: Form = .device, statusTopic: String = "homeassistant/status",
        page: String? = nil, hasButtons: Bool = false
    ) {
        self.page = page
        self.hasButtons = hasButtons
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
    private var templates: [AnnouncementTemplate.Shape: AnnouncementTemplate] = [:]
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
    public mutating func firstAnnouncement(of tag: DiscoveredTag) -> [DiscoveryMessage] {
        update(tag)
        let template = template(of: tag)
        let former = life.formerComponents(DiscoveryTopics.objectID(ofTag: tag.id))
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
        if tag.hasMotion { documents.motionTags.insert(tag.id) } else { documents.motionTags.remove(tag.id) }
    }

    /// The topics of the announcement of the tag with an id.
    public mutating func topics(ofTag id: String) -> [String] {
        template(of: DiscoveredTag(id: id, topic: "", name: "", serial: "", firmware: nil)).topics(ofTag: id)
    }

    private mutating func template(of tag: DiscoveredTag) -> AnnouncementTemplate {
        let shape = AnnouncementTemplate.Shape(
            events: documents.events(ofTag: tag.id), hasFirmware: tag.firmware != nil,
            hasMotion: documents.motionTags.contains(tag.id))
        if let template = templates[shape] { return template }
        let template = AnnouncementTemplate(of: tag, documents)
        if templates.count >= Self.maxTemplates { templates = [:] }
        templates[shape] = template
        return template
    }

    /// Sets the ids of the bridge's tags.
    public mutating func setTags(_ ids: [String]) {
        life.setDevices(
            [DiscoveryTopics.objectID(ofBridge: bridge.instance)] + ids.map { DiscoveryTopics.objectID(ofTag: $0) })
    }

    /// Takes over the announcements of these tags that were published under other settings in the same run.
    public mutating func takeOver(from other: HomeAssistantDiscovery, tags: [String]) {
        guard other.life.hasAnnounced else { return }
        life.inherit(other.documents.announcedTopics(tags))
    }
}
