import HomeAssistant
import JacquardProtocol
import Time

// MARK: Events of tags

extension BridgeState {
    mutating func tagReported(_ event: TagEvent, by tag: TagHandle, at now: Timestamp, _ effects: inout Effects) {
        guard let position = tags.position(of: tag) else { return }
        if case .commandEnded(let token, let result) = event {
            return commandEnded(token, result, of: position, at: now, &effects)
        }
        switch event {
        case .motion(let report): return tags[position].tell(.motion(report), at: now, &effects)
        case .notified(let notification): return tags[position].tell(.notified(notification), at: now, &effects)
        default: break
        }
        let (wasConnected, requestedAt) = (tags[position].isConnected, tags[position].link.requestedAt)
        let reflexFacts = tags.read(position) { $0.reflexFacts }
        let (problemsBefore, features) = (tags.read(position) { $0.problems }, tags.read(position) { $0.shownFeatures })
        var facts = Effects()
        tags[position].handle(event, at: now, &facts)
        if let incident = TagIncidents.Kind(
            event, wasConnected: wasConnected, isConnected: tags[position].isConnected,
            isForgetting: leftovers.departures.isForgetting(tags[position].entry.id))
        {
            diagnostics.incidents.add(incident, of: tag, at: now.instant)
        }
        if let requestedAt, !wasConnected, tags[position].isConnected {
            diagnostics.connectDurations.observe(from: requestedAt, to: now.instant)
        }
        // Of this tag only: with thousands of tags, looking at all of them for each one takes seconds.
        if tags.read(position, { $0.problems }) != problemsBefore { healthChanged(at: now, &facts) }
        switch event {
        case .connection:
            connectionReported(of: position, wasConnected: wasConnected, facts, at: now, &effects)
        case .information:
            effects.append(facts)
            announce(tag: position, &effects)
        case .gear, .battery:
            let (id, new) = (tags[position].entry.id, tags.read(position) { $0.reflexFacts })
            react(at: now, &effects) { $0.changed(id, from: reflexFacts, to: new, of: $1, at: now, &$2) }
            effects.append(facts)
            if tags.read(position, { $0.shownFeatures }) != features { announce(tag: position, &effects) }
            completeFacts(of: position, &effects)
            settle(position, at: now, &effects)
        default: effects.append(facts)
        }
    }

