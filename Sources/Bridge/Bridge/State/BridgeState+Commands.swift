import HomeAssistant
import JacquardProtocol
import MQTTTypes
import Text
import Time

// MARK: Receiving a command

extension BridgeState {
    mutating func received(_ message: MQTTMessage, at now: Timestamp, _ effects: inout Effects) {
        fleet.peers.received(at: now.instant)
        if !leftovers.announcements.isEmpty, leftovers.announcements.contains(message.topic) {
            return receivedFormerAnnouncement(message, &effects)
        }
        if receivedDiscovery(message, at: now, &effects) { return }
        guard let subject = topics.subject(of: message.topic) else {
            if message.isRetained { leftovers.former.receivedElsewhere(message.topic, message.payload) }
            return
        }
        switch subject {
        case .command(let address):
            if isDeletion(message, of: address.name, isForTag: address.tag != nil) { return }
            command(address, message, at: now, &effects)
        case .groupCommand(let group, let name):
            if isDeletion(message, of: name, isForTag: true) { return }
            groupCommand(name, to: group, message, at: now, &effects)
        case .tagInfo(let tag):
            guard message.isRetained, let id = TagID(String(tag)) else { break }
            if let position = tags.position(of: id) {
                received(info: message.payload, ofTag: position)
            } else {
                leftovers.former.received(info: message.payload, of: id)
            }
        case .peerInfo(let instance):
            leftovers.former.received(info: message.payload, ofBridge: instance)
            guard ExactText(instance) != ExactText(configuration.instance) else {
                fleet.peers.received(ownInfo: message.payload)
                pendingCommands.publishResults { fleet.peers.ownClaims($0.text) }
                ownInfoReceived(message.payload, at: now, &effects)
                if fleet.peers.claimsNothing { run.shutdown?.isKnown = true }
                endTagInfo(&effects)
                return ringChanged(at: now, &effects)
            }
            let change = fleet.peers.received(
                info: message.payload, of: instance, isStored: fleet.scopes.mayBeStored(at: now.instant),
                at: now.instant)
            pendingCommands.bridgeAdded(change.added, ExactText(instance))
            if change.isRestarted { pendingCommands.bridgeStarted(ExactText(instance)) }
            if let since = change.missedSince { pendingCommands.bridgeMissed(ExactText(instance), since: since) }
            pendingCommands.proof.hasPeers = !fleet.peers.isEmpty
            if change.isProof {
                pendingCommands.left.bridgeLives(
                    ExactText(instance), connected: change.connected,
                    isFirst: fleet.peers.isBefore(ExactText(instance)),
                    at: now.instant)
            }
            dropCommands(ofTagsAt: ExactText(instance), change, at: now, &effects)
            peerChanged(change, at: now, &effects)
            endTagInfo(&effects)
            ringChanged(at: now, &effects)
        case .peerState(let instance) where ExactText(instance) == ExactText(configuration.instance):
            let isOverwritten = fleet.peers.isOverwritten(ownState: message.payload)
            guard run.shutdown == nil else {
                if message.payload.elementsEqual("offline".utf8) { run.shutdown?.isKnown = true }
                break
            }
            let isAnswer = message.payload.elementsEqual("online".utf8)
            if isOverwritten { stateOverwritten(at: now, &effects) }
            if isAnswer { retainedMessagesEnded(at: now, &effects) }
        case .peerState(let instance):
            let change = fleet.peers.received(
                state: message.payload, of: instance, isStored: fleet.scopes.mayBeStored(at: now.instant),
                at: now.instant)
            pendingCommands.proof.hasPeers = !fleet.peers.isEmpty
            dropCommands(ofTagsAt: ExactText(instance), change, at: now, &effects)
            peerChanged(change, at: now, &effects)
            ringChanged(at: now, &effects)
        case .beat(let instance): beat(of: instance, message, at: now, &effects)
        }
    }

    /// Returns whether a message deletes the retained message of a command's topic, which is no command.
    ///
    /// Only MQTT 5 says so of a message that arrives as it is published. Before, one without a payload is a deletion if a retained
    /// message of the topic was received, or if the command means nothing without a payload.
    private mutating func isDeletion(_ message: MQTTMessage, of name: String, isForTag: Bool) -> Bool {
        guard message.payload.isEmpty else { return false }
        if message.isRetained { return true }
        guard stack.protocolVersion == Self.lastVersionWithoutRetain else { return false }
        return intake.isDeletion(message) || CommandReceiver.needsPayload(name, isForTag: isForTag)
    }

