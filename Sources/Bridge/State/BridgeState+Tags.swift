import Time

// MARK: Adding and removing tags

/// A removed tag, or a former instance name of the bridge, whose retained topics are not cleared yet.
struct Departure: Sendable {
    /// The request that removed the tag and gets the result.
    struct Request: Sendable {
        let token: UInt64
        let data: CommandData
    }

    /// The tag; nil for a former instance name.
    let entry: TagEntry?
    /// The former instance name; nil for a tag.
    let formerInstance: String?
    /// nil if the tag was removed from the configuration rather than by a request.
    var request: Request?
    let retainedTopics: [String]
    let due: Instant

    init(entry: TagEntry, request: Request?, retainedTopics: [String], due: Instant) {
        self.entry = entry
        formerInstance = nil
        self.request = request
        self.retainedTopics = retainedTopics
        self.due = due
    }

    init(formerInstance: String, retainedTopics: [String], due: Instant) {
        entry = nil
        self.formerInstance = formerInstance
        self.retainedTopics = retainedTopics
        self.due = due
    }

    /// How long Home Assistant has to remove a device before the topics of its entities are cleared.
    static let delay = Duration.seconds(1)
}

extension BridgeState {
    /// The known tags, each with its latest address.
    public var knownTags: [(entry: TagEntry, address: String?)] {
        tags.map { ($0.entry, $0.sighting.address) }
    }

    /// Adds a tag; ignored if its id exists.
    ///
    /// - Parameters:
    ///   - entry: the tag.
    ///   - record: its stored record; nil for a new tag.
    ///   - now: the current time.
    /// - Returns: the actions to perform.
    public mutating func add(_ entry: TagEntry, record: TagRecord? = nil, at now: Moment) -> [BridgeAction] {
        guard !isStopped, position(of: entry.id) == nil else { return [] }
        defer { updateDeadline() }
        return insert(entry, record: record, TagSighting(address: record?.address, name: record?.name), at: now)
    }

    /// Handles a new bond: adds the tag if it is new, and connects it according to its policy.
    mutating func paired(_ entry: TagEntry, _ sighting: TagSighting, at now: Moment) -> [BridgeAction] {
        guard let position = position(of: entry.id) else {
            return insert(entry, record: nil, sighting, at: now)
        }
        tags[position].failure = nil
        tags[position].intent.askAgain()
        return publish(tags[position].sighted(sighting, at: now) + healthChanged(at: now)) + settle(position, at: now)
    }

    private mutating func insert(
        _ entry: TagEntry, record: TagRecord?, _ sighting: TagSighting, at now: Moment
    ) -> [BridgeAction] {
        let emptied = finishDepartures(at: now) { $0.entry?.id == entry.id }
        var tag = TagMirror(
            entry, record: record, topics: topics, bridge: configuration.instance, statsPayload: statsPayload,
            startedAt: now)
        tag.sighting = sighting
        tag.knownAddress = sighting.address
        tag.remembered = tag.record
        tag.isOutOfService = isOutOfService
        tag.publishedAvailability = tag.isAvailable
        tags.append(tag)
        findPositions()
        let announcement = discoveryFacts(ofTag: tags.count - 1) + connectedTagsFact
        let facts = publish(tag.allFacts(at: now) + [infoFact] + announcement)
        let known: [BridgeAction] = [.addTag(entry), .remember(tag.record)]
        return emptied + facts + known + settle(tags.count - 1, at: now)
    }

    /// Handles a removed bond: removes the tag, its discovery immediately and its topics a second later.
    mutating func forgot(_ entry: TagEntry, token: UInt64, at now: Moment) -> [BridgeAction] {
        // A reload may have removed the tag meanwhile, and may have given its id to another tag.
        let position = position(of: entry.id).flatMap { tags[$0].entry.serial == entry.serial ? $0 : nil }
        let document = ForgottenDocument(entry, isConfigured: position != nil && isConfigured(entry.id))
        let event = event(
            .tagForgotten, id: entry.id, serial: entry.serial, address: position.flatMap { tags[$0].sighting.address },
            text: document.note, at: now)
        let request = Departure.Request(token: token, data: CommandData(document))
        guard let position else { return publish([event]) + departed(entry, request, at: now) }
        // A reload may have listed the tag again meanwhile, and it may be connected again.
        return [.disconnect(entry.id)] + depart(position, telling: [event], of: request, at: now)
    }

    /// Handles a request for a tag that was already removed: the result follows when its topics are cleared.
    private mutating func departed(
        _ entry: TagEntry, _ request: Departure.Request, at now: Moment
    ) -> [BridgeAction] {
        guard let index = departures.firstIndex(where: { $0.entry?.serial == entry.serial && $0.request == nil }) else {
            return finish(request.token, data: request.data, at: now)
        }
        departures[index].request = request
        return []
    }

    /// Removes a tag: ends its commands, removes its discovery immediately and its topics a second later.
    mutating func depart(
        _ position: Int, telling events: [Publication], of request: Departure.Request?, at now: Moment
    ) -> [BridgeAction] {
        let id = tags[position].entry.id
        let refused = pendingCommands.removeAll(of: id).flatMap { command in
            failed(command, command.isSent ? .forgottenAfterSending : .forgottenBeforeSending, at: now)
        }
        let tag = tags.remove(at: position)
        findPositions()
        departures.append(
            Departure(
                entry: tag.entry, request: request, retainedTopics: tag.topics.retained,
                due: now.instant + Departure.delay))
        let discovery = discoveryWithdrawal(of: tag) + connectedTagsFact
        return refused + [.removeTag(id)] + publish(events + [infoFact] + discovery + healthChanged(at: now))
    }

    /// Returns whether the configuration lists a tag.
    func isConfigured(_ id: TagID) -> Bool {
        configuration.tags.contains { $0.id == id }
    }

    /// Clears the retained topics of removed tags and completes the requests.
    mutating func finishDepartures(at now: Moment, where isDue: (Departure) -> Bool) -> [BridgeAction] {
        let due = departures.filter(isDue)
        departures.removeAll(where: isDue)
        return due.flatMap { departure in
            publish(departure.retainedTopics.map(Publication.noFact))
                + (departure.request.map { finish($0.token, data: $0.data, at: now) } ?? [])
                + (departure.formerInstance.map { leave(formerInstance: $0) } ?? [])
        }
    }

    private mutating func leave(formerInstance name: String) -> [BridgeAction] {
        former.cleared(name)
        return [.forgetInstance(name)]
    }
}
