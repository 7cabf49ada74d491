import JacquardProtocol

// MARK: Commands to tags

extension BridgeState {
    /// Sends the queued commands whose goal the tag has reached.
    mutating func sendWaiting(of position: Int, at now: Timestamp) -> [BridgeAction] {
        var actions: [BridgeAction] = []
        guard let goal = tags[position].link.reachedGoal else { return [] }
        for token in pendingCommands.waiting(for: tags[position].entry.id, goal) {
            guard let pending = pendingCommands.command(token), case .tag(_, let request) = pending.work else {
                continue
            }
            if let command = request.command {
                pendingCommands.sent(token, at: now)
                actions.append(.perform(command, on: tags[position].handle, token: token, isFirst: pending.isReflex))
            } else {
                if goal == .connected { pendingCommands.publishResult(of: token) }
                actions += succeeded(token, .done, of: position, at: now)
            }
        }
        return actions
    }

    /// Rejects the queued commands that need a tag whose connection has just ended with a final error.
    mutating func refuseWaiting(of position: Int, at now: Timestamp) -> [BridgeAction] {
        guard let failure = tags[position].unconnectableFailure else { return [] }
        return pendingCommands.waiting(for: tags[position].entry.id, .connected).flatMap { fail($0, failure, at: now) }
    }

    mutating func commandEnded(
        _ token: UInt64, _ result: Result<TagCommandResponse, TagCommandError>, of position: Int, at now: Timestamp
    ) -> [BridgeAction] {
        guard pendingCommands.tag(of: token) == tags[position].entry.id else {
            return tags.errandEnded(
                token, result, of: position, motionIdle: configuration.options.motion.idle, at: now)
        }
        switch result {
        case .success(let response): return succeeded(token, response, of: position, at: now)
        case .failure(.linkLost) where pendingCommands.command(token)?.endsLink == true:
            return succeeded(token, .done, of: position, at: now)
        case .failure(.notConnected): return pendingCommands.command(token).map { waitAgain($0, at: now) } ?? []
        case .failure(let error):
            guard case .tag(_, let request) = pendingCommands.command(token)?.work else { return [] }
            return fail(token, request.failure(error, of: tags[position], at: now), at: now)
        }
    }

    /// Queues a command again that was not sent because the tag was disconnected. Applies also if the tag has
    /// reconnected.
    private mutating func waitAgain(_ command: PendingCommand, at now: Timestamp) -> [BridgeAction] {
        guard let position = command.tag.flatMap(tags.position) else { return [] }
        guard now.instant < command.reachableUntil else {
            return fail(
                command.token, offlineFailure(of: position, at: now), at: now)
        }
        pendingCommands.waitAgain(command.token, isConnected: tags[position].isConnected, at: now)
        tags[position].link.need(at: now.instant)
        return settle(position, at: now)
    }

    /// The failure of a command to a tag that is not connected.
    func offlineFailure(of position: Int, at now: Timestamp) -> CommandFailure {
        tags[position].offlineFailure(obstacle: stack.obstacle, at: now)
    }

    /// Completes a command to a tag, which has responded.
    mutating func succeeded(
        _ token: UInt64, _ response: TagCommandResponse, of position: Int, at now: Timestamp
    ) -> [BridgeAction] {
        guard let command = pendingCommands.remove(token), case .tag(_, let request) = command.work else { return [] }
        let features = tags[position].features
        let outcome = request.succeeded(response, on: &tags[position], at: now)
        let announcement = features == tags[position].features ? [] : discoveryFacts(ofTag: position)
        if let failure = outcome.failure { return failed(command, failure, at: now) }
        tags[position].link.commandEnded(at: now.instant)
        let results = finish(command, .success(outcome.data), at: now)
        let settled = settle(position, at: now)
        var actions = publish(results, outcome.publications)
        if !announcement.isEmpty { actions += publish(announcement) }
        if !outcome.actions.isEmpty { actions += outcome.actions }
        if !outcome.commands.isEmpty { actions += tags.perform(outcome.commands, on: position) }
        if let change = outcome.find { actions += findChanged(change, of: position, at: now) }
        return settled.isEmpty ? actions : actions + settled
    }

    /// Returns the `accepted` results that are due.
    mutating func acceptOverdue(at now: Timestamp) -> [Publication] {
        let left = peers.isEmpty ? [] : pendingCommands.pending.filter { responder(of: $0) != nil }.map(\.token)
        return pendingCommands.acceptOverdue(at: now, except: Set(left)) { tag in
            if let obstacle = stack.obstacle { return obstacle }
            guard let position = tag.flatMap(tags.position), !tags[position].isConnected else { return nil }
            return .tag(tags[position].lastSeenHint(at: now))
        }
    }

