import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Time

// MARK: Events of tags

extension BridgeState {
    mutating func tagReported(_ event: TagEvent, by tag: TagHandle, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: tag) else { return [] }
        if case .commandEnded(let token, let result) = event {
            return commandEnded(token, result, of: position, at: now)
        }
        if case .motion(let report) = event {
            return tags.motion(of: position, idle: configuration.options.motion.idle, at: now) {
                $0.reported(report, in: $1)
            }
        }
        let (wasConnected, requestedAt) = (tags[position].isConnected, tags[position].link.requestedAt)
        let (gearBefore, batteryBefore) = (tags[position].isGearAttached, tags[position].batteryLevel)
        let (problemsBefore, features) = (tags[position].problems, tags[position].features)
        let publications = tags[position].handle(event, at: now)
        if let incident = TagIncidents.Kind(
            event, wasConnected: wasConnected, isConnected: tags[position].isConnected,
            isForgetting: departures.isForgetting(tags[position].entry.id))
        {
            incidents.add(incident, of: tag, at: now.instant)
        }
        if let requestedAt, !wasConnected, tags[position].isConnected {
            connectDurations.observe(from: requestedAt, to: now.instant)
        }
        // Of this tag only: with thousands of tags, looking at all of them for each one takes seconds.
        let health = tags[position].problems == problemsBefore ? [] : healthChanged(at: now)
        switch event {
        case .connection:
            let isChanged = tags[position].isConnected != wasConnected
            if wasConnected, isChanged {
                let id = tags[position].entry.id
                pendingCommands.refused.remove(id)
                if !pendingCommands.waiting(for: id, .connected).isEmpty { tags[position].link.stayAwake() }
            }
            let scope = isChanged ? rescope([position], at: now) : ScopeEffects()
            let counts = isChanged ? listsChanged(at: now) : []
            if isChanged, !wasConnected, !tags[position].rareFacts.isEmpty {
                tags[position].unconfirmed.connected(at: now.instant)
            }
            let isFindLost = wasConnected && isChanged && !finds.isEmpty
            let lost = isFindLost ? finds.end(position, of: &tags, isHalting: false) : []
            let motionIdle = configuration.options.motion.idle
            let views = isChanged && !wasConnected ? tags[position].rareFacts.first?.rawViews ?? [] : []
            // The session may be a new one.
            let observed = views.isEmpty ? [] : [BridgeAction.observeRawData(views, of: tag)]
            return observed + lost + scope.narrowing + publish(publications + health + counts) + scope.widening
                + refuseWaiting(of: position, at: now) + settle(position, at: now) + sendWaiting(of: position, at: now)
                + (isChanged
                    ? tags.motion(of: position, idle: motionIdle, at: now) { $0.connectionChanged(in: $1) } : [])
        case .information:
            return publish(publications + health + discoveryFacts(ofTag: position))
        case .gear, .battery:
            let reaction = reactions.reported(
                by: tags[position], gearBefore: gearBefore, batteryBefore: batteryBefore, of: tags, at: now)
            let commands = perform(reaction, at: now)
            let announcement = features == tags[position].features ? [] : discoveryFacts(ofTag: position)
            return commands + publish(publications + announcement) + completeFacts(of: position)
                + settle(position, at: now)
        case .touchMode(.gesture):
            let commands: [TagCommand] = tags[position].isSlideToBeKept ? [.setTouchMode(.continuous)] : []
            return publish(publications) + tags.perform(commands, on: position)
        default: return publish(publications)
        }
    }

    /// Publishes which tags are connected, or does so later: with many tags, a list of all tags for each connection takes
    /// longer than the connection.
    private mutating func listsChanged(at now: Timestamp) -> [Publication] {
        lists.interval = tags.count > Self.manyTags ? .milliseconds(tags.count) : .zero
        return lists.admits(at: now.instant) ? [infoFact, connectedTagsFact] : []
    }

    /// Returns the lists that were held back, if they are due.
    mutating func listsDue(at now: Timestamp) -> [Publication] {
        lists.isDue(at: now.instant) ? [infoFact, connectedTagsFact] : []
    }

    /// With more tags, the lists of tags are published once per millisecond and tag at most.
    private static let manyTags = 50

    mutating func sighted(_ tag: TagHandle, _ sighting: TagSighting, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: tag) else { return [] }
        let name = tags[position].sighting.name
        let publications = tags[position].sighted(sighting, at: now)
        let announcement = tags[position].sighting.name == name ? [] : discoveryFacts(ofTag: position)
        return publish(publications + announcement) + settle(position, at: now)
    }

    /// Stores a received tag, and publishes it during a requested scan.
    mutating func advertised(_ tag: TagAdvertisement, at now: Timestamp) -> [BridgeAction] {
        seen.received(tag, at: now)
        let publications = found(tag, at: now) + (pairing.received(tag.serial) ? pairingFact : [])
        guard !tag.isConnected, scan.admits(tag.address) else { return publish(publications) }
        let document = AdvertisementDocument(tag, isKnown: tags.contains(serial: tag.serial))
        return publish([.stream(topics.advertisement, document)] + publications)
    }

    /// Adds a tag to the list of found tags. Publishes the list now, or after the minimum interval of one second.
    private mutating func found(_ tag: TagAdvertisement, at now: Timestamp) -> [Publication] {
        guard discovery != nil, scan.isScanning, !tag.isConnected else { return [] }
        return found.received(tag, at: now.instant) ? foundFacts() : []
    }

    /// The serials of received tags that the bridge does not know.
    var strangers: [String] { Set(seen.serials).filter { !tags.contains(serial: $0) }.sorted() }

    mutating func duplicateSerial(_ serial: String, at addresses: [String], at now: Timestamp) -> [BridgeAction] {
        guard seen.duplicated(serial, at: now), !tags.isShared(serial: serial) else { return [] }
        let stranger = addresses.first { address in
            !tags.contains { $0.entry.serial == serial && $0.sighting.address == address }
        }
        let text = "Several devices show the serial \(serial): \(addresses.joined(separator: ", "))"
        let event = event(.duplicateSerial, serial: serial, address: stranger ?? addresses.last, text: text, at: now)
        return publish([event] + healthChanged(at: now))
    }

    /// Disconnects an on-demand tag after a time without commands, and without anything that a command has begun.
    mutating func restIfIdle(_ position: Int, at now: Timestamp) -> [BridgeAction] {
        let id = tags[position].entry.id
        let isBusy = pendingCommands.isBusy(with: id) || finds.contains(id) || tags[position].isInUse
        guard tags[position].link.restIfIdle(isBusy: isBusy, at: now.instant) else { return [] }
        return settle(position, at: now)
    }

    /// Handles a change of a tag's circumstances: connects or disconnects it, and rejects queued commands that can no
    /// longer succeed.
    mutating func settle(_ position: Int, at now: Timestamp) -> [BridgeAction] {
        let isHeld = tags[position].link.intent.isHeld
        let obsolete = pendingCommands.waiting(for: tags[position].entry.id, isHeld ? .connected : .disconnected)
        guard !obsolete.isEmpty else { return tags[position].settle(at: now) }
        let failure = isHeld ? tags[position].heldFailure : .cancelledByConnect
        return obsolete.flatMap { fail($0, failure, at: now) } + tags[position].settle(at: now)
    }
}

