import JacquardProtocol

// MARK: A command comes in

extension BridgeState {
    /// The broker delivered a message.
    public mutating func received(_ message: IncomingMessage, at now: Moment) -> [BridgeAction] {
        guard !isStopped, !receivedForDiscovery(message, at: now),
            let subject = topics.subject(of: message.topic)
        else { return [] }
        switch subject {
        case .command(let address): return command(address, message, at: now)
        case .neighbourInfo(let instance): neighbours.told(instance, info: message.payload)
        case .neighbourState(let instance): neighbours.told(instance, state: message.payload)
        }
        return []
    }

    private mutating func command(
        _ address: CommandAddress, _ message: IncomingMessage, at now: Moment
    ) -> [BridgeAction] {
        guard isMine(address) else { return [] }
        let payload = Result { () throws(CommandFailure) in try CommandPayload(message.payload) }
        let id = CommandEnvelope.id(of: try? payload.get())
        let asker = CommandAsker(address, message, id: id, at: now)
        if message.isRetained { return publish(desk.refuseRetained(asker, at: now)) }
        if let stored = desk.storedResult(for: asker, at: now) { return publish(stored) }
        do throws(CommandFailure) {
            return try carryOut(address, payload, message, asker, at: now)
        } catch {
            return publish(desk.fail(asker, error, at: now))
        }
    }

    private mutating func carryOut(
        _ address: CommandAddress,
        _ payload: Result<CommandPayload, CommandFailure>,
        _ message: IncomingMessage,
        _ asker: CommandAsker,
        at now: Moment
    ) throws(CommandFailure) -> [BridgeAction] {
        if case .failure(let failure) = payload, failure.code == .payloadTooLarge { throw failure }
        let position = try tagPosition(address)
        let row = try TagRequestTable.row(address.name)
        let payload = try payload.get()
        let envelope = try CommandEnvelope(payload, expirySeconds: message.messageExpirySeconds)
        let tag = tags[position]
        try desk.checkRoom(for: tag.entry.id)
        defer { updateDeadline() }
        if desk.join(asker) { return [] }
        let request = try row.init(payload, for: tag, defaults: configuration)
        try tag.checkReach(within: envelope.timeToLive, at: now)
        request.accepted(by: &tags[position])
        desk.add(request, for: tag.entry.id, asker: asker, until: now.instant.advanced(by: envelope.timeToLive))
        return tag.isAvailable ? desk.send(to: tag.entry.id, at: now) : []
    }

    /// Whether this bridge has to answer: another one may have the tag, or be the one that speaks for all.
    private func isMine(_ address: CommandAddress) -> Bool {
        guard let tag = address.tag else { return true }
        return TagID(tag).flatMap(position) != nil || neighbours.isLeftToThisBridge(tag)
    }

    private func tagPosition(_ address: CommandAddress) throws(CommandFailure) -> Int {
        guard let tag = address.tag else {
            throw CommandFailure(
                .unknownCommand, "There is no request \(address.name.quoted); this version has none yet")
        }
        if let position = TagID(tag).flatMap(position) { return position }
        let known = tags.prefix(20).map(\.entry.id.text).joined(separator: ", ")
        throw CommandFailure(.unknownTag, "There is no tag \(tag.quoted); there are \(known.nonEmpty ?? "none")")
    }
}

extension TagMirror {
    /// Refuses a command that could not reach the tag however it waited, or that may not wait.
    fileprivate func checkReach(within timeToLive: Duration, at now: Moment) throws(CommandFailure) {
        guard entry.connect != .never else {
            throw CommandFailure(
                .notPermitted, "Tag \(entry.id) is switched off by the configuration",
                hint: "Its \"connect\" is never; it may be always or on_demand")
        }
        guard isAvailable || timeToLive > .zero else { throw offlineFailure(at: now) }
    }
}

// MARK: A command ends

extension BridgeState {
    mutating func commandEnded(
        _ token: UInt64, _ result: Result<TagCommandAnswer, TagCommandError>, of position: Int, at now: Moment
    ) -> [BridgeAction] {
        guard let command = desk.command(token), command.tag == tags[position].entry.id else { return [] }
        defer { updateDeadline() }
        switch result {
        case .success(let answer):
            _ = desk.remove(token)
            let outcome = command.request.carriedOut(answer, by: &tags[position], at: now)
            return publish(desk.succeed(command, data: outcome.data, at: now) + outcome.publications)
        case .failure(.notConnected) where !tags[position].isAvailable && now.instant < command.reachableUntil:
            desk.waitAgain(token)
            return []
        case .failure(let error):
            _ = desk.remove(token)
            return publish(failed(command, CommandFailure(error, tag: tags[position], at: now), at: now))
        }
    }

    /// A command's time is over: it waited too long for its tag, or its session never answered.
    mutating func ranOut(_ command: PendingCommand, at now: Moment) -> [Publication] {
        guard let position = position(of: command.tag) else { return [] }
        return failed(command, command.isSent ? .neverEnded : tags[position].expiredFailure(at: now), at: now)
    }

    private mutating func failed(
        _ command: PendingCommand, _ failure: CommandFailure, at now: Moment
    ) -> [Publication] {
        if let position = position(of: command.tag) { command.request.failed(at: &tags[position]) }
        return desk.fail(command, failure, at: now)
    }
}

extension CommandFailure {
    /// The bridge ends before the command was sent.
    static let stoppedBeforeSending = CommandFailure(
        .tagOffline, "The bridge stops; nothing was sent", hint: "Send it again when the bridge is online")
    /// The bridge ends after the command was sent.
    static let stoppedAfterSending = CommandFailure(
        .linkLost, "The bridge stops before the tag's answer; whether it obeyed is not known")
    /// The driver broke its word.
    fileprivate static let neverEnded = CommandFailure(
        .internalDefect, "The command never ended", hint: "Report this with the bridge's log and the command")
}
