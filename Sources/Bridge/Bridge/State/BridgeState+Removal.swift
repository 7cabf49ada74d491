import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

// MARK: Removing tags

extension BridgeState {
    mutating func release(_ id: TagID, at now: Timestamp, _ effects: inout Effects) {
        guard let position = tags.position(of: id) else { return }
        effects.add(.disconnect(tags[position].handle))
        depart(position, for: nil, at: now, &effects)
    }

    /// Handles a removed bond: removes the tag, its discovery immediately and its topics a second later.
    mutating func forgotten(_ entry: TagEntry, token: UInt64, at now: Timestamp, _ effects: inout Effects) {
        // A reload may have removed the tag meanwhile, and may have given its id to another tag.
        let position = tags.position(of: entry.id).flatMap { tags[$0].entry.serial == entry.serial ? $0 : nil }
        // The configuration may still list the tag.
        let isConfigured = position != nil && isConfigured(entry.id)
        let note =
            isConfigured
            ? "The configuration still lists this tag; the bridge ignores it until the next start or reload" : nil
        let event = event(
            .tagForgotten, id: entry.id, serial: entry.serial, address: position.flatMap { tags[$0].sighting.address },
            text: note, at: now)
        let data = CommandData { object in
            object.add("configured", isConfigured)
            object.add("id", entry.id.text)
            object.add("note", note)
            object.add("serial", entry.serial)
        }
        let request = Departure.Request(token: token, data: data)
        if let position {
            // A reload may have listed the tag again meanwhile, and it may be connected again.
            effects.add(.disconnect(tags[position].handle))
            depart(position, publishing: event, for: request, at: now, &effects)
            // Until here, an event of the tag may have stored its record again.
            return effects.add(.forgetRecord(entry))
        }
        effects.add(.forgetRecord(entry))
        // The tag was already removed: the result follows when its topics are cleared.
        effects.publish(event)
        if !leftovers.departures.join(request, serial: entry.serial) {
            succeed(token, data: request.data, at: now, &effects)
        }
    }

    /// Connects a tag again that Bluetooth has refused to forget, and has disconnected for that.
    mutating func keptAfterAll(_ id: TagID, at now: Timestamp, _ effects: inout Effects) {
        guard let position = tags.position(of: id) else { return }
        tags[position].link.requestAgain()
        settle(position, at: now, &effects)
    }

    /// Removes a tag: ends its commands, removes its discovery immediately and its topics a second later.
    private mutating func depart(
        _ position: Int, publishing event: Publication? = nil, for request: Departure.Request?, at now: Timestamp,
        _ effects: inout Effects
    ) {
        let id = tags[position].entry.id
        react(at: now, &effects) { $0.release(id, of: $1, at: now, &$2) }
        tags[position].tell(.removed, at: now, &effects)
        for command in pendingCommands.removeAll(of: id) { forgotten(command, at: now, &effects) }
        if diagnostics.recorder.recording?.tag == id { diagnostics.recorder.end(.removed, at: now, &effects) }
        effects.add(.removeTag(tags[position].handle))
        if fleet.peers.isKnown(id) {
            // Another bridge publishes the facts from now on: they are not cleared.
            effects.add(.withhold(allTopics(of: position)))
        } else if fleet.scopes[id] != nil {
            // Facts that are withheld could not be cleared.
            effects.add(.republish(tags[position].retainedTopics))
        }
        fleet.scopes.remove(id)
        let tag = tags.remove(at: position)
        search.seen.solved(tag.entry.serial)
        reactions.remove(id)
        tagListChanged()
        leftovers.departures.append(.tag(tag.entry, request), retainedTopics: tag.retainedTopics, at: now.instant)
        if let event { effects.publish(event) }
        effects.publish(infoFact)
        withdraw(tag, &effects)
        effects.publish(connectedTagsFact)
        healthChanged(at: now, &effects)
        // Home Assistant offers the tag after the next scan, which begins with no offer.
        if search.found.contains(tag.entry.serial) { effects.publish(foundFact) }
    }

    /// Returns whether the configuration lists a tag.
    func isConfigured(_ id: TagID) -> Bool {
        configuration.tags.contains { $0.id == id }
    }

    /// Clears the retained topics of removed tags and former names, and completes the requests.
    mutating func finish(_ departures: [Departure], at now: Timestamp, _ effects: inout Effects) {
        for departure in departures {
            effects.publish(topicsToClear(by: departure).map(Publication.noFact))
            complete(departure, at: now, &effects)
        }
    }