    /// MQTT 3.1.1, whose brokers remove the retain flag from a message for a subscriber that they have.
    private static let lastVersionWithoutRetain = 4

    /// Handles a message that arrives after the decision to stop: rejects a command.
    mutating func receivedWhileStopping(_ message: MQTTMessage, at now: Timestamp, _ effects: inout Effects) {
        switch topics.subject(of: message.topic) {
        case .command, .groupCommand, .peerInfo, .peerState: received(message, at: now, &effects)
        default: break
        }
    }

    /// Whether messages to a topic are commands to tags or requests to a bridge.
    public func isCommand(_ topic: String) -> Bool {
        switch topics.subject(of: topic) {
        case .command, .groupCommand: true
        default: false
        }
    }

    /// Handles a command to a tag or a request to the bridge.
    ///
    /// - Parameters:
    ///   - address: the topic.
    ///   - message: the message.
    ///   - member: the tag as part of a group, for a command to the group.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    mutating func command(
        _ address: CommandAddress, _ message: MQTTMessage, as member: GroupMember? = nil, at now: Timestamp,
        _ effects: inout Effects
    ) {
        let position = address.tag.flatMap { TagID($0) }.flatMap { tags.position(of: $0) }
        guard isForThisBridge(address, position, as: member) else {
            if position == nil { leaveUnknown(address, message, as: member, at: now) }
            return
        }
        // Another bridge may wait for a proof.
        if position == nil, address.tag != nil { pendingCommands.proof.force(until: now.instant + .seconds(1)) }
        let other = responder(address, position, as: member)
        let payload = Result { () throws(CommandFailure) in try CommandPayload(message.payload) }
        let id = CommandEnvelope.id(of: payload, message.payload)
        let isIDOwn = address.tag != nil || Self.isIDOwn(ofRequest: address.name, payload)
        var refusal: CommandFailure?
        var responseTopic: ResponseTopic?
        do throws(CommandFailure) {
            responseTopic = try message.responseTopic(protecting: protectedTopics)
        } catch {
            refusal = error
        }
        if message.isRetained {
            refusal = .retained
            intake.received(retained: message)
        }
        let trace = pendingCommands.traces.begin(address, id: id, at: now.instant)
        let receiver = Result { () throws(CommandFailure) in try CommandReceiver(address) }
        var ignoredKeys: [String: String] = [:]
        if case .success(.object(let arguments)) = payload, case .success(let receiver) = receiver {
            ignoredKeys = arguments.unknownKeys(besides: receiver.keys)
        }
        let requester = Requester(
            address, message, responseTopic, id: id, isReading: TagRequestTable.isSharedReading(address.name),
            isIDOwn: isIDOwn, member: member, trace: trace, ignoredKeys: ignoredKeys, at: now)
        var results = Effects()
        if let refusal {
            pendingCommands.refuse(requester, refusal, at: now, &results)
            return ended(
                .refusal(refusal), of: position, requester, leftTo: other, results, until: now.instant, at: now,
                &effects)
        }
        if let stored = pendingCommands.storedResult(for: requester, at: now, &results) {
            return ended(
                .stored(stored), of: position, requester, leftTo: other, results, until: now.instant, at: now, &effects)
        }
        do throws(CommandFailure) {
            if run.shutdown != nil { throw CommandFailure.stoppedBeforeSending }
            if let member { try check(member, at: position, for: address) }
            try execute(address, receiver, of: position, payload, message, requester, at: now, &effects)
        } catch {
            refused(requester, error, of: position, publishesResult: other == nil, at: now, &effects)
            pendingCommands.fail(requester, error, at: now, &results)
            // The other bridge may accept the command, and wait for the tag.
            let envelope = try? CommandEnvelope(try payload.get(), expirySeconds: message.messageExpirySeconds)
            let wait = error.code.dependsOnState ? envelope?.timeToLive : nil
            ended(
                .result(.failure(error)), of: position, requester, leftTo: other, results,
                until: now.instant + (wait ?? .zero), at: now, &effects)
        }
    }

    /// Publishes the result of a command that has ended at once, or leaves it to another bridge.
    private mutating func ended(
        _ work: LeftCommand.Work, of position: Int?, _ requester: Requester, leftTo other: ExactText?,
        _ results: Effects, until end: Instant, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let other, let position else { return effects.append(results) }
        leave(work, of: tags[position].entry.id.text, to: other, [requester], until: end, endingAt: end, at: now)
    }

    /// Lists a command that this bridge rejects for a reason that other bridges with the tag may not have.
    private mutating func refused(
        _ requester: Requester, _ failure: CommandFailure, of position: Int?, publishesResult: Bool, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let position, !tags[position].isConnected, fleet.peers.lists(tags[position].entry.id) else { return }
        switch failure.code {
        case .invalidJSON, .unknownCommand, .payloadTooLarge: return
        default: break
        }
        let tag = tags[position].entry.id
        if publishesResult { return listAnswered([requester], of: tag, at: now, &effects) }
        pendingCommands.refused.add(RefusedCommand(requester, of: tag), at: now.instant)
    }

    /// Lists a command that has failed here and that other bridges may still have.
    mutating func listAnswered(
        _ requesters: [Requester], of tag: TagID, at now: Timestamp, _ effects: inout Effects
    ) {
        // Without an id, other bridges could not distinguish the command from later ones.
        let named = requesters.filter { $0.id != nil }
        guard !named.isEmpty else { return }
        for requester in named {
            pendingCommands.refused.add(RefusedCommand(requester, of: tag, isAnswered: true), at: now.instant)
        }
        effects.publish(infoFact)
    }

    /// Returns whether the `id` of a request to the bridge identifies its repetitions.
    private static func isIDOwn(ofRequest name: String, _ payload: Result<CommandPayload, CommandFailure>) -> Bool {
        switch name {
        case ForgetRequest.name: !ForgetRequest.isTagID(payload)
        // Read every few seconds: stored results of 64 KiB would replace those of commands.
        case MetricsRequest.name: false
        default: true
        }
    }

    /// The topics that are not allowed as response topics.
    var protectedTopics: ProtectedTopics {
        ProtectedTopics(
            base: topics.base, discoveryPrefix: configuration.homeAssistant?.prefix ?? configuration.discoveryPrefix,
            statusTopic: configuration.homeAssistant?.statusTopic)
    }

    private mutating func execute(
        _ address: CommandAddress,
        _ receiver: Result<CommandReceiver, CommandFailure>,
        of position: Int?,
        _ payload: Result<CommandPayload, CommandFailure>,
        _ message: MQTTMessage,
        _ requester: Requester,
        at now: Timestamp,
        _ effects: inout Effects
    ) throws(CommandFailure) {
        if case .failure(let failure) = payload, failure.code == .payloadTooLarge { throw failure }
        if let tag = address.tag, position == nil { throw unknownTag(tag) }
        let receiver = try receiver.get()
        let payload = try payload.get()
        if case .object(let arguments) = payload { try arguments.check() }
        let timeToLive = try CommandEnvelope(payload, expirySeconds: message.messageExpirySeconds).timeToLive
        if try pendingCommands.join(requester) { return }
        switch receiver {
        case .tag(let row):
            guard let position else { return }
            let request = try row.init(
                payload, in: requestContext(of: position))
            if !request.isImmediate { try pendingCommands.checkRoom(for: tags[position].entry.id, within: timeToLive) }
            try begin(request, of: position, requester, within: timeToLive, at: now, &effects)
        case .bridge(let row):
            try pendingCommands.checkRoom(for: nil, within: timeToLive)
            do throws(CommandFailure) {
                try begin(try row.init(payload, to: self), requester, within: timeToLive, at: now, &effects)
            } catch {
                row.refused(error, of: payload, in: &self, at: now, &effects)
                pendingCommands.fail(requester, error, at: now, &effects)
            }
        }
    }

    /// Adds a command of MQTT or a reflex, and sends it if its tag is connected.
    ///
    /// - Throws: a failure for a command that cannot reach the tag even if it waits, or that must not wait.
    mutating func begin(
        _ request: any TagRequest,
        of position: Int,
        _ requester: Requester,
        within timeToLive: Duration,
        at now: Timestamp,
        _ effects: inout Effects
    ) throws(CommandFailure) {
        let isForConnection = !type(of: request).ignoresHold || request.goal == .connected
        let other = bridge(connectedTo: position)
        if isForConnection, !requester.isReflex, let other {
            let id = tags[position].entry.id
            pendingCommands.traces.ended(requester.trace, .elsewhere, at: now.instant)
            leave(.execution(request), of: id.text, to: other, [requester], until: now.instant + timeToLive, at: now)
            guard type(of: request).ignoresHold else { return }
            // The request to connect holds for this bridge, too.
            request.accepted(by: &tags[position], at: now, &effects)
            return settle(position, at: now, &effects)
        }
        if request.isImmediate { return performAtOnce(request, of: position, requester, at: now, &effects) }
        // Not a method of the tag, which would be copied.
        if !type(of: request).ignoresHold {
            if tags[position].entry.connect == .never { throw tags[position].entry.switchedOffFailure }
            if tags[position].link.intent.isHeld { throw tags[position].heldFailure }
            guard tags[position].isConnected || timeToLive > .zero else {
                throw offlineFailure(of: position, at: now)
            }
        }
        request.accepted(by: &tags[position], at: now, &effects)
        pendingCommands.add(
            request, for: tags[position].entry.id, requester: requester, isOnlyHere: isOwn(position),
            claimant: other, within: timeToLive, at: now)
        if request.goal == .connected { tags[position].link.need(at: now.instant) }
        settle(position, at: now, &effects)
        sendWaiting(of: position, at: now, &effects)
    }
}