// MARK: All tags

extension BridgeState {
    /// Publishes all facts of the bridge and the tags.
    mutating func started(at now: Timestamp) -> [BridgeAction] {
        let first = work.facts.begin(tags.map(\.entry.id), at: now.instant)
        // Otherwise they are cleared after the announcement without their entities.
        let left = discovery == nil ? tags.flatMap(\.leftTopics) : []
        return publish(bridgeFacts(at: now)) + publishFacts(of: first, at: now) + publish(left.map { .noFact($0) })
    }

    /// Connects or disconnects all tags as Bluetooth allows.
    mutating func settleAll(at now: Timestamp) -> [BridgeAction] {
        settle(work.connections.begin(tags.map(\.entry.id), at: now.instant), at: now)
    }

    /// Decides again which facts of all tags this bridge publishes.
    mutating func rescopeAll(at now: Timestamp) -> [BridgeAction] {
        rescope(work.scopes.begin(tags.map(\.entry.id), at: now.instant), at: now)
    }

    /// Continues with the tags that are due.
    mutating func workDue(at now: Timestamp) -> [BridgeAction] {
        publishFacts(of: work.facts.takeDue(at: now.instant), at: now)
            + settle(work.connections.takeDue(at: now.instant), at: now)
            + rescope(work.scopes.takeDue(at: now.instant), at: now)
    }

