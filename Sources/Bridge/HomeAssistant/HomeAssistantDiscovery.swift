import JacquardProtocol

/// What Home Assistant is told of the bridge and its tags: the documents, and when it is time for them.
struct HomeAssistantDiscovery: Sendable {
    /// When what is told.
    var life: DiscoveryLife
    private let topics: DiscoveryTopics
    private let origin: OriginDocument
    private let bridge: DiscoveredBridge

    /// - Returns: nil when Home Assistant is not to be told anything.
    init?(_ configuration: BridgeConfiguration, topics bridgeTopics: Topics) {
        guard let homeAssistant = configuration.homeAssistant else { return nil }
        topics = DiscoveryTopics(prefix: homeAssistant.prefix, form: homeAssistant.form)
        origin = OriginDocument(swVersion: configuration.version)
        bridge = DiscoveredBridge(
            instance: configuration.instance, version: configuration.version, topics: bridgeTopics)
        life = DiscoveryLife(
            topics, statusTopic: homeAssistant.statusTopic,
            objectIDs: Set([bridge.objectID] + configuration.tags.map(\.id.objectID)))
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
        device(of: tag).topics(topics).map { .emptied($0) }
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
