import JacquardProtocol

// MARK: Commands to tags

extension BridgeState {
    /// Sends the queued commands whose goal the tag has reached.
    mutating func sendWaiting(of position: Int, at now: Timestamp, _ effects: inout Effects) {
        guard let goal = tags[position].link.reachedGoal else { return }
        for token in pendingCommands.waiting(for: tags[position].entry.id, goal) {
            guard let (request, isReflex) = pendingCommands.tagRequest(token) else { continue }
            if let command = request.command {
                pendingCommands.sent(token, at: now)
                effects.add(.perform(command, on: tags[position].handle, token: token, isFirst: isReflex))
            } else {
                if goal == .connected { pendingCommands.publishResult(of: token) }
                succeeded(token, .done, of: position, at: now, &effects)
            }
        }
    }

    /// Rejects the queued commands that need a tag whose connection has just ended with a final error.
    mutating func refuseWaiting(of position: Int, at now: Timestamp, _ effects: inout Effects) {
        // Asked first, because asking the tag copies it.
        let waiting = pendingCommands.waiting(for: tags[position].entry.id, .connected)
        guard !waiting.isEmpty, let failure = tags[position].unconnectableFailure else { return }
        for token in waiting {
            fail(token, failure, at: now, &effects)
        }
    }

    mutating func commandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard pendingCommands.tag(of: token) == tags[position].entry.id else {
            return tags.errandEnded(token, result, of: position, at: now, &effects)
        }
        switch result {
        case .success(let response): succeeded(token, response, of: position, at: now, &effects)
        case .failure(.linkLost) where pendingCommands.command(token)?.endsLink == true:
            succeeded(token, .done, of: position, at: now, &effects)
        case .failure(.notConnected):
            if let command = pendingCommands.command(token) { waitAgain(command, at: now, &effects) }
        case .failure(let error):
            guard let (request, _) = pendingCommands.tagRequest(token) else { return }
            fail(token, request.failure(error, of: tags[position], at: now), at: now, &effects)
        }
    }

    /// Queues a command again that was not sent because the tag was disconnected. Applies also if the tag has
    /// reconnected.
    private mutating func waitAgain(_ command: PendingCommand, at now: Timestamp, _ effects: inout Effects) {
        guard let position = command.tag.flatMap(tags.position) else { return }
        guard now.instant < command.reachableUntil else {
            return fail(command.token, offlineFailure(of: position, at: now), at: now, &effects)
        }
        pendingCommands.waitAgain(command.token, isConnected: tags[position].isConnected, at: now)
        tags[position].link.need(at: now.instant)
        settle(position, at: now, &effects)
    }

    /// The failure of a command to a tag that is not connected.
    func offlineFailure(of position: Int, at now: Timestamp) -> CommandFailure {
        tags[position].offlineFailure(obstacle: stack.obstacle, at: now)
    }

    /// Completes a command to a tag, which has responded.
    mutating func succeeded(
        _ token: UInt64, _ response: TagCommandResponse, of position: Int, at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let command = pendingCommands.remove(token), case .tag(_, let request) = command.work else { return }
        let features = tags.read(position) { $0.shownFeatures }
        var consequences = Effects()
        let outcome = request.succeeded(response, on: &tags[position], at: now, &consequences)
        if let failure = outcome.failure { return failed(command, failure, at: now, &effects) }
        if tags.read(position, { $0.shownFeatures }) != features { announce(tag: position, &consequences) }
        tags[position].link.commandEnded(at: now.instant)
        finish(command, .success(outcome.data), at: now, &effects)
        effects.append(consequences)
        tags[position].perform(outcome.commands, &effects)
        pass(outcome, of: position, at: now, &effects)
        settle(position, at: now, &effects)
    }

    /// Publishes the `accepted` results that are due.
    mutating func acceptOverdue(at now: Timestamp, _ effects: inout Effects) {
        let left = fleet.peers.isEmpty ? [] : pendingCommands.pending.filter { responder(of: $0) != nil }.map(\.token)
        pendingCommands.acceptOverdue(at: now, except: Set(left), &effects) { tag in
            if let obstacle = stack.obstacle { return obstacle }
            guard let position = tag.flatMap(tags.position), !tags[position].isConnected else { return nil }
            return .tag(tags[position].lastSeenHint(at: now))
        }
    }

    /// Handles an expired command: its tag or Bluetooth was unavailable for too long, or no response arrived.
    mutating func expired(_ command: PendingCommand, at now: Timestamp, _ effects: inout Effects) {
        switch command.work {
        case _ where command.isSent: failed(command, .neverEnded, at: now, &effects)
        case .bridge(let request): refused(command, request, stack.bluetoothFailure, at: now, &effects)
        case .tag(let id, let request):
            guard let position = tags.position(of: id) else {
                return failed(command, .neverEnded, at: now, &effects)
            }
            guard request.goal == .connected else { return failed(command, .stillConnected, at: now, &effects) }
            tags[position].link.commandExpired()
            let failure = tags[position].expiredFailure(
                after: command.timeToLive, obstacle: stack.obstacle, at: now)
            failed(command, failure, at: now, &effects)
            settle(position, at: now, &effects)
        }
    }

    /// Completes a failed command that was removed from the pending ones.
    mutating func failed(
        _ command: PendingCommand, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        switch command.work {
        case .tag(let id, let request):
            guard let position = tags.position(of: id) else { break }
            request.failed(on: &tags[position], failure, at: now)
            tags[position].link.commandEnded(at: now.instant)
        case .bridge(let request): request.failed(failure, in: &self, token: command.token, at: now, &effects)
        }
        finish(command, .failure(failure), at: now, &effects)
    }

    /// Publishes the final results of a command that was removed from the pending ones, unless another bridge publishes them.
    private mutating func finish(
        _ command: PendingCommand, _ result: Result<CommandData, CommandFailure>, at now: Timestamp,
        _ effects: inout Effects
    ) {
        if let tag = command.tag, let bridge = finalResponder(of: command) {
            var failure: CommandFailure?
            if case .failure(let error) = result { failure = error }
            pendingCommands.endedElsewhere(command, failure, at: now)
            leave(.result(result), of: tag.text, to: bridge, command.requesters, until: command.reachableUntil, at: now)
            return
        }
        switch result {
        case .success(let data): pendingCommands.succeed(command, data: data, at: now, &effects)
        case .failure(let failure):
            pendingCommands.fail(command, failure, at: now, &effects)
            answeredWhileWaiting(command, failure, at: now, &effects)
        }
    }

    /// Handles a command that has failed here before it was sent: other bridges with the tag still have it. At the end of its time
    /// they drop it by themselves.
    private mutating func answeredWhileWaiting(
        _ command: PendingCommand, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let tag = command.tag, !command.isSent, !command.isOnlyHere, !command.isReflex, failure.code != .expired,
            !run.isLeavingBroker, fleet.peers.lists(tag)
        else { return }
        listAnswered(command.requesters, of: tag, at: now, &effects)
    }

    /// Publishes the final results of a pending command at the end of the process. Another bridge that has the command continues it.
    mutating func stopped(_ command: PendingCommand, at now: Timestamp, _ effects: inout Effects) {
        guard command.isSent || successor(of: command) == nil else { return }
        let failure = command.isSent ? CommandFailure.stoppedAfterSending : .stoppedBeforeSending
        pendingCommands.fail(command, failure, at: now, &effects)
    }

    /// Publishes the results of the commands that came from a broker that the bridge leaves. Those that wait are rejected; those
    /// that were sent go on without a further result.
    mutating func leaveBroker(at now: Timestamp, _ effects: inout Effects) {
        leaveDepartures(at: now, &effects)
        for token in pendingCommands.pending.filter({ !$0.isSent && !$0.isReflex }).map(\.token) {
            guard let command = pendingCommands.remove(token) else { continue }
            if case .bridge(let request) = command.work {
                refused(command, request, .brokerLeftBeforeSending, at: now, &effects)
            } else {
                failed(command, .brokerLeftBeforeSending, at: now, &effects)
                if let position = command.tag.flatMap(tags.position) { settle(position, at: now, &effects) }
            }
        }
        pendingCommands.leaveBroker(at: now, &effects)
    }

    /// Completes a command to a tag that is removed. Another bridge that has the command continues it.
    mutating func forgotten(_ command: PendingCommand, at now: Timestamp, _ effects: inout Effects) {
        let failure = command.isSent ? CommandFailure.forgottenAfterSending : .forgottenBeforeSending
        guard !command.isSent, let tag = command.tag, let bridge = successor(of: command) else {
            return failed(command, failure, at: now, &effects)
        }
        pendingCommands.endedElsewhere(command, failure, at: now)
        leave(
            .result(.failure(failure)), of: tag.text, to: bridge, command.requesters, until: command.reachableUntil,
            endingAt: command.reachableUntil, at: now)
    }

    /// Completes a failed command.
    mutating func fail(_ token: UInt64, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects) {
        if let command = pendingCommands.remove(token) { failed(command, failure, at: now, &effects) }
    }

    /// Fails the commands of a tag that meet a condition.
    ///
    /// - Returns: whether one of them was sent: the tag may execute it.
    mutating func failAll(
        of position: Int, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects,
        where isMeant: (any TagRequest) -> Bool
    ) -> Bool {
        let tokens = pendingCommands.tokens(of: tags[position].entry.id, where: isMeant)
        let wasSent = tokens.contains { pendingCommands.command($0)?.isSent ?? false }
        for token in tokens { fail(token, failure, at: now, &effects) }
        return wasSent
    }

    /// Completes a command successfully.
    mutating func succeed(_ token: UInt64, data: CommandData, at now: Timestamp, _ effects: inout Effects) {
        if let command = pendingCommands.remove(token) { finish(command, .success(data), at: now, &effects) }
    }
}

