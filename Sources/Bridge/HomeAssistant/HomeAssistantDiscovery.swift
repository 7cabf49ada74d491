import JacquardProtocol
import Time

/// What Home Assistant is told of the bridge and its tags: the documents, and when it is time for them.
struct HomeAssistantDiscovery: Sendable {
    /// When what is told.
    var life: DiscoveryLife
    private let topics: DiscoveryTopics
    private let origin: OriginDocument
    private let bridge: DiscoveredBridge

    /// - Returns: nil when Home Assistant is not to be told anything.
    init?(_ configuration: BridgeConfiguration, topics bridgeTopics: BridgeTopics) {
        guard let homeAssistant = configuration.homeAssistant else { return nil }
        self.init(configuration, homeAssistant, topics: bridgeTopics)
    }

    /// For taking away what earlier runs have announced, whether or not this one announces anything.
    init(withdrawing configuration: BridgeConfiguration, topics: BridgeTopics) {
        let homeAssistant = HomeAssistantConfiguration(prefix: configuration.discoveryPrefix)
        self.init(configuration, configuration.homeAssistant ?? homeAssistant, topics: topics)
    }

    private init(
        _ configuration: BridgeConfiguration, _ homeAssistant: HomeAssistantConfiguration,
        topics bridgeTopics: BridgeTopics
    ) {
        topics = DiscoveryTopics(prefix: homeAssistant.prefix, form: homeAssistant.form)
        origin = OriginDocument(swVersion: configuration.version)
        bridge = DiscoveredBridge(
            instance: configuration.instance, version: configuration.version, topics: bridgeTopics)
        life = DiscoveryLife(topics, statusTopic: homeAssistant.statusTopic)
    }

    /// What to listen to.
    var filters: [String] { life.filters }

    /// The bridge's tags are these from now on.
    mutating func follow(_ tags: [TagMirror]) {
        life.follow([bridge.objectID] + tags.map(\.entry.id.objectID))
    }

    /// Takes a message, if it is about discovery.
    ///
    /// - Returns: whether it was.
    mutating func received(_ message: IncomingMessage, at now: Instant) -> Bool {
        life.mayConcern(message.topic) && life.received(message, at: now)
    }

    /// Announces the bridge.
    var announcementOfBridge: [Publication] {
        bridge.device.publications(topics, origin: origin)
    }

    /// Announces a tag.
    func announcement(of tag: TagMirror) -> [Publication] {
        device(of: tag).publications(topics, origin: origin)
    }

    /// Takes an announced tag away.
    func withdrawal(of tag: TagMirror) -> [Publication] {
        device(of: tag).topics(topics).map { .noFact($0) }
    }

    /// Takes an announced bridge and all its tags away.
    func withdrawal(of tags: [TagMirror]) -> [Publication] {
        announcedTopics(tags).map { .noFact($0) }
    }

    /// Takes a tag away in either form: an earlier run may have had the other one.
    func withdrawalInEveryForm(ofTag entry: TagEntry) -> [Publication] {
        withdrawalInEveryForm { form in
            DiscoveredTag(
                id: entry.id, name: entry.serial, serial: entry.serial, firmware: nil,
                topics: bridge.topics.tag(entry.id), bridgeState: bridge.topics.state, form: form
            ).device(bridgeObjectID: bridge.objectID)
        }
    }

    /// Takes the bridge away as it was announced under another name, in either form.
    func withdrawalInEveryForm(ofBridge instance: String) -> [Publication] {
        let topics = BridgeTopics(base: bridge.topics.base, instance: instance)
        return withdrawalInEveryForm { _ in
            DiscoveredBridge(instance: instance, version: bridge.version, topics: topics).device
        }
    }

    private func withdrawalInEveryForm(
        of device: (HomeAssistantConfiguration.Form) -> DiscoveredDevice
    ) -> [Publication] {
        HomeAssistantConfiguration.Form.allCases.flatMap { form in
            device(form).topics(DiscoveryTopics(prefix: topics.prefix, form: form)).map { .noFact($0) }
        }
    }

    /// Takes over from a configuration that has announced in another form or under another prefix.
    mutating func succeed(_ other: HomeAssistantDiscovery, tags: [TagMirror]) {
        guard other.life.hasAnnounced else { return }
        life.inherit(other.announcedTopics(tags))
    }

    private func announcedTopics(_ tags: [TagMirror]) -> [String] {
        bridge.device.topics(topics) + tags.flatMap { device(of: $0).topics(topics) }
    }

    /// What gear is attached is not part of it: entities that need gear are unavailable without it, and no trigger comes
    /// or goes.
    private func device(of tag: TagMirror) -> DiscoveredDevice {
        DiscoveredTag(
            id: tag.entry.id,
            name: tag.entry.name ?? tag.sighting.name?.nonEmpty ?? "Jacquard \(tag.entry.id)",
            serial: tag.entry.serial,
            firmware: tag.component?.version?.description,
            topics: tag.topics,
            bridgeState: bridge.topics.state,
            form: topics.form
        ).device(bridgeObjectID: bridge.objectID)
    }
}