    /// Completes all departures at a broker that the bridge leaves. Their topics are cleared with those of the others.
    mutating func leaveDepartures(at now: Timestamp, _ effects: inout Effects) {
        for departure in leftovers.departures.takeAll() {
            // Of a tag that another bridge has, too, nothing is cleared.
            let isLeft = if case .tag(let entry, _) = departure.origin { fleet.peers.isKnown(entry.id) } else { false }
            if !isLeft { leftovers.departed += topicsToClear(by: departure) }
            complete(departure, at: now, &effects)
        }
    }

    private mutating func complete(_ departure: Departure, at now: Timestamp, _ effects: inout Effects) {
        switch departure.origin {
        case .tag(_, let request):
            if let request { succeed(request.token, data: request.data, at: now, &effects) }
        case .formerInstance(let name):
            leftovers.former.cleared(name)
            effects.add(.forgetInstance(name))
        // Without a broker, the next run takes everything back.
        case .formerPlaces:
            guard run.isBrokerConnected == true else { break }
            leftovers.places = []
            effects.add(.forgetFormerPlaces)
        case .partOfFormerPlaces: break
        // Without a broker, the next run clears them, too.
        case .features: if run.isBrokerConnected == true { leftTopicsCleared(&effects) }
        }
    }

    /// Stores that the topics of features that were switched off are cleared.
    mutating func leftTopicsCleared(_ effects: inout Effects) {
        for position in tags.indices {
            tags[position].leftTopicsCleared()
            tags[position].store(&effects)
        }
    }

    /// The retained topics of a departure, without those of features that were switched on again.
    private func topicsToClear(by departure: Departure) -> [String] {
        guard case .features = departure.origin else { return departure.retainedTopics }
        let used = Set(tags.flatMap(\.featureTopics) + (homeAssistant.discovery == nil ? [] : topics.ofHomeAssistant))
        return departure.retainedTopics.filter { !used.contains($0) }
    }

    /// The announcements that runs under a name have made, as the state file says; nil if it says nothing.
    private func announcements(of instance: String) -> [PublishedPlace.Announcement]? {
        let places = leftovers.places.filter { $0.instance == instance }
        guard !places.isEmpty else { return nil }
        var seen: Set<PublishedPlace.Announcement> = []
        return places.compactMap(\.announcement).filter { seen.insert($0).inserted }
    }

    /// Removes the announcements of tags and of a former name where they were made.
    private func withdrawals(
        ofTags tags: [TagEntry], bridge: String?, under name: String
    ) -> [DiscoveryMessage] {
        guard let known = announcements(of: name) else {
            let documents = HomeAssistantDiscovery(withdrawing: configuration, topics: topics).documents
            return tags.flatMap { documents.withdrawalInBothForms(ofTag: $0.id.text) }
                + (bridge.map { documents.withdrawalInBothForms(ofBridge: $0) } ?? [])
        }
        return known.flatMap { announcement in
            var configuration = configuration
            configuration.homeAssistant = HomeAssistantConfiguration(
                prefix: announcement.prefix, form: announcement.form)
            let documents = HomeAssistantDiscovery(withdrawing: configuration, topics: topics).documents
            return tags.flatMap { documents.withdrawalInOneForm(ofTag: $0.id.text) }
                + (bridge.map { documents.withdrawalInOneForm(ofBridge: $0) } ?? [])
        }
    }

    /// Clears the topics that are published for Home Assistant only, with those of features that were switched off.
    mutating func clearTopicsOfHomeAssistant(at now: Timestamp) {
        let left = tags.flatMap { $0.leftTopics + $0.features.unusedTopics($0.topics) }
        leftovers.departures.append(.features, retainedTopics: topics.ofHomeAssistant + left, at: now.instant)
    }

    /// Takes back what runs with discovery have announced, if it is off now.
    private mutating func withdrawDiscovery(at now: Timestamp) -> [DiscoveryMessage] {
        guard homeAssistant.discovery == nil, announcements(of: configuration.instance)?.isEmpty == false else {
            return []
        }
        clearTopicsOfHomeAssistant(at: now)
        let own = tags.filter { !fleet.peers.isKnown($0.entry.id) }.map(\.entry)
        return withdrawals(ofTags: own, bridge: configuration.instance, under: configuration.instance)
    }