// MARK: Requests to the bridge

extension BridgeState {
    /// Begins a request, or queues it until the state of Bluetooth is known.
    mutating func begin(
        _ request: any BridgeRequest, _ requester: Requester, within timeToLive: Duration, at now: Timestamp,
        _ effects: inout Effects
    ) throws(CommandFailure) {
        let isWaiting = request.needsBluetooth && !stack.isBluetoothKnown && timeToLive > .zero
        if !isWaiting { try check(request) }
        let token = pendingCommands.add(request, requester: requester, within: timeToLive, at: now)
        if !isWaiting { begin(request, token, at: now, &effects) }
    }

    /// Begins or rejects the requests that waited for the state of Bluetooth.
    mutating func beginWaitingRequests(at now: Timestamp, _ effects: inout Effects) {
        guard stack.isBluetoothKnown else { return }
        for (token, request) in pendingCommands.waitingRequests {
            do throws(CommandFailure) {
                try check(request)
                begin(request, token, at: now, &effects)
            } catch {
                if let command = pendingCommands.remove(token) { refused(command, request, error, at: now, &effects) }
            }
        }
    }

    /// Throws if a request cannot begin now.
    private func check(_ request: any BridgeRequest) throws(CommandFailure) {
        if request.needsBluetooth { try stack.checkBluetooth() }
        try request.checkBeginning(in: self)
    }