    private func publishFacts(of ids: ArraySlice<TagID>, at now: Timestamp) -> [BridgeAction] {
        publish(ids.compactMap(tags.position).flatMap { tags[$0].allFacts(at: now) })
    }

    private mutating func settle(_ ids: ArraySlice<TagID>, at now: Timestamp) -> [BridgeAction] {
        ids.compactMap(tags.position).flatMap { settle($0, at: now) }
    }

    private mutating func rescope(_ ids: ArraySlice<TagID>, at now: Timestamp) -> [BridgeAction] {
        ids.isEmpty ? [] : rescoped(ids.compactMap(tags.position), at: now)
    }
}

// MARK: Features of tags

extension BridgeState {
    /// Handles an event of the radios about a tag; ignored for an unknown tag.
    mutating func radioReported(_ event: RadioEvent, about tag: TagHandle, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: tag) else { return [] }
        switch event {
        case .received(let receptions):
            return publish(tags[position].received(receptions, at: now)) + [tags[position].store()].compactMap(\.self)
        case .noBond(let radios):
            tags[position].radios?.withoutBond = radios
            return publish(healthChanged(at: now))
        }
    }

    /// Handles the result of work with the file of a session of the motion sensor.
    mutating func motionFile(
        _ id: TagID, _ session: StoredMotionSession, _ event: MotionFileEvent, at now: Timestamp
    ) -> [BridgeAction] {
        guard let position = tags.position(of: id) else { return [] }
        return tags.motion(of: position, idle: configuration.options.motion.idle, at: now) {
            $0.fileReported(event, of: session, in: $1)
        }
    }

    /// Performs a successful `find/set`.
    mutating func findChanged(_ change: FindChange, of position: Int, at now: Timestamp) -> [BridgeAction] {
        switch change {
        case .start(let duration): return finds.start(position, of: &tags, for: duration, at: now.instant)
        case .stop:
            let starts = failAll(of: position, .cancelledByStop, at: now) { $0 is FindSet }
            return starts.actions + finds.end(position, of: &tags, isHalting: true, isStarting: starts.wasSent)
        }
    }

    /// Ends the blinking of a tag that was touched.
    mutating func touched(_ tag: TagHandle) -> [BridgeAction] {
        defer { updateDeadline() }
        return tags.position(of: tag).map { finds.end($0, of: &tags, isHalting: true) } ?? []
    }

    /// Applies changed settings of the features of tags.
    mutating func featuresConfigured(_ old: BridgeOptions, at now: Timestamp) -> [BridgeAction] {
        let new = configuration.options
        return (old.presence.limit == new.presence.limit ? [] : presenceConfigured(new.presence.limit, at: now))
            + (old.slide.idle == new.slide.idle ? [] : slidesConfigured(new.slide.idle, at: now))
    }

    private mutating func presenceConfigured(_ limit: Duration?, at now: Timestamp) -> [BridgeAction] {
        // Another bridge publishes the presence of its tags.
        let withheld = tags.filter { scopes[$0.entry.id] != nil }.map {
            BridgeAction.withhold([$0.topics[PresenceDocument.topic]])
        }
        let facts = tags.indices.flatMap { position in
            tags[position].setPresence(awayAfter: limit, at: now) + [tags[position].connectionFact(at: now)]
        }
        if limit == nil { departures.append(.features, retainedTopics: tags.flatMap(\.leftTopics), at: now.instant) }
        return (limit == nil ? [] : withheld) + publish(facts) + tags.indices.compactMap { tags[$0].store() }
    }

    private mutating func slidesConfigured(_ idle: Duration?, at now: Timestamp) -> [BridgeAction] {
        tags.indices.flatMap { position -> [BridgeAction] in
            guard tags[position].rareFacts.first?.slide != nil else { return [] }
            var starts: (actions: [BridgeAction], wasSent: Bool) = ([], false)
            if idle == nil {
                starts = failAll(of: position, .slideIsDisabled, at: now) { ($0 as? TouchModeSet)?.isSlide ?? false }
            }
            let isOn = tags[position].setSlide(idle: idle, at: now)
            return starts.actions + (isOn || starts.wasSent ? tags.endSlide(of: position) : [])
        }
    }

    /// Ends the publication of raw data that the configuration no longer allows.
    mutating func rawDataConfigured() -> [BridgeAction] {
        guard !configuration.options.allowsRawData else { return [] }
        return tags.indices.compactMap { position in
            guard !tags[position].rare.rawViews.isEmpty else { return nil }
            tags[position].rare.rawViews = []
            return .observeRawData([], of: tags[position].handle)
        }
    }
}

