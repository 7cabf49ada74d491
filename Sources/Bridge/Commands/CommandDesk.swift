import JacquardProtocol
import Time

/// The commands that have no final result yet, and the results of those that had one a moment ago.
struct CommandDesk: Sendable {
    /// The bridge's instance name, for results.
    let bridge: String
    /// How many commands of one tag may be pending, and how many requests to the bridge.
    var commandsPerTag: Int

    private var pending: [PendingCommand] = []
    private var answered = AnsweredCommands()
    private var lastToken: UInt64 = 0

    init(bridge: String, commandsPerTag: Int) {
        self.bridge = bridge
        self.commandsPerTag = commandsPerTag
    }

    /// When something is due without an event.
    var deadline: Instant? {
        var earliest: Instant?
        // By index: a command that is looped over is copied.
        for index in pending.indices {
            earliest.lower(to: pending[index].againAt)
            earliest.lower(to: pending[index].expiresAt)
            for asker in pending[index].askers.indices { earliest.lower(to: pending[index].askers[asker].acceptedAt) }
        }
        return earliest
    }
}

// MARK: Coming in

extension CommandDesk {
    /// The stored result of a command that comes again.
    func storedResult(for asker: CommandAsker, at now: Moment) -> [Publication]? {
        asker.key.flatMap { answered.result(for: $0, at: now.instant) }.map { asker.publications($0) }
    }

    /// Lets an asker wait for the result of the same command, if that is pending.
    ///
    /// - Returns: whether it is.
    mutating func join(_ asker: CommandAsker) -> Bool {
        guard let key = asker.key, let index = pending.firstIndex(where: { $0.askers.first?.key == key }) else {
            return false
        }
        pending[index].askers.append(asker)
        return true
    }

    /// Refuses a command of a tag, or of the bridge itself, that has too many already.
    ///
    /// Commands that wait long leave a part of the queue to those that wait briefly: of the commands that wait, at most three
    /// quarters may do so for more than a minute, and at most half for more than ten minutes.
    func checkRoom(for tag: TagID?, within timeToLive: Duration) throws(CommandFailure) {
        let commands = pending.filter { $0.tag == tag }
        let count = commands.reduce(0) { $0 + $1.askers.count }
        let subject = tag.map { "Tag \($0)" } ?? "The bridge"
        guard count < commandsPerTag else {
            throw CommandFailure(
                .busy, "\(subject) has \(count) commands pending, which is the limit", hint: "Wait for their results")
        }
        let shares = [
            (Duration.seconds(60), commandsPerTag - commandsPerTag / 4),
            (Duration.seconds(600), commandsPerTag - commandsPerTag / 2),
        ]
        for (limit, share) in shares where timeToLive > limit {
            let waiting = commands.reduce(0) { $0 + (!$1.isSent && $1.timeToLive > limit ? $1.askers.count : 0) }
            guard waiting < share else {
                throw CommandFailure(
                    .busy, "\(subject) has \(waiting) commands that wait longer than \(limit.components.seconds) s",
                    hint: "Give a shorter ttl_ms, or wait for their results")
            }
        }
    }

    /// Takes a command that waits for its tag.
    mutating func add(
        _ request: any TagRequest, for tag: TagID, asker: CommandAsker, isAnswered: Bool, within timeToLive: Duration,
        at now: Moment
    ) {
        lastToken += 1
        pending.append(
            PendingCommand(
                token: lastToken, work: .tag(tag, request), isAnswered: isAnswered, askers: [asker],
                timeToLive: timeToLive, reachableUntil: now.instant + timeToLive))
    }

    /// Takes a request to the bridge itself, which waits until it is ``sent(_:answeredWithin:at:)``.
    ///
    /// - Returns: its token.
    mutating func add(
        _ request: any BridgeRequest, asker: CommandAsker, within timeToLive: Duration, at now: Moment
    ) -> UInt64 {
        lastToken += 1
        pending.append(
            PendingCommand(
                token: lastToken, work: .bridge(request), isAnswered: true, askers: [asker], timeToLive: timeToLive,
                reachableUntil: now.instant + timeToLive))
        return lastToken
    }

    /// A token that no command has, for an action whose answer nobody needs.
    mutating func spareToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }
}

// MARK: On the way

extension CommandDesk {
    /// How long a tag may take to answer before it is a defect: longer than a full queue of timeouts.
    static let answerLimit = Duration.seconds(600)
    /// How long a command pauses that its tag did not take although it was there.
    private static let pause = Duration.milliseconds(100)

    /// The commands that wait for something of a tag, in order.
    func waiting(for tag: TagID) -> [(token: UInt64, request: any TagRequest)] {
        pending.indices.compactMap { index in
            guard !pending[index].isSent, case .tag(tag, let request) = pending[index].work else { return nil }
            return (pending[index].token, request)
        }
    }

