import JacquardProtocol

// MARK: Completing a command

extension BridgeState {
    /// Handles the end of an action with a token, except commands to a tag. Unknown tokens are ignored.
    public mutating func requestEnded(
        token: UInt64, _ result: Result<RequestAnswer, RequestError>, at now: Moment
    ) -> [BridgeAction] {
        guard !isStopped else { return [] }
        defer { updateDeadline() }
        switch result {
        case .success(let answer): return ended(token, .success(.host(answer)), at: now)
        case .failure(.notConnected): return tagWasAway(token, at: now)
        case .failure(let error): return ended(token, .failure(CommandFailure(error)), at: now)
        }
    }

    mutating func commandEnded(
        _ token: UInt64, _ result: Result<TagCommandAnswer, TagCommandError>, of position: Int, at now: Moment
    ) -> [BridgeAction] {
        guard let command = pendingCommands.command(token), command.tag == tags[position].entry.id else { return [] }
        defer { updateDeadline(of: [position]) }
        switch result {
        case .success(let answer): return ended(token, .success(.tag(answer)), at: now)
        case .failure(.notConnected): return tagWasAway(token, at: now)
        case .failure(let error):
            return ended(token, .failure(CommandFailure(error, tag: tags[position], at: now)), at: now)
        }
    }

    /// Queues a command again that was not sent because the tag was disconnected. Applies also if the tag has
    /// reconnected.
    private mutating func tagWasAway(_ token: UInt64, at now: Moment) -> [BridgeAction] {
        guard let command = pendingCommands.command(token), let position = command.tag.flatMap(position) else {
            return []
        }
        guard now.instant < command.reachableUntil else {
            return ended(token, .failure(tags[position].offlineFailure(at: now)), at: now)
        }
        pendingCommands.waitAgain(token, isThere: tags[position].isConnected, at: now)
        tags[position].need(at: now.instant)
        return settle(position, at: now)
    }

    /// Handles the end of a command or of one of its steps.
    mutating func ended(
        _ token: UInt64, _ result: Result<CommandAnswer, CommandFailure>, at now: Moment
    ) -> [BridgeAction] {
        guard let command = pendingCommands.command(token) else { return [] }
        switch (result, command.work) {
        case (.failure(let failure), _):
            _ = pendingCommands.remove(token)
            return failed(command, failure, at: now)
        case (.success(let answer), .tag(let id, let request)):
            return succeeded(command, request, of: id, answer, at: now)
        case (.success(let answer), .bridge(let request)):
            return take(request.carriedOut(answer, in: &self, token: token, at: now), of: token, at: now)
        }
    }

    private mutating func succeeded(
        _ command: PendingCommand, _ request: any TagRequest, of id: TagID, _ answer: CommandAnswer, at now: Moment
    ) -> [BridgeAction] {
        guard let position = position(of: id) else { return [] }
        _ = pendingCommands.remove(command.token)
        let outcome = request.carriedOut(answer, by: &tags[position], at: now)
        if let failure = outcome.failure { return failed(command, failure, at: now) }
        tags[position].intent.need(at: now.instant)
        return publish(pendingCommands.succeed(command, data: outcome.data, at: now) + outcome.publications)
            + settle(position, at: now)
    }

    /// Continues or completes a request.
    mutating func take(_ step: BridgeRequestStep, of token: UInt64, at now: Moment) -> [BridgeAction] {
        switch step {
        case .underWay(let actions): return actions
        case .done(let data, let actions): return actions + finish(token, data: data, at: now)
        case .failed(let failure): return ended(token, .failure(failure), at: now)
        }
    }

    /// Completes a request successfully.
    mutating func finish(_ token: UInt64, data: CommandData, at now: Moment) -> [BridgeAction] {
        guard let command = pendingCommands.remove(token) else { return [] }
        return publish(pendingCommands.succeed(command, data: data, at: now))
    }

    /// Completes a failed command that was removed from the pending ones.
    mutating func failed(_ command: PendingCommand, _ failure: CommandFailure, at now: Moment) -> [BridgeAction] {
        switch command.work {
        case .tag(let id, let request):
            guard let position = position(of: id) else { break }
            request.failed(at: &tags[position])
            tags[position].intent.need(at: now.instant)
        case .bridge(let request):
            return request.failed(failure, in: &self, at: now)
                + publish(pendingCommands.fail(command, failure, at: now))
        }
        return publish(pendingCommands.fail(command, failure, at: now))
    }

    /// Handles an expired command: its tag or Bluetooth was unavailable for too long, or no response arrived.
    mutating func ranOut(_ command: PendingCommand, at now: Moment) -> [BridgeAction] {
        if !command.isSent, case .bridge(let request) = command.work {
            let failure = CommandFailure.bluetooth(is: .unknown)
            return type(of: request).refused(failure, in: &self, at: now)
                + publish(pendingCommands.fail(command, failure, at: now))
        }
        guard !command.isSent, case .tag(let id, let request) = command.work, let position = position(of: id) else {
            return failed(command, .neverEnded, at: now)
        }
        switch request.goal {
        case .connected:
            tags[position].commandExpired()
            return failed(command, tags[position].expiredFailure(at: now), at: now) + settle(position, at: now)
        case .disconnected: return failed(command, .stillConnected, at: now)
        }
    }
}