    /// Handles a changed state of a tag's connection.
    ///
    /// - Parameters:
    ///   - position: the index of the tag.
    ///   - wasConnected: whether it was connected before.
    ///   - facts: the facts of the tag that have changed.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    private mutating func connectionReported(
        of position: Int, wasConnected: Bool, _ facts: Effects, at now: Timestamp, _ effects: inout Effects
    ) {
        let isChanged = tags[position].isConnected != wasConnected
        if wasConnected, isChanged {
            let id = tags[position].entry.id
            pendingCommands.refused.remove(id)
            if !pendingCommands.waiting(for: id, .connected).isEmpty { tags[position].link.stayAwake() }
        }
        let scope = isChanged ? rescope([position], at: now) : ScopeEffects()
        if isChanged, !wasConnected, !tags[position].rareFacts.isEmpty {
            tags[position].unconfirmed.connected(at: now.instant)
        }
        if wasConnected, isChanged { tags[position].tell(.linkEnded, at: now, &effects) }
        effects.append(scope.narrowing)
        effects.append(facts)
        if isChanged { listsChanged(at: now, &effects) }
        effects.append(scope.widening)
        refuseWaiting(of: position, at: now, &effects)
        settle(position, at: now, &effects)
        sendWaiting(of: position, at: now, &effects)
        if isChanged { tags[position].tell(.linkChanged, at: now, &effects) }
    }

    /// Publishes which tags are connected, or does so later: with many tags, a list of all tags for each connection takes
    /// longer than the connection.
    private mutating func listsChanged(at now: Timestamp, _ effects: inout Effects) {
        tags.work.lists.interval = tags.count > Self.manyTags ? .milliseconds(tags.count) : .zero
        if tags.work.lists.admits(at: now.instant) { publishLists(&effects) }
    }

    private func publishLists(_ effects: inout Effects) {
        effects.publish(infoFact)
        effects.publish(connectedTagsFact)
    }

    /// Publishes the lists that were held back, if they are due.
    mutating func listsDue(at now: Timestamp, _ effects: inout Effects) {
        if tags.work.lists.isDue(at: now.instant) { publishLists(&effects) }
    }

    /// With more tags, the lists of tags are published once per millisecond and tag at most.
    private static let manyTags = 50

    mutating func sighted(
        _ tag: TagHandle, _ sighting: TagSighting, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let position = tags.position(of: tag) else { return }
        let name = tags[position].sighting.name
        tags[position].sighted(sighting, at: now, &effects)
        if tags[position].sighting.name != name { announce(tag: position, &effects) }
        settle(position, at: now, &effects)
    }

    /// Stores a received tag, and publishes it during a requested scan.
    mutating func advertised(_ tag: TagAdvertisement, at now: Timestamp, _ effects: inout Effects) {
        search.seen.received(tag, at: now)
        if !tag.isConnected, search.scan.admits(tag.address) {
            let document = AdvertisementDocument(tag: tag, isKnown: tags.contains(serial: tag.serial))
            effects.publish(.stream(topics.advertisement, document))
        }
        received(tag, at: now, &effects)
        if search.pairing.received(tag.serial) { effects.publish(pairingFact) }
    }

    /// Adds a tag to the list of found tags. Publishes the list now, or after the minimum interval of one second.
    private mutating func received(_ tag: TagAdvertisement, at now: Timestamp, _ effects: inout Effects) {
        guard homeAssistant.discovery != nil, search.scan.isScanning, !tag.isConnected else { return }
        if search.found.received(tag, at: now.instant) { publishFound(&effects) }
    }

    /// The serials of received tags that the bridge does not know.
    var strangers: [String] { Set(search.seen.serials).filter { !tags.contains(serial: $0) }.sorted() }

    mutating func duplicateSerial(
        _ serial: String, at addresses: [String], at now: Timestamp, _ effects: inout Effects
    ) {
        guard search.seen.duplicated(serial, at: now), !tags.isShared(serial: serial) else { return }
        let stranger = addresses.first { address in
            !tags.contains { $0.entry.serial == serial && $0.sighting.address == address }
        }
        let text = "Several devices show the serial \(serial): \(addresses.joined(separator: ", "))"
        effects.publish(
            event(.duplicateSerial, serial: serial, address: stranger ?? addresses.last, text: text, at: now))
        healthChanged(at: now, &effects)
    }

    /// Disconnects an on-demand tag after a time without commands, and without anything that a command has begun.
    mutating func restIfIdle(_ position: Int, at now: Timestamp, _ effects: inout Effects) {
        let id = tags[position].entry.id
        let isBusy = pendingCommands.isBusy(with: id) || tags[position].features.isActive
        if tags[position].link.restIfIdle(isBusy: isBusy, at: now.instant) { settle(position, at: now, &effects) }
    }

    /// Handles a change of a tag's circumstances: connects or disconnects it, and rejects queued commands that can no
    /// longer succeed.
    mutating func settle(_ position: Int, at now: Timestamp, _ effects: inout Effects) {
        let isHeld = tags[position].link.intent.isHeld
        let obsolete = pendingCommands.waiting(for: tags[position].entry.id, isHeld ? .connected : .disconnected)
        for token in obsolete {
            fail(token, isHeld ? tags[position].heldFailure : .cancelledByConnect, at: now, &effects)
        }
        tags[position].settle(at: now, &effects)
    }
}

// MARK: All tags

extension BridgeState {
    /// Publishes all facts of the bridge and the tags.
    mutating func started(at now: Timestamp, _ effects: inout Effects) {
        let first = tags.work.facts.begin(tags.map(\.entry.id), at: now.instant)
        publishBridge(at: now, &effects)
        publishFacts(of: first, at: now, &effects)
        // Otherwise they are cleared after the announcement without their entities.
        let left = (homeAssistant.discovery == nil ? tags.flatMap(\.leftTopics) : []) + topicsOfFormerOwners(at: now)
        effects.publish(left.map { .noFact($0) })
    }