    private mutating func begin(
        _ request: any BridgeRequest, _ token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) {
        pendingCommands.sent(token, respondedWithin: request.responseLimit, at: now)
        take(request.begin(in: &self, token: token, at: now, &effects), of: token, at: now, &effects)
    }

    mutating func requestEnded(
        _ token: UInt64, _ result: Result<RequestResponse, RequestError>, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let command = pendingCommands.command(token) else { return }
        switch (result, command.work) {
        case (.success, .tag(let id, _)):
            if let position = tags.position(of: id) { succeeded(token, .done, of: position, at: now, &effects) }
        case (.success(let response), .bridge(let request)):
            let step = request.succeeded(response, in: &self, token: token, at: now, &effects)
            take(step, of: token, at: now, &effects)
        case (.failure(let error), .bridge(let request)):
            fail(token, request.failure(error, in: self), at: now, &effects)
        case (.failure(let error), .tag): fail(token, CommandFailure(error), at: now, &effects)
        }
    }

    /// Completes a request that was refused before it began.
    private mutating func refused(
        _ command: PendingCommand, _ request: any BridgeRequest, _ failure: CommandFailure, at now: Timestamp,
        _ effects: inout Effects
    ) {
        request.refused(failure, in: &self, at: now, &effects)
        pendingCommands.fail(command, failure, at: now, &effects)
    }