extension BridgeState {
    /// Returns what a command to a tag builds upon.
    mutating func requestContext(of position: Int) -> TagRequestContext {
        tags.requestContext(of: position, intake.settings)
    }

    /// Performs a command that does not wait for its tag.
    private mutating func performAtOnce(
        _ request: any TagRequest, of position: Int, _ requester: Requester, at now: Timestamp,
        _ effects: inout Effects
    ) {
        pendingCommands.add(
            request, for: tags[position].entry.id, requester: requester, isOnlyHere: isOwn(position), within: .zero,
            at: now)
        guard let token = pendingCommands.pending.last?.token else { return }
        succeeded(token, .done, of: position, at: now, &effects)
    }
}

// MARK: Finding the receiver

extension BridgeState {
    /// Returns whether this bridge has to respond: another one may know the tag, or respond for unknown tags.
    private func isForThisBridge(_ address: CommandAddress, _ position: Int?, as member: GroupMember?) -> Bool {
        guard let tag = address.tag else { return true }
        if let position { return tags[position].isConnected || !fleet.peers.leavesCommands(to: tag) }
        return fleet.peers.responds(forUnknown: tag, as: member)
    }

    /// Returns the other bridge that publishes the result of a command that ends as soon as it arrives; nil: this one.
    private func responder(_ address: CommandAddress, _ position: Int?, as member: GroupMember?) -> ExactText? {
        guard let tag = address.tag, let position else { return nil }
        if let shutdown = run.shutdown {
            return shutdown.answers(for: tags[position].entry.id) ? nil : fleet.peers.successor(for: tag, as: member)
        }
        return isOwn(position) ? nil : fleet.peers.finalResponder(forKnown: tag, as: member)
    }