// MARK: Adding and changing tags

extension BridgeState {
    mutating func add(_ entry: TagEntry, record: TagRecord?, at now: Timestamp) -> [BridgeAction] {
        if let position = tags.position(of: entry.id) {
            guard tags[position].entry.serial != entry.serial else { return [] }
            takenIDs.add(entry.id, of: entry.serial)
            return publish(healthChanged(at: now))
        }
        return insert(entry, record: record, nil, at: now) + publish(foundFacts(about: entry.serial))
    }

    /// Handles a new bond: adds the tag if it is new, and connects it according to its policy.
    mutating func addPaired(_ entry: TagEntry, _ sighting: TagSighting, at now: Timestamp) -> [BridgeAction] {
        seen.solved(entry.serial)
        guard let position = tags.position(of: entry.id) else {
            return insert(entry, record: nil, sighting, at: now)
        }
        return publish(tags[position].paired(sighting, at: now) + healthChanged(at: now)) + settle(position, at: now)
    }

    private mutating func insert(
        _ entry: TagEntry, record: TagRecord?, _ sighting: TagSighting?, at now: Timestamp
    ) -> [BridgeAction] {
        let emptied = finish(departures.take(entry.id), at: now)
        var tag = TagMirror(
            entry, record: record, sighting: sighting, isOutOfService: stack.isOutOfService, in: tagContext, at: now)
        tag.link.bluetoothFault = stack.fault
        let stored = tag.storeAlways()
        tag.handle = pairing.tag(entry.serial) ?? tags.newHandle()
        tags.append(tag)
        tagListChanged()
        let scope = rescope([tags.count - 1], at: now)
        let announcement = discoveryFacts(ofTag: tags.count - 1) + [connectedTagsFact]
        let facts = publish(tag.allFacts(at: now) + [infoFact] + announcement + healthChanged(at: now))
        let addition = BridgeAction.addTag(tag.handle, entry, lastAddress: record?.address)
        // A tag that was paired is connected already.
        let report = sighting == nil ? [] : [BridgeAction.reportAgain(tag.handle)]
        let deletions = (discovery?.filter(ofTag: entry.id.text)).map { [BridgeAction.subscribe([$0])] } ?? []
        return emptied + deletions + scope.narrowing + facts + scope.widening + [addition] + report + [stored]
            + settle(tags.count - 1, at: now)
    }

    mutating func change(_ entry: TagEntry, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: entry.id) else { return [] }
        let publications = tags[position].change(entry, at: now) + discoveryFacts(ofTag: position)
        return publish(publications + healthChanged(at: now)) + settle(position, at: now)
    }

    /// Applies a changed list of tags to discovery.
    mutating func tagListChanged() {
        discovery?.setTags(tags.map(\.entry.id.text))
    }
}

// MARK: Removing tags