    /// The requests that wait for Bluetooth, in order.
    var waitingRequests: [(token: UInt64, request: any BridgeRequest)] {
        pending.compactMap { command in
            guard !command.isSent, case .bridge(let request) = command.work else { return nil }
            return (command.token, request)
        }
    }

    /// Whether a tag has commands, waiting or sent.
    func isBusy(with tag: TagID) -> Bool {
        pending.contains { $0.tag == tag }
    }

    /// The results of a command are this bridge's to give from now on: its tag is connected here.
    mutating func answer(_ token: UInt64) {
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return }
        pending[index].isAnswered = true
    }

    /// A command is sent, or a request has begun: its answer has to be there in time.
    mutating func sent(_ token: UInt64, answeredWithin limit: Duration = Self.answerLimit, at now: Moment) {
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return }
        pending[index].againAt = nil
        pending[index].answeredUntil = now.instant + limit
        pending[index].isAnswered = true
    }

    /// Lets a command wait again that could not be sent after all; for a moment only if its tag is there.
    mutating func waitAgain(_ token: UInt64, isThere: Bool, at now: Moment) {
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return }
        pending[index].answeredUntil = nil
        pending[index].againAt = isThere ? now.instant + Self.pause : nil
    }

    /// The tags of commands whose pause is over.
    mutating func takeTagsToTryAgain(at now: Instant) -> Set<TagID> {
        var tags: Set<TagID> = []
        for index in pending.indices {
            guard let againAt = pending[index].againAt, againAt <= now else { continue }
            pending[index].againAt = nil
            if let tag = pending[index].tag { tags.insert(tag) }
        }
        return tags
    }

    /// Gives "accepted" to those who have waited long enough for it.
    mutating func acceptOverdue(at now: Moment) -> [Publication] {
        var publications: [Publication] = []
        for index in pending.indices {
            for position in pending[index].askers.indices {
                let asker = pending[index].askers[position]
                guard let acceptedAt = asker.acceptedAt, acceptedAt <= now.instant else { continue }
                pending[index].askers[position].acceptedAt = nil
                guard pending[index].isAnswered else { continue }
                publications += asker.publications(asker.payload(.accepted, bridge: bridge, at: now))
            }
        }
        return publications
    }
}

// MARK: Going out

extension CommandDesk {
    /// The command of a token, which stays.
    func command(_ token: UInt64) -> PendingCommand? {
        pending.first { $0.token == token }
    }

    /// Takes out the commands that have run out of time.
    mutating func removeExpired(at now: Instant) -> [PendingCommand] {
        remove { $0.expiresAt <= now }
    }

    /// Takes out every command of a tag.
    mutating func removeAll(of tag: TagID) -> [PendingCommand] {
        remove { $0.tag == tag }
    }

    /// Takes out every command.
    mutating func removeAll() -> [PendingCommand] {
        remove { _ in true }
    }

    /// Takes out the command of a token.
    mutating func remove(_ token: UInt64) -> PendingCommand? {
        remove { $0.token == token }.first
    }

    private mutating func remove(where isGone: (PendingCommand) -> Bool) -> [PendingCommand] {
        let gone = pending.filter(isGone)
        pending.removeAll(where: isGone)
        return gone
    }

    /// The final result for each asker of a command that was carried out, unless another bridge gives it.
    mutating func succeed(_ command: PendingCommand, data: CommandData, at now: Moment) -> [Publication] {
        guard command.isAnswered else { return [] }
        return command.askers.flatMap { finish($0, $0.payload(.ok, data: data, bridge: bridge, at: now), at: now) }
    }

    /// The final result for each asker of a command that failed, unless another bridge gives it.
    mutating func fail(_ command: PendingCommand, _ failure: CommandFailure, at now: Moment) -> [Publication] {
        guard command.isAnswered else { return [] }
        return command.askers.flatMap { fail($0, failure, at: now) }
    }

    /// The final result of a command that never became pending.
    mutating func fail(_ asker: CommandAsker, _ failure: CommandFailure, at now: Moment) -> [Publication] {
        finish(asker, asker.payload(.error, error: failure, bridge: bridge, at: now), at: now)
    }

    /// The final result of a command whose message is not accepted as it is. It is not stored: the same command in another
    /// message, without the retain flag or with another response topic, is carried out.
    func refuse(_ asker: CommandAsker, _ failure: CommandFailure, at now: Moment) -> [Publication] {
        asker.publications(asker.payload(.error, error: failure, bridge: bridge, at: now))
    }

    private mutating func finish(_ asker: CommandAsker, _ payload: [UInt8], at now: Moment) -> [Publication] {
        if let key = asker.key { answered.store(payload, for: key, at: now.instant) }
        return asker.publications(payload)
    }
}
