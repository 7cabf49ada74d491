import JacquardProtocol
import Time

// MARK: A command comes in

extension BridgeState {
    /// The broker delivered a message.
    public mutating func received(_ message: IncomingMessage, at now: Moment) -> [BridgeAction] {
        guard !isStopped, !receivedForDiscovery(message, at: now),
            let subject = topics.subject(of: message.topic)
        else { return [] }
        switch subject {
        case .command(let address): return command(address, message, at: now)
        case .tagInfo(let tag): received(tagInfo: message, of: tag)
        case .neighbourInfo(let instance):
            former.received(info: message.payload, ofBridge: instance)
            leave(neighbours.received(info: message.payload, of: instance))
        case .neighbourState(let instance):
            leave(neighbours.received(state: message.payload, of: instance))
        }
        return []
    }

    private mutating func command(
        _ address: CommandAddress, _ message: IncomingMessage, at now: Moment
    ) -> [BridgeAction] {
        guard isMine(address) else { return [] }
        let isAnswered = isAnswered(address)
        let payload = Result { () throws(CommandFailure) in try CommandPayload(message.payload) }
        let id = CommandEnvelope.id(of: try? payload.get())
        let isIDOwn = address.tag != nil || address.name != ForgetRequest.name || !ForgetRequest.isTagID(payload)
        var refusal: CommandFailure?
        var responseTopic: ResponseTopic?
        do throws(CommandFailure) {
            responseTopic = try self.responseTopic(of: message)
        } catch {
            refusal = error
        }
        if message.isRetained { refusal = .retained }
        let asker = CommandAsker(address, message, responseTopic, id: id, isIDOwn: isIDOwn, at: now)
        if let refusal { return isAnswered ? publish(desk.refuse(asker, refusal, at: now)) : [] }
        if let stored = desk.storedResult(for: asker, at: now) { return isAnswered ? publish(stored) : [] }
        do throws(CommandFailure) {
            return try carryOut(address, payload, message, asker, isAnswered: isAnswered, at: now)
        } catch {
            return isAnswered ? publish(desk.fail(asker, error, at: now)) : []
        }
    }

    /// Where the sender wants the result besides; nil for nowhere.
    ///
    /// - Throws: `invalid_argument` for a topic that is not allowed, and for correlation data that is too long.
    private func responseTopic(of message: IncomingMessage) throws(CommandFailure) -> ResponseTopic? {
        guard message.correlationData?.count ?? 0 <= CommandAsker.mostCorrelationData else {
            throw .correlationDataTooLong
        }
        guard let text = message.responseTopic else { return nil }
        guard let topic = ResponseTopic(text, protecting: protectedTopics) else { throw .responseTopicRefused }
        return topic
    }

    /// The topics at which a sender cannot ask for an answer.
    private var protectedTopics: ProtectedTopics {
        ProtectedTopics(
            base: topics.base, discoveryPrefix: configuration.homeAssistant?.prefix ?? configuration.discoveryPrefix,
            statusTopic: configuration.homeAssistant?.statusTopic)
    }

    private mutating func carryOut(
        _ address: CommandAddress,
        _ payload: Result<CommandPayload, CommandFailure>,
        _ message: IncomingMessage,
        _ asker: CommandAsker,
        isAnswered: Bool,
        at now: Moment
    ) throws(CommandFailure) -> [BridgeAction] {
        if case .failure(let failure) = payload, failure.code == .payloadTooLarge { throw failure }
        let receiver = try receiver(of: address)
        let payload = try payload.get()
        let envelope = try CommandEnvelope(payload, expirySeconds: message.messageExpirySeconds)
        let timeToLive = envelope.timeToLive
        try desk.checkRoom(for: receiver.tag.map { tags[$0].entry.id }, within: timeToLive)
        defer { updateDeadline(of: receiver.tag.map { [$0] } ?? Array(tags.indices)) }
        if desk.join(asker) { return [] }
        switch receiver {
        case .tag(let position, let row):
            let request = try row.init(payload, for: tags[position], defaults: configuration)
            return try begin(request, of: position, asker, isAnswered: isAnswered, within: timeToLive, at: now)
        case .bridge(let row):
            do throws(CommandFailure) {
                return try begin(try row.init(payload, to: self), asker, within: timeToLive, at: now)
            } catch {
                return row.refused(error, in: &self, at: now) + publish(desk.fail(asker, error, at: now))
            }
        }
    }

    private mutating func begin(
        _ request: any TagRequest,
        of position: Int,
        _ asker: CommandAsker,
        isAnswered: Bool,
        within timeToLive: Duration,
        at now: Moment
    ) throws(CommandFailure) -> [BridgeAction] {
        if !type(of: request).ignoresHold, isConnectedElsewhere(position) { return [] }
        try tags[position].checkReach(of: request, within: timeToLive, at: now)
        request.accepted(by: &tags[position])
        desk.add(
            request, for: tags[position].entry.id, asker: asker, isAnswered: isAnswered, within: timeToLive, at: now)
        if request.goal == .connected { tags[position].need(at: now.instant) }
        return settle(position, at: now) + sendWaiting(of: position, at: now)
    }

    private mutating func begin(
        _ request: any BridgeRequest, _ asker: CommandAsker, within timeToLive: Duration, at now: Moment
    ) throws(CommandFailure) -> [BridgeAction] {
        let isWaiting = request.needsBluetooth && !isBluetoothKnown && timeToLive > .zero
        if !isWaiting { try check(request) }
        let token = desk.add(request, asker: asker, within: timeToLive, at: now)
        return isWaiting ? [] : begin(request, token, at: now)
    }