extension BridgeState {
    mutating func release(_ id: TagID, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: id) else { return [] }
        return [.disconnect(tags[position].handle)] + depart(position, publishing: [], for: nil, at: now)
    }

    /// Handles a removed bond: removes the tag, its discovery immediately and its topics a second later.
    mutating func forgotten(_ entry: TagEntry, token: UInt64, at now: Timestamp) -> [BridgeAction] {
        // A reload may have removed the tag meanwhile, and may have given its id to another tag.
        let position = tags.position(of: entry.id).flatMap { tags[$0].entry.serial == entry.serial ? $0 : nil }
        let document = ForgottenDocument(entry, isConfigured: position != nil && isConfigured(entry.id))
        let event = event(
            .tagForgotten, id: entry.id, serial: entry.serial, address: position.flatMap { tags[$0].sighting.address },
            text: document.note, at: now)
        let request = Departure.Request(token: token, data: CommandData(document))
        if let position {
            // A reload may have listed the tag again meanwhile, and it may be connected again.
            return [.disconnect(tags[position].handle)] + depart(position, publishing: [event], for: request, at: now)
        }
        // The tag was already removed: the result follows when its topics are cleared.
        let isDeparting = departures.join(request, serial: entry.serial)
        return publish([event]) + (isDeparting ? [] : succeed(token, data: request.data, at: now))
    }

    /// Connects a tag again that Bluetooth has refused to forget, and has disconnected for that.
    mutating func keptAfterAll(_ id: TagID, at now: Timestamp) -> [BridgeAction] {
        guard let position = tags.position(of: id) else { return [] }
        tags[position].link.requestAgain()
        return settle(position, at: now)
    }

    /// Removes a tag: ends its commands, removes its discovery immediately and its topics a second later.
    private mutating func depart(
        _ position: Int, publishing events: [Publication], for request: Departure.Request?, at now: Timestamp
    ) -> [BridgeAction] {
        let id = tags[position].entry.id
        let gestures =
            perform(reactions.release(id, of: tags, at: now), at: now) + finds.end(position, of: &tags, isHalting: true)
            + publish(tags[position].slideInterrupted(at: now))
        let refused = pendingCommands.removeAll(of: id).flatMap { forgotten($0, at: now) }
        let recording = recorder.recording?.tag == id ? recorder.end(.removed, at: now) : []
        // Another bridge publishes the facts from now on: they are not cleared.
        let withheld = peers.isKnown(id) ? [BridgeAction.withhold(allTopics(of: position))] : []
        // Facts that are withheld could not be cleared.
        let released =
            withheld.isEmpty && scopes[id] != nil ? [BridgeAction.republish(tags[position].retainedTopics)] : []
        scopes.remove(id)
        let tag = tags.remove(at: position)
        seen.solved(tag.entry.serial)
        reactions.remove(id)
        tagListChanged()
        departures.append(.tag(tag.entry, request), retainedTopics: tag.retainedTopics, at: now.instant)
        let discovery = discoveryWithdrawal(of: tag) + [connectedTagsFact]
        // Home Assistant offers the tag after the next scan, which begins with no offer.
        let list = found.contains(tag.entry.serial) ? foundFact : []
        return gestures + refused + recording + [.removeTag(tag.handle)] + withheld + released
            + publish(events + [infoFact] + discovery + healthChanged(at: now) + list)
    }

    /// Returns whether the configuration lists a tag.
    func isConfigured(_ id: TagID) -> Bool {
        configuration.tags.contains { $0.id == id }
    }

    /// Clears the retained topics of removed tags and former names, and completes the requests.
    mutating func finish(_ departures: [Departure], at now: Timestamp) -> [BridgeAction] {
        departures.flatMap { departure in
            let cleared = publish(topicsToClear(by: departure).map(Publication.noFact))
            switch departure.origin {
            case .tag(_, let request):
                return cleared + (request.map { succeed($0.token, data: $0.data, at: now) } ?? [])
            case .formerInstance(let name):
                former.cleared(name)
                return cleared + [.forgetInstance(name)]
            // Without a broker, the next run takes everything back.
            case .formerPlaces:
                guard isBrokerConnected == true else { return cleared }
                formerPlaces = []
                return cleared + [.forgetFormerPlaces]
            // Without a broker, the next run clears them, too.
            case .features: return cleared + (isBrokerConnected == true ? leftTopicsCleared() : [])
            }
        }
    }

    /// Stores that the topics of features that were switched off are cleared.
    mutating func leftTopicsCleared() -> [BridgeAction] {
        tags.indices.compactMap {
            tags[$0].leftTopicsCleared()
            return tags[$0].store()
        }
    }

    /// The retained topics of a departure, without those of features that were switched on again.
    private func topicsToClear(by departure: Departure) -> [String] {
        guard case .features = departure.origin else { return departure.retainedTopics }
        let used = Set(tags.flatMap(\.featureTopics) + (discovery == nil ? [] : topics.ofHomeAssistant))
        return departure.retainedTopics.filter { !used.contains($0) }
    }

    /// The announcements that runs under a name have made, as the state file says; nil if it says nothing.
    private func announcements(of instance: String) -> [PublishedPlace.Announcement]? {
        let places = formerPlaces.filter { $0.instance == instance }
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

    /// Takes back what runs with discovery have announced, if it is off now.
    private mutating func withdrawDiscovery(at now: Timestamp) -> [DiscoveryMessage] {
        guard discovery == nil, announcements(of: configuration.instance)?.isEmpty == false else { return [] }
        let left = tags.flatMap { $0.leftTopics + ($0.find.isShown ? [] : [$0.topics[FindFact.topic]]) }
        departures.append(.features, retainedTopics: topics.ofHomeAssistant + left, at: now.instant)
        let own = tags.filter { !peers.isKnown($0.entry.id) }.map(\.entry)
        return withdrawals(ofTags: own, bridge: configuration.instance, under: configuration.instance)
    }

    /// Clears former base topics after the announcements name the present one.
    private mutating func clearElsewhere(
        _ findings: FormerTopics.Findings, at now: Timestamp
    ) -> (withdrawals: [DiscoveryMessage], actions: [BridgeAction]) {
        guard formerPlaces.contains(where: { $0 != PublishedPlace(configuration) }) else { return ([], []) }
        let filters = former.filtersElsewhere
        former.endElsewhere()
        var (messages, retained): ([DiscoveryMessage], [String]) = ([], [])
        for other in findings.elsewhere {
            let (name, base) = (other.place.instance, other.place.base)
            let gone = other.tags.filter { tags.position(of: $0.id) == nil && !peers.isKnown($0.id) }
            messages += withdrawals(ofTags: gone, bridge: name == configuration.instance ? nil : name, under: name)
            let there = BridgeTopics(base: base, instance: name, hasRadios: true)
            retained += other.tags.map { there.tag($0.id) }.flatMap { $0.retained + $0.ofFeatures } + there.retained
        }
        departures.append(.formerPlaces, retainedTopics: retained, at: now.instant)
        return (messages, filters.isEmpty ? [] : [.unsubscribe(filters)])
    }

    /// Clears the topics of earlier runs: discovery immediately, everything else a second later.
    mutating func clearFormerTopics(at now: Timestamp) -> [BridgeAction] {
        guard let findings = former.takeDue(at: now.instant) else { return [] }
        let unknown = findings.tags.filter { tags.position(of: $0.id) == nil && !peers.isKnown($0.id) }
        for entry in unknown {
            let topics = topics.tag(entry.id)
            departures.append(.tag(entry, nil), retainedTopics: topics.retained + topics.ofFeatures, at: now.instant)
        }
        for name in findings.instances {
            let retained = BridgeTopics(base: topics.base, instance: name).retained
            departures.append(.formerInstance(name), retainedTopics: retained, at: now.instant)
        }
        let documents = HomeAssistantDiscovery(withdrawing: configuration, topics: topics).documents
        let elsewhere = clearElsewhere(findings, at: now)
        // A tag of a former name was announced where that name was, or where this one is.
        let names = [configuration.instance] + findings.instances
        var seen: Set<DiscoveryMessage> = []
        let messages =
            (names.flatMap { withdrawals(ofTags: unknown, bridge: nil, under: $0) }
            + findings.instances.flatMap { withdrawals(ofTags: [], bridge: $0, under: $0) }
            + elsewhere.withdrawals + withdrawDiscovery(at: now)).filter { seen.insert($0).inserted }
        // Early releases of Home Assistant log an error for any message of the device form.
        let uncertain = messages.map(\.topic).filter(documents.isUnknownToEarlyReleases)
        formerAnnouncements = Set(uncertain)
        let certain = messages.filter { !formerAnnouncements.contains($0.topic) }
        return publish(certain.map(Publication.init)) + elsewhere.actions
            + (uncertain.isEmpty ? [] : [.subscribe(uncertain)])
            + endOfTagInfo
    }

    /// Withdraws a former announcement of the device form that is still retained.
    mutating func receivedFormerAnnouncement(_ message: MQTTMessage) -> [BridgeAction] {
        formerAnnouncements.remove(message.topic)
        let withdrawal = message.payload.isEmpty ? [] : publish([.noFact(message.topic)])
        return [.unsubscribe([message.topic])] + withdrawal
    }

    /// Ends the subscriptions to former announcements that are not retained.
    mutating func stopReadingFormerAnnouncements() -> [BridgeAction] {
        guard !formerAnnouncements.isEmpty else { return [] }
        defer { formerAnnouncements = [] }
        return [.unsubscribe(formerAnnouncements.sorted())]
    }

    /// Ends the subscription to the `info` topics of all tags when it is no longer needed. A single bridge keeps it.
    var endOfTagInfo: [BridgeAction] {
        mutating get {
            guard !peers.isEmpty, former.takeEndOfTags() else { return [] }
            return [.unsubscribe([topics.infoOfEveryTag])]
        }
    }
}