    /// Handles an expired command: its tag or Bluetooth was unavailable for too long, or no response arrived.
    mutating func expired(_ command: PendingCommand, at now: Timestamp) -> [BridgeAction] {
        switch command.work {
        case _ where command.isSent: return failed(command, .neverEnded, at: now)
        case .bridge(let request): return refused(command, request, stack.bluetoothFailure, at: now)
        case .tag(let id, let request):
            guard let position = tags.position(of: id) else { return failed(command, .neverEnded, at: now) }
            guard request.goal == .connected else { return failed(command, .stillConnected, at: now) }
            tags[position].link.commandExpired()
            let failure = tags[position].expiredFailure(of: command, obstacle: stack.obstacle, at: now)
            return failed(command, failure, at: now) + settle(position, at: now)
        }
    }

    /// Completes a failed command that was removed from the pending ones.
    mutating func failed(_ command: PendingCommand, _ failure: CommandFailure, at now: Timestamp) -> [BridgeAction] {
        let effects: [BridgeAction]
        switch command.work {
        case .tag(let id, let request):
            effects = []
            guard let position = tags.position(of: id) else { break }
            request.failed(on: &tags[position], failure, at: now)
            tags[position].link.commandEnded(at: now.instant)
        case .bridge(let request): effects = request.failed(failure, in: &self, token: command.token, at: now)
        }
        return effects + publish(finish(command, .failure(failure), at: now))
    }

    /// Returns the final results of a command that was removed from the pending ones; none if another bridge publishes them.
    private mutating func finish(
        _ command: PendingCommand, _ result: Result<CommandData, CommandFailure>, at now: Timestamp
    ) -> [Publication] {
        if let tag = command.tag, let bridge = finalResponder(of: command) {
            var failure: CommandFailure?
            if case .failure(let error) = result { failure = error }
            pendingCommands.endedElsewhere(command, failure, at: now)
            leave(.result(result), of: tag.text, to: bridge, command.requesters, until: command.reachableUntil, at: now)
            return []
        }
        switch result {
        case .success(let data): return pendingCommands.succeed(command, data: data, at: now)
        case .failure(let failure): return pendingCommands.fail(command, failure, at: now)
        }
    }

    /// Returns the final results of a pending command at the end of the process. Another bridge that has the command continues it.
    mutating func stopped(_ command: PendingCommand, at now: Timestamp) -> [Publication] {
        guard command.isSent || successor(of: command) == nil else { return [] }
        return pendingCommands.fail(command, command.isSent ? .stoppedAfterSending : .stoppedBeforeSending, at: now)
    }

    /// Completes a command to a tag that is removed. Another bridge that has the command continues it.
    mutating func forgotten(_ command: PendingCommand, at now: Timestamp) -> [BridgeAction] {
        let failure = command.isSent ? CommandFailure.forgottenAfterSending : .forgottenBeforeSending
        guard !command.isSent, let tag = command.tag, let bridge = successor(of: command) else {
            return failed(command, failure, at: now)
        }
        pendingCommands.endedElsewhere(command, failure, at: now)
        leave(
            .result(.failure(failure)), of: tag.text, to: bridge, command.requesters, until: command.reachableUntil,
            endingAt: command.reachableUntil, at: now)
        return []
    }

    /// Completes a failed command.
    mutating func fail(_ token: UInt64, _ failure: CommandFailure, at now: Timestamp) -> [BridgeAction] {
        pendingCommands.remove(token).map { failed($0, failure, at: now) } ?? []
    }

    /// Fails the commands of a tag that meet a condition.
    ///
    /// - Returns: the actions, and whether one of them was sent: the tag may execute it.
    mutating func failAll(
        of position: Int, _ failure: CommandFailure, at now: Timestamp, where isMeant: (any TagRequest) -> Bool
    ) -> (actions: [BridgeAction], wasSent: Bool) {
        let tokens = pendingCommands.tokens(of: tags[position].entry.id, where: isMeant)
        let wasSent = tokens.contains { pendingCommands.command($0)?.isSent ?? false }
        return (tokens.flatMap { fail($0, failure, at: now) }, wasSent)
    }

    /// Completes a command successfully.
    mutating func succeed(_ token: UInt64, data: CommandData, at now: Timestamp) -> [BridgeAction] {
        guard let command = pendingCommands.remove(token) else { return [] }
        return publish(finish(command, .success(data), at: now))
    }
}

// MARK: Requests to the bridge