    /// The topics of ids that other tags had in an earlier run, without those that the tags have facts for.
    private func topicsOfFormerOwners(at now: Timestamp) -> [String] {
        tags.filter { leftovers.former.reassignedIDs.contains($0.entry.id) }.flatMap { tag in
            let used = Set(Effects.collected { tag.publishAll(at: now, &$0) }.publications.map(\.topic))
            return TagTopicTable.all(tag.topics).filter { !used.contains($0) }
        }
    }

    /// Connects or disconnects all tags as Bluetooth allows.
    mutating func settleAll(at now: Timestamp, _ effects: inout Effects) {
        settle(tags.work.connections.begin(tags.map(\.entry.id), at: now.instant), at: now, &effects)
    }

    /// Decides again which facts of all tags this bridge publishes.
    mutating func rescopeAll(at now: Timestamp, _ effects: inout Effects) {
        rescope(tags.work.scopes.begin(tags.map(\.entry.id), at: now.instant), at: now, &effects)
    }

    /// Continues with the tags that are due.
    mutating func workDue(at now: Timestamp, _ effects: inout Effects) {
        publishFacts(of: tags.work.facts.takeDue(at: now.instant), at: now, &effects)
        settle(tags.work.connections.takeDue(at: now.instant), at: now, &effects)
        rescope(tags.work.scopes.takeDue(at: now.instant), at: now, &effects)
    }

    private func publishFacts(of ids: ArraySlice<TagID>, at now: Timestamp, _ effects: inout Effects) {
        for position in ids.compactMap(tags.position) { tags[position].publishAll(at: now, &effects) }
    }

    private mutating func settle(_ ids: ArraySlice<TagID>, at now: Timestamp, _ effects: inout Effects) {
        for position in ids.compactMap(tags.position) { settle(position, at: now, &effects) }
    }

    private mutating func rescope(_ ids: ArraySlice<TagID>, at now: Timestamp, _ effects: inout Effects) {
        if !ids.isEmpty { rescoped(ids.compactMap(tags.position), at: now, &effects) }
    }
}

// MARK: Features of tags

extension BridgeState {
    /// Handles an event of the radios about a tag; ignored for an unknown tag.
    mutating func radioReported(
        _ event: RadioEvent, about tag: TagHandle, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let position = tags.position(of: tag) else { return }
        switch event {
        case .received(let receptions):
            tags[position].received(receptions, at: now, &effects)
            tags[position].store(&effects)
        case .noBond(let radios):
            tags[position].radios?.withoutBond = radios
            healthChanged(at: now, &effects)
        }
    }

    /// Handles the result of work with a file of a feature.
    mutating func reported(
        _ event: FeatureFileEvent, about file: FeatureFile, of id: TagID, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let position = tags.position(of: id) else { return }
        tags[position].tell(.file(file, event), at: now, &effects)
    }

    /// Passes what a successful command wants on to the features of its tag.
    mutating func pass(
        _ outcome: TagRequestOutcome, of position: Int, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let order = outcome.order else { return }
        var hasCancelled = false
        if let row = outcome.cancels {
            hasCancelled = failAll(of: position, .cancelledByStop, at: now, &effects) { type(of: $0) == row }
        }
        tags[position].tell(.ordered(order, hasCancelled: hasCancelled), at: now, &effects)
    }

    /// Tells the features of a tag that it was touched.
    mutating func touched(_ tag: TagHandle, at now: Timestamp, _ effects: inout Effects) {
        guard let position = tags.position(of: tag), tags[position].features.isActive else { return }
        tags[position].tell(.gesture, at: now, &effects)
        updateDeadline()
    }

    /// Applies changed settings of the features of tags.
    mutating func featuresConfigured(_ old: BridgeOptions, at now: Timestamp, _ effects: inout Effects) {
        let new = configuration.options
        if old.presence.limit != new.presence.limit { presenceConfigured(new.presence.limit, at: now, &effects) }
        if old.features != new.features { optionsChanged(from: old, to: new, at: now, &effects) }
    }