    /// Returns the other bridge that publishes the `accepted` result of a pending command; nil: this one.
    func responder(of command: PendingCommand) -> ExactText? {
        guard let tag = sharedTag(of: command) else { return nil }
        return claimant(of: command)
            ?? fleet.peers.responder(forKnown: tag, as: command.requesters.first?.member, besides: command.unaware)
    }

    /// Returns the other bridge that publishes the final result of a pending command; nil: this one.
    func finalResponder(of command: PendingCommand) -> ExactText? {
        guard let tag = sharedTag(of: command) else { return nil }
        return claimant(of: command)
            ?? fleet.peers.finalResponder(forKnown: tag, as: command.requesters.first?.member, besides: command.unaware)
    }

    /// Returns the bridge that was connected to the tag when a command arrived; nil if there was none, or if it has ended since.
    private func claimant(of command: PendingCommand) -> ExactText? {
        guard let bridge = command.claimant, !command.unaware.contains(bridge) else { return nil }
        return fleet.peers.isResponding(bridge) ? bridge : nil
    }

    /// Returns the id of the tag of a command that another bridge may respond to; nil for any other command.
    private func sharedTag(of command: PendingCommand) -> String? {
        guard !command.isOnlyHere, !command.isReflex, let tag = command.tag else { return nil }
        if let position = tags.position(of: tag), tags[position].isConnected { return nil }
        return tag.text
    }

    /// Returns the other bridge that has a pending command, too, and publishes its results once this one no longer does; nil if
    /// there is none.
    func successor(of command: PendingCommand) -> ExactText? {
        guard !command.isOnlyHere, !command.isReflex, let tag = command.tag else { return nil }
        return fleet.peers.successor(for: tag.text, as: command.requesters.first?.member, besides: command.unaware)
    }

    /// Returns whether other bridges ignore a command to a tag that arrives now: this bridge is connected to the tag, or was
    /// when the broker received the command.
    private func isOwn(_ position: Int) -> Bool {
        tags[position].isConnected
            || (!isConnectedElsewhere(position) && fleet.peers.ownClaims(tags[position].entry.id.text))
    }