extension BridgeState {
    /// Begins a request, or queues it until the state of Bluetooth is known.
    mutating func begin(
        _ request: any BridgeRequest, _ requester: Requester, within timeToLive: Duration, at now: Timestamp
    ) throws(CommandFailure) -> [BridgeAction] {
        let isWaiting = request.needsBluetooth && !stack.isBluetoothKnown && timeToLive > .zero
        if !isWaiting { try check(request) }
        let token = pendingCommands.add(request, requester: requester, within: timeToLive, at: now)
        return isWaiting ? [] : begin(request, token, at: now)
    }

    /// Begins or rejects the requests that waited for the state of Bluetooth.
    mutating func beginWaitingRequests(at now: Timestamp) -> [BridgeAction] {
        guard stack.isBluetoothKnown else { return [] }
        return pendingCommands.waitingRequests.flatMap { token, request in
            do throws(CommandFailure) {
                try check(request)
                return begin(request, token, at: now)
            } catch {
                return pendingCommands.remove(token).map { refused($0, request, error, at: now) } ?? []
            }
        }
    }

    /// Throws if a request cannot begin now.
    private func check(_ request: any BridgeRequest) throws(CommandFailure) {
        if request.needsBluetooth { try stack.checkBluetooth() }
        try request.checkBeginning(in: self)
    }

    private mutating func begin(_ request: any BridgeRequest, _ token: UInt64, at now: Timestamp) -> [BridgeAction] {
        pendingCommands.sent(token, respondedWithin: request.responseLimit, at: now)
        return take(request.begin(in: &self, token: token, at: now), of: token, at: now)
    }

    mutating func requestEnded(
        _ token: UInt64, _ result: Result<RequestResponse, RequestError>, at now: Timestamp
    ) -> [BridgeAction] {
        guard let command = pendingCommands.command(token) else { return [] }
        switch (result, command.work) {
        case (.success, .tag(let id, _)):
            return tags.position(of: id).map { succeeded(token, .done, of: $0, at: now) } ?? []
        case (.success(let response), .bridge(let request)):
            return take(request.succeeded(response, in: &self, token: token, at: now), of: token, at: now)
        case (.failure(let error), .bridge(let request)):
            return fail(token, request.failure(error, in: self), at: now)
        case (.failure(let error), .tag): return fail(token, CommandFailure(error), at: now)
        }
    }

    /// Completes a request that was refused before it began.
    private mutating func refused(
        _ command: PendingCommand, _ request: any BridgeRequest, _ failure: CommandFailure, at now: Timestamp
    ) -> [BridgeAction] {
        request.refused(failure, in: &self, at: now)
            + publish(pendingCommands.fail(command, failure, at: now))
    }

    /// Takes a step of a request, and completes it if the driver does not have to answer.
    private mutating func take(_ step: BridgeRequestStep, of token: UInt64, at now: Timestamp) -> [BridgeAction] {
        switch step {
        case .underWay(let actions): actions
        case .done(let data, let actions): actions + succeed(token, data: data, at: now)
        case .failed(let failure): fail(token, failure, at: now)
        }
    }

    /// Completes the requests that waited for the same examination; without a report each ends by its own deadline.
    mutating func examined(_ response: RequestResponse?, for token: UInt64, at now: Timestamp) -> [BridgeAction] {
        let others = examinations.end(token)
        guard let response else { return [] }
        return others.flatMap { requestEnded($0, .success(response), at: now) }
    }
}

// MARK: Commands of reflexes

extension BridgeState {
    mutating func perform(_ effects: [Reactions.Effect], at now: Timestamp) -> [BridgeAction] {
        effects.flatMap { effect -> [BridgeAction] in
            switch effect {
            case .publish(let publication): [.publish(publication)]
            case .perform(let reflex, let tag): perform(reflex, on: tag, at: now)
            }
        }
    }

    /// Gives a tag the command of a reflex: the way of a command from MQTT that does not wait for its tag, at the head of
    /// the tag's queue.
    private mutating func perform(_ reflex: Reflex, on target: TagID, at now: Timestamp) -> [BridgeAction] {
        let requester = Requester(reflex: reflex, resultTopic: topics.tag(target).command("reflex/result"), at: now)
        do throws(CommandFailure) {
            let position = try tagPosition(target.text)
            let request = try reflex.request.row.init(
                reflex.request.payload, in: requestContext(of: position))
            try pendingCommands.checkRoomForReflex(on: target)
            return try begin(request, of: position, requester, within: .zero, at: now)
        } catch {
            return publish(pendingCommands.fail(requester, error, at: now))
        }
    }
}