    private mutating func presenceConfigured(_ limit: Duration?, at now: Timestamp, _ effects: inout Effects) {
        if limit != nil {
            // Another bridge publishes the presence of its tags.
            for tag in tags where fleet.scopes[tag.entry.id] != nil {
                effects.add(.withhold([tag.topics[PresenceDocument.topic]]))
            }
        }
        for position in tags.indices {
            tags[position].setPresence(awayAfter: limit, at: now, &effects)
            effects.publish(tags[position].connectionFact(at: now))
        }
        if limit == nil {
            leftovers.departures.append(.features, retainedTopics: tags.flatMap(\.leftTopics), at: now.instant)
        }
        for position in tags.indices { tags[position].store(&effects) }
    }

    private mutating func optionsChanged(
        from old: BridgeOptions, to new: BridgeOptions, at now: Timestamp, _ effects: inout Effects
    ) {
        let refused = TouchModeTable.rows.filter { $0.refusal(old) == nil }.compactMap { row in
            row.refusal(new).map { (row.word, $0) }
        }
        for position in tags.indices {
            var hasCancelled = false
            for (word, refusal) in refused {
                let wasSent = failAll(of: position, refusal, at: now, &effects) {
                    ($0 as? TouchModeSet)?.word == word
                }
                hasCancelled = hasCancelled || wasSent
            }
            tags[position].tell(.configured(from: old, to: new, hasCancelled: hasCancelled), at: now, &effects)
        }
    }
}

// MARK: Adding and changing tags

extension BridgeState {
    mutating func add(_ entry: TagEntry, record: TagRecord?, at now: Timestamp, _ effects: inout Effects) {
        if let position = tags.position(of: entry.id) {
            guard tags[position].entry.serial != entry.serial else { return }
            leftovers.takenIDs.add(entry.id, of: entry.serial)
            return healthChanged(at: now, &effects)
        }
        insert(entry, record: record, nil, at: now, &effects)
        publishFound(about: entry.serial, &effects)
    }

    /// Handles a new bond: adds the tag if it is new, and connects it according to its policy.
    mutating func addPaired(
        _ entry: TagEntry, _ sighting: TagSighting, at now: Timestamp, _ effects: inout Effects
    ) {
        search.seen.solved(entry.serial)
        guard let position = tags.position(of: entry.id) else {
            return insert(entry, record: nil, sighting, at: now, &effects)
        }
        tags[position].paired(sighting, at: now, &effects)
        healthChanged(at: now, &effects)
        settle(position, at: now, &effects)
    }

    private mutating func insert(
        _ entry: TagEntry, record: TagRecord?, _ sighting: TagSighting?, at now: Timestamp, _ effects: inout Effects
    ) {
        finish(leftovers.departures.take(entry.id), at: now, &effects)
        var tag = TagMirror(
            entry, record: record, sighting: sighting, isOutOfService: stack.isOutOfService, in: tagContext, at: now)
        tag.link.bluetoothFault = stack.fault
        var stored = Effects()
        tag.storeAlways(&stored)
        tag.handle = search.pairing.tag(entry.serial) ?? tags.newHandle()
        tags.append(tag)
        tagListChanged()
        let position = tags.count - 1
        if let filter = homeAssistant.discovery?.filter(ofTag: entry.id.text) { effects.add(.subscribe([filter])) }
        let scope = rescope([position], at: now)
        effects.append(scope.narrowing)
        tags[position].publishAll(at: now, &effects)
        effects.publish(infoFact)
        announce(tag: position, &effects)
        effects.publish(connectedTagsFact)
        healthChanged(at: now, &effects)
        effects.append(scope.widening)
        effects.add(.addTag(tag.handle, entry, lastAddress: record?.address))
        // A tag that was paired is connected already.
        if sighting != nil { effects.add(.reportAgain(tag.handle)) }
        effects.append(stored)
        settle(position, at: now, &effects)
    }

    mutating func change(_ entry: TagEntry, at now: Timestamp, _ effects: inout Effects) {
        guard let position = tags.position(of: entry.id) else { return }
        tags[position].change(entry, at: now, &effects)
        announce(tag: position, &effects)
        healthChanged(at: now, &effects)
        settle(position, at: now, &effects)
    }

    /// Applies a changed list of tags to discovery.
    mutating func tagListChanged() {
        homeAssistant.discovery?.setTags(tags.map(\.entry.id.text))
    }
}