    /// Ends the pairings that were requested.
    ///
    /// - Parameters:
    ///   - serial: the tag whose pairing ends; nil: all.
    ///   - now: the current time.
    ///   - effects: gets the actions.
    /// - Returns: the serials of the tags that were being paired.
    mutating func stopPairings(of serial: String?, at now: Timestamp, _ effects: inout Effects) -> [String] {
        var serials: [String] = []
        for command in pendingCommands.pending {
            guard case .bridge(let request as PairRequest) = command.work, let entry = request.entry,
                serial == nil || entry.serial == serial
            else { continue }
            serials.append(entry.serial)
            guard command.isSent else {
                if let command = pendingCommands.remove(command.token) {
                    refused(command, request, .cancelledByStop, at: now, &effects)
                }
                continue
            }
            if let tag = search.pairing.tag(entry.serial) ?? handle(of: entry.id) { effects.add(.stopPairing(tag)) }
            fail(command.token, .cancelledByStop, at: now, &effects)
        }
        return serials
    }

    /// Takes a step of a request, and completes it if the driver does not have to answer.
    private mutating func take(
        _ step: BridgeRequestStep, of token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) {
        switch step {
        case .underWay: break
        case .done(let data): succeed(token, data: data, at: now, &effects)
        case .failed(let failure): fail(token, failure, at: now, &effects)
        }
    }

    /// Completes the requests that waited for the same examination; without a report each ends by its own deadline.
    mutating func examined(
        _ response: RequestResponse?, for token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) {
        let others = diagnostics.examinations.end(token)
        guard let response else { return }
        for other in others { requestEnded(other, .success(response), at: now, &effects) }
    }
}

// MARK: Commands of reflexes

extension BridgeState {
    /// Passes an event to the reactions, and performs their commands.
    mutating func react(
        at now: Timestamp, _ effects: inout Effects,
        _ event: (inout Reactions, TagTable, inout [Reactions.Effect]) -> Void
    ) {
        var decided: [Reactions.Effect] = []
        event(&reactions, tags, &decided)
        for reaction in decided {
            switch reaction {
            case .publish(let publication): effects.publish(publication)
            case .perform(let reflex, let tag): perform(reflex, on: tag, at: now, &effects)
            }
        }
    }

    /// Gives a tag the command of a reflex: the way of a command from MQTT that does not wait for its tag, at the head of
    /// the tag's queue.
    private mutating func perform(
        _ reflex: Reflex, on target: TagID, at now: Timestamp, _ effects: inout Effects
    ) {
        let requester = Requester(
            reflex: reflex.trigger.text, resultTopic: topics.tag(target).command("reflex/result"), at: now)
        do throws(CommandFailure) {
            let position = try tagPosition(target.text)
            let request = try reflex.request.row.init(
                reflex.request.payload, in: requestContext(of: position))
            try pendingCommands.checkRoomForReflex(on: target)
            try begin(request, of: position, requester, within: .zero, at: now, &effects)
        } catch {
            pendingCommands.fail(requester, error, at: now, &effects)
        }
    }
}