    private mutating func begin(_ request: any BridgeRequest, _ token: UInt64, at now: Moment) -> [BridgeAction] {
        desk.sent(token, answeredWithin: request.answerLimit, at: now)
        return take(request.begin(in: &self, token: token, at: now), of: token, at: now)
    }

    /// Refuses a request that cannot begin now.
    private func check(_ request: any BridgeRequest) throws(CommandFailure) {
        if request.needsBluetooth { try checkBluetooth() }
        try request.checkBeginning(in: self)
    }

    /// The bridge knows now whether Bluetooth is on: begins what has waited for that, or refuses it.
    mutating func beginWaitingRequests(at now: Moment) -> [BridgeAction] {
        guard isBluetoothKnown else { return [] }
        return desk.waitingRequests.flatMap { token, request in
            do throws(CommandFailure) {
                try check(request)
                return begin(request, token, at: now)
            } catch {
                let refused = type(of: request).refused(error, in: &self, at: now)
                return refused + publish(desk.remove(token).map { desk.fail($0, error, at: now) } ?? [])
            }
        }
    }
}

// MARK: Whom it is for

/// Who carries out a command, and by which row of which table.
private enum CommandReceiver {
    case tag(Int, any TagRequest.Type)
    case bridge(any BridgeRequest.Type)

    /// Where the tag's mirror is.
    var tag: Int? {
        if case .tag(let position, _) = self { position } else { nil }
    }
}

extension BridgeState {
    /// Whether this bridge has to answer: another one may have the tag, or be the one that speaks for all.
    private func isMine(_ address: CommandAddress) -> Bool {
        guard let tag = address.tag else { return true }
        return TagID(tag).flatMap(position) != nil || neighbours.isLeftToThisBridge(tag)
    }

    /// Whether this bridge gives the results of a command that it takes: another one that knows the tag too may do so.
    private func isAnswered(_ address: CommandAddress) -> Bool {
        guard let tag = address.tag, let position = TagID(tag).flatMap(position) else { return true }
        return tags[position].isConnected || neighbours.isAnsweredHere(tag)
    }

    /// Whether another bridge is connected to a tag.
    private func isConnectedElsewhere(_ position: Int) -> Bool {
        !tags[position].isConnected && neighbours.isConnected(to: tags[position].entry.id.text)
    }

    /// Leaves the commands that wait for these tags to the bridge that is connected to them.
    private mutating func leave(_ ids: [TagID]) {
        let positions = ids.compactMap(position).filter { !tags[$0].isConnected }
        for position in positions {
            for (token, request) in desk.waiting(for: tags[position].entry.id) where request.goal == .connected {
                _ = desk.remove(token)
                request.failed(at: &tags[position])
            }
        }
        if !positions.isEmpty { updateDeadline(of: positions) }
    }

    private func receiver(of address: CommandAddress) throws(CommandFailure) -> CommandReceiver {
        guard let tag = address.tag else { return .bridge(try BridgeRequestTable.row(address.name)) }
        return .tag(try tagPosition(tag), try TagRequestTable.row(address.name))
    }

    /// Where the mirror of a tag is.
    ///
    /// - Throws: `unknown_tag`, with the tags that there are.
    func tagPosition(_ tag: String) throws(CommandFailure) -> Int {
        if let position = TagID(tag).flatMap(position) { return position }
        let known = tags.prefix(20).map(\.entry.id.text).joined(separator: ", ")
        throw CommandFailure(.unknownTag, "There is no tag \(tag.quoted); there are \(known.nonEmpty ?? "none")")
    }
}

extension TagMirror {
    /// Refuses a command that could not reach the tag however it waited, or that may not wait.
    fileprivate func checkReach(
        of request: any TagRequest, within timeToLive: Duration, at now: Moment
    ) throws(CommandFailure) {
        if type(of: request).ignoresHold { return }
        if entry.connect == .never { throw switchedOffFailure }
        if wish.isHeld { throw heldFailure }
        guard isConnected || timeToLive > .zero else { throw offlineFailure(at: now) }
    }
}

// MARK: What follows

extension BridgeState {
    /// Hands over the commands of a tag that have waited for what it is now.
    mutating func sendWaiting(of position: Int, at now: Moment) -> [BridgeAction] {
        var actions: [BridgeAction] = []
        for (token, request) in desk.waiting(for: tags[position].entry.id)
        where request.goal.isReached(by: tags[position]) {
            if let errand = request.errand {
                desk.sent(token, at: now)
                actions.append(errand.action(on: tags[position].entry.id, token: token))
            } else {
                if request.goal == .connected { desk.answer(token) }
                actions += ended(token, .success(.tag(.done)), at: now)
            }
        }
        return actions
    }

    /// A tag's circumstances may be others: connects or disconnects it, and refuses what waits in vain.
    mutating func settle(_ position: Int, at now: Moment) -> [BridgeAction] {
        let isHeld = tags[position].wish.isHeld
        let vain = desk.waiting(for: tags[position].entry.id)
            .filter { $0.request.goal == (isHeld ? .connected : .disconnected) }
            .compactMap { desk.remove($0.token) }
        let refused = vain.flatMap { failed($0, isHeld ? tags[position].heldFailure : .askedToConnect, at: now) }
        return refused + tags[position].settle(at: now)
    }
}