    /// Returns whether another bridge is connected to a tag.
    func isConnectedElsewhere(_ position: Int) -> Bool { bridge(connectedTo: position) != nil }

    /// Returns the other bridge that is connected to a tag; nil if there is none.
    func bridge(connectedTo position: Int) -> ExactText? {
        tags[position].isConnected ? nil : fleet.peers.bridge(connectedTo: tags[position].entry.id.text)
    }

    /// The commands that have failed here, and that another bridge may still have; nil if there are none.
    var refusedCommands: [RefusedCommand]? {
        pendingCommands.refused.listed { tag in TagID(tag).flatMap(tags.position).map { tags[$0].isConnected } ?? false
        }
    }

    /// Returns the index of a tag.
    ///
    /// - Throws: `unknown_tag`, with the ids of the known tags.
    func tagPosition(_ tag: String) throws(CommandFailure) -> Int {
        if let position = TagID(tag).flatMap(tags.position) { return position }
        throw unknownTag(tag)
    }

    func unknownTag(_ tag: String) -> CommandFailure {
        let known = tags.map(\.entry.id.text)
        return CommandFailure(
            .unknownTag, SerialLikeness.unknownTag(tag, known: known, received: strangers))
    }
}

// MARK: Commands to groups

extension BridgeState {
    /// The filters of commands to groups; none without groups.
    var groupFilters: [String] { intake.groups.isEmpty ? [] : topics.groupFilters }

    /// Handles a command to a group: as the same command to each of its tags.
    ///
    /// Another bridge can have the same group and serves its own tags of it. A group that this bridge does not have is
    /// ignored.
    mutating func groupCommand(
        _ name: String, to group: ExactText, _ message: MQTTMessage, at now: Timestamp, _ effects: inout Effects
    ) {
        for tag in intake.groups.tags(of: group) {
            let topic = topics.tag(tag).command(name)
            guard case .command(let address) = topics.subject(of: topic) else { continue }
            let member = GroupMember(group: group, tag: ExactText(tag.text))
            command(address, message, as: member, at: now, &effects)
        }
    }

    /// Throws if a command to a group cannot be executed for one of its tags.
    ///
    /// - Throws: `unknown_command` for a command that is for one tag only; `unknown_tag` if the tag belongs to a bridge
    ///   that does not have it in this group and has ignored the command.
    func check(_ member: GroupMember, at position: Int?, for address: CommandAddress) throws(CommandFailure) {
        guard !Self.commandsForOneTag.contains(address.name) else {
            throw CommandFailure(
                .unknownCommand, "\(address.name.quoted) is for one tag, not for a group",
                hint: "Send it to the topic of the tag")
        }
        if let position, !isConnectedElsewhere(position) { return }
        if let failure = failureElsewhere(of: member) { throw failure }
    }

    /// Returns why another bridge, which has the tag of a pending command to a group, does not execute it; nil if it does.
    func failureElsewhere(of command: PendingCommand) -> CommandFailure? {
        command.requesters.first?.member.flatMap { failureElsewhere(of: $0) }
    }

    private func failureElsewhere(of member: GroupMember) -> CommandFailure? {
        let tag = member.tag.text
        guard !fleet.peers.isConnected(to: tag, as: member), let owner = fleet.peers.owner(of: tag) else { return nil }
        return CommandFailure(
            .unknownTag,
            "Tag \(tag) belongs to the bridge \(owner.quoted), which does not have it in the group \(member.group.text.quoted)",
            hint: "Add the group to the configuration of that bridge")
    }

    /// The commands that make no sense for several tags.
    private static let commandsForOneTag = [NameSet.name]

    /// Uses the groups of a changed configuration.
    mutating func groupsChanged(_ effects: inout Effects) {
        let wasEmpty = intake.groups.isEmpty
        intake.groups = GroupTable(configuration.groups)
        switch (wasEmpty, intake.groups.isEmpty) {
        case (true, false): effects.add(.subscribe(topics.groupFilters))
        case (false, true): effects.add(.unsubscribe(topics.groupFilters))
        default: break
        }
        effects.publish(infoFact)
    }
}

extension CommandFailure.Code {
    /// Whether the failure depends on the state of this bridge, so that another one may accept the command.
    fileprivate var dependsOnState: Bool {
        switch self {
        case .notPermitted, .unsupported, .tagOffline, .busy, .inUse: true
        default: false
        }
    }
}