    /// Clears former base topics after the announcements name the present one.
    ///
    /// - Returns: the messages that withdraw the announcements.
    private mutating func clearElsewhere(
        _ findings: FormerTopics.Findings, at now: Timestamp, _ effects: inout Effects
    ) -> [DiscoveryMessage] {
        guard leftovers.places.contains(where: { $0 != PublishedPlace(configuration) }) else { return [] }
        let filters = leftovers.former.filtersElsewhere
        let isComplete = findings.elsewhere.allSatisfy(\.isComplete)
        if isComplete { leftovers.former.endElsewhere() }
        var (messages, retained): ([DiscoveryMessage], [String]) = ([], [])
        for other in findings.elsewhere {
            let (name, base) = (other.place.instance, other.place.base)
            let gone = other.tags.filter { tags.position(of: $0.id) == nil && !fleet.peers.isKnown($0.id) }
            let former = other.isComplete && name != configuration.instance ? name : nil
            messages += withdrawals(ofTags: gone, bridge: former, under: name)
            let there = BridgeTopics(base: base, instance: name, hasRadios: true)
            retained += other.tags.map { there.tag($0.id) }.flatMap(TagTopicTable.all)
            // The rest is found by the bridge's own topics at the next connection.
            if other.isComplete { retained += there.retained }
        }
        leftovers.departures.append(
            isComplete ? .formerPlaces : .partOfFormerPlaces, retainedTopics: retained, at: now.instant)
        if isComplete, !filters.isEmpty { effects.add(.unsubscribe(filters)) }
        return messages
    }

    /// Clears the topics of earlier runs: discovery immediately, everything else a second later.
    mutating func clearFormerTopics(at now: Timestamp, _ effects: inout Effects) {
        guard let findings = leftovers.former.takeDue(at: now.instant) else { return }
        let unknown = findings.tags.filter { tags.position(of: $0.id) == nil && !fleet.peers.isKnown($0.id) }
        for entry in unknown {
            let topics = topics.tag(entry.id)
            leftovers.departures.append(
                .tag(entry, nil), retainedTopics: TagTopicTable.all(topics), at: now.instant)
        }
        for name in findings.instances {
            let retained = BridgeTopics(base: topics.base, instance: name).retained
            leftovers.departures.append(.formerInstance(name), retainedTopics: retained, at: now.instant)
        }
        let documents = HomeAssistantDiscovery(withdrawing: configuration, topics: topics).documents
        var subscriptions = Effects()
        let elsewhere = clearElsewhere(findings, at: now, &subscriptions)
        // A tag of a former name was announced where that name was, or where this one is.
        let names = [configuration.instance] + findings.instances
        var seen: Set<DiscoveryMessage> = []
        let messages =
            (names.flatMap { withdrawals(ofTags: unknown, bridge: nil, under: $0) }
            + findings.instances.flatMap { withdrawals(ofTags: [], bridge: $0, under: $0) }
            + elsewhere + withdrawDiscovery(at: now)).filter { seen.insert($0).inserted }
        // Early releases of Home Assistant log an error for any message of the device form.
        let uncertain = messages.map(\.topic).filter(documents.isUnknownToEarlyReleases)
        leftovers.announcements = Set(uncertain)
        for message in messages where !leftovers.announcements.contains(message.topic) {
            effects.publish(Publication(message))
        }
        effects.append(subscriptions)
        if !uncertain.isEmpty { effects.add(.subscribe(uncertain)) }
        endTagInfo(&effects)
    }

    /// Withdraws a former announcement of the device form that is still retained.
    mutating func receivedFormerAnnouncement(_ message: MQTTMessage, _ effects: inout Effects) {
        leftovers.announcements.remove(message.topic)
        effects.add(.unsubscribe([message.topic]))
        if !message.payload.isEmpty { effects.publish(.noFact(message.topic)) }
    }

    /// Ends the subscriptions to former announcements that are not retained.
    mutating func stopReadingFormerAnnouncements(_ effects: inout Effects) {
        guard !leftovers.announcements.isEmpty else { return }
        effects.add(.unsubscribe(leftovers.announcements.sorted()))
        leftovers.announcements = []
    }

    /// Ends the subscription to the `info` topics of all tags when it is no longer needed. A single bridge keeps it.
    mutating func endTagInfo(_ effects: inout Effects) {
        guard !fleet.peers.isEmpty, leftovers.former.takeEndOfTags() else { return }
        effects.add(.unsubscribe([topics.infoOfEveryTag]))
    }
}
