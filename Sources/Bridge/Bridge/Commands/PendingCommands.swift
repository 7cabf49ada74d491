import JSON
import JacquardProtocol
import Text
import Time

/// The commands without a final result, and the recent results.
struct PendingCommands: Sendable {
    /// The bridge's instance name, for results.
    let bridge: String
    /// Maximum number of pending commands per tag, and of pending requests to the bridge.
    var commandsPerTag: Int

    /// The numbers of ended commands of reflexes, also without a broker.
    private(set) var reflexOutcomes = ReflexOutcomes()
    /// Whether the broker is connected. If not, reflexes have no results.
    var isBrokerConnected = false {
        didSet { if isBrokerConnected { left.brokerConnected() } }
    }

    private(set) var pending: [PendingCommand] = []
    /// The commands whose results other bridges publish.
    var left = LeftCommands()
    /// The proof that is owed to other bridges, which leave results to this one.
    var proof = LifeProof()
    private var storedResults = StoredResults()
    /// The commands that other bridges may still have.
    var refused = RefusedCommands()
    /// The stages of the latest commands.
    var traces = CommandTraces()
    /// From the arrival of a command to a tag until its final result, by whether it has succeeded.
    private(set) var answerDurations = DurationHistogram.commands
    private(set) var failureDurations = DurationHistogram.commands
    private var lastToken: UInt64 = 0
    private var timeText = TimeText()

    init(bridge: String, commandsPerTag: Int) {
        self.bridge = bridge
        self.commandsPerTag = commandsPerTag
    }

    /// When the next timeout is due.
    var deadline: Instant? {
        var earliest: Instant?
        earliest.lower(to: proof.due)
        earliest.lower(to: left.deadline)
        // Iterates by index, and reads stored properties: an element, and a computed property, copies each command.
        for index in pending.indices {
            earliest.lower(to: pending[index].retryAt)
            earliest.lower(to: pending[index].responseDeadline ?? pending[index].reachableUntil)
            for requester in pending[index].requesters.indices {
                earliest.lower(to: pending[index].requesters[requester].acceptedAt)
            }
        }
        return earliest
    }
}

// MARK: Adding

extension PendingCommands {
    /// Publishes the stored result of a repeated command.
    ///
    /// - Returns: its payload; nil if there is none.
    mutating func storedResult(for requester: Requester, at now: Timestamp, _ effects: inout Effects) -> [UInt8]? {
        guard let key = requester.key, let payload = storedResults.result(for: key, at: now.instant) else { return nil }
        traces.repeated(requester.trace, .stored)
        proof.plan(after: requester, at: now.instant)
        requester.publish(payload, &effects)
        return payload
    }

    /// The most repetitions of pending commands, of all tags together. They take no room from other commands.
    static let mostRepetitions = 1_024

    /// Adds a sender to a pending command with the same key. It gets that command's results.
    ///
    /// - Returns: whether there is such a command.
    /// - Throws: `busy` if there are too many repetitions.
    mutating func join(_ requester: Requester) throws(CommandFailure) -> Bool {
        guard let index = index(of: requester.key) else { return false }
        guard pending.reduce(0, { $0 + $1.requesters.count - 1 }) < Self.mostRepetitions else {
            throw CommandFailure(
                .busy, "\(Self.mostRepetitions) repetitions of commands are pending, which is the limit",
                hint: "Wait for the results")
        }
        traces.repeated(requester.trace, .pending)
        pending[index].requesters.append(requester)
        return true
    }

    private func index(of key: StoredResults.Key?) -> Int? {
        guard let key else { return nil }
        return pending.firstIndex { $0.requesters.first?.key == key }
    }

    /// Throws `busy` if a tag, or the bridge itself, has too many pending commands. Repetitions do not count.
    ///
    /// Commands with a long lifetime may use only a part of the queue: those over one minute at most three quarters,
    /// those over ten minutes at most half.
    func checkRoom(for tag: TagID?, within timeToLive: Duration) throws(CommandFailure) {
        let count = count(of: tag) { _ in true }
        guard count < commandsPerTag else {
            // A reload may have lowered it.
            let limit = count == commandsPerTag ? ", which is the limit" : "; the limit is \(commandsPerTag)"
            throw CommandFailure(
                .busy, "\(Self.subject(tag)) has \(counted(count, "command")) pending\(limit)",
                hint: "Wait for their results")
        }
        try checkShare(commandsPerTag - commandsPerTag / 4, of: tag, above: .seconds(60), within: timeToLive)
        try checkShare(commandsPerTag - commandsPerTag / 2, of: tag, above: .seconds(600), within: timeToLive)
    }

    /// Throws `busy` if a tag has too many commands with a longer lifetime than a limit, and the new one has, too.
    private func checkShare(
        _ share: Int, of tag: TagID?, above limit: Duration, within timeToLive: Duration
    ) throws(CommandFailure) {
        guard timeToLive > limit else { return }
        let waiting = count(of: tag) { !pending[$0].isSent && pending[$0].timeToLive > limit }
        guard waiting < share else {
            throw CommandFailure(
                .busy,
                "\(Self.subject(tag)) has \(counted(waiting, "command")) that \(waiting == 1 ? "waits" : "wait") longer than \(limit.components.seconds) s",
                hint: "Give a shorter ttl_ms, or wait for their results")
        }
    }

    /// The number of commands of a tag that meet a condition, without those of reflexes. By index, as in ``deadline``.
    private func count(of tag: TagID?, where isCounted: (Int) -> Bool) -> Int {
        pending.indices.count { pending[$0].tag == tag && !pending[$0].isReflex && isCounted($0) }
    }

    private static func subject(_ tag: TagID?) -> String {
        tag.map { "Tag \($0)" } ?? "The bridge"
    }

    /// The most pending commands of reflexes per tag. They take no room from other commands.
    static let reflexesPerTag = 4

    /// Throws `busy` if a tag has too many pending commands of reflexes.
    func checkRoomForReflex(on tag: TagID) throws(CommandFailure) {
        let count = pending.indices.count { pending[$0].tag == tag && pending[$0].isReflex }
        guard count >= Self.reflexesPerTag else { return }
        throw CommandFailure(
            .busy, "Tag \(tag) has \(Self.reflexesPerTag) commands of reflexes pending, which is the limit",
            hint: "Give the reflex a longer cooldown_ms")
    }

    /// Adds a command that waits for its tag.
    mutating func add(
        _ request: any TagRequest, for tag: TagID, requester: Requester, isOnlyHere: Bool,
        claimant: ExactText? = nil, within timeToLive: Duration, at now: Timestamp
    ) {
        lastToken += 1
        traces.accepted(requester.trace)
        pending.append(
            PendingCommand(
                token: lastToken, work: .tag(tag, request), isOnlyHere: isOnlyHere, claimant: claimant,
                requester: requester, timeToLive: timeToLive, at: now.instant))
    }

    /// Adds a request to the bridge, which waits until ``sent(_:respondedWithin:at:)``.
    ///
    /// - Returns: its token.
    mutating func add(
        _ request: any BridgeRequest, requester: Requester, within timeToLive: Duration, at now: Timestamp
    ) -> UInt64 {
        lastToken += 1
        pending.append(
            PendingCommand(
                token: lastToken, work: .bridge(request), isOnlyHere: true, requester: requester,
                timeToLive: timeToLive, at: now.instant))
        return lastToken
    }

    /// Returns an unused token, for an action whose result is ignored.
    mutating func unusedToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }
}

// MARK: Sending

extension PendingCommands {
    /// How long a tag may take to respond. Longer than the timeouts of a full queue together; exceeding it is a defect.
    static let responseLimit = Duration.seconds(600)
    /// Delay before retrying a command that a connected tag did not accept.
    private static let pause = Duration.milliseconds(100)

    /// The commands that wait for a tag and a state of it, in order.
    func waiting(for tag: TagID, _ goal: TagGoal) -> [UInt64] {
        var tokens: [UInt64] = []
        for index in pending.indices where pending[index].goal == goal && pending[index].tag == tag {
            if pending[index].responseDeadline == nil { tokens.append(pending[index].token) }
        }
        return tokens
    }

    /// The requests that wait for Bluetooth, in order.
    var waitingRequests: [(token: UInt64, request: any BridgeRequest)] {
        pending.compactMap { command in
            guard !command.isSent, case .bridge(let request) = command.work else { return nil }
            return (command.token, request)
        }
    }

    /// The commands of a tag that meet a condition, sent or not.
    func tokens(of tag: TagID, where isMeant: (any TagRequest) -> Bool) -> [UInt64] {
        pending.compactMap { command in
            guard case .tag(tag, let request) = command.work, isMeant(request), !request.isImmediate else { return nil }
            return command.token
        }
    }

    /// Returns whether a tag has pending commands.
    func isBusy(with tag: TagID) -> Bool {
        pending.contains { $0.tag == tag }
    }

    /// Removes the queued commands that another bridge has answered.
    ///
    /// - Returns: the removed commands.
    mutating func removeAnswered(in commands: [RefusedCommand]) -> [PendingCommand] {
        let keys = commands.filter { $0.answered == true }.compactMap(\.key)
        guard !keys.isEmpty else { return [] }
        left.removeAnswered(keys)
        return remove { command in
            !command.isSent && (command.requesters.first?.key).map(keys.contains) ?? false
        }
    }

    /// Makes this bridge publish the results of a command, because its tag is connected here.
    mutating func publishResult(of token: UInt64) {
        guard let index = index(of: token) else { return }
        pending[index].isOnlyHere = true
    }

    /// Makes this bridge publish the results of the commands to some tags. Other bridges have left them to it, because its document
    /// says that the tags are connected here, also if they no longer are.
    mutating func publishResults(of isClaimed: (TagID) -> Bool) {
        for index in pending.indices where pending[index].tag.map(isClaimed) ?? false {
            pending[index].isOnlyHere = true
        }
    }

    /// Handles the start of another bridge, which has received none of the commands.
    mutating func bridgeStarted(_ bridge: ExactText) {
        note(unaware: bridge) { _, _ in true }
    }

    /// Handles the return of another bridge that has received no command since an instant.
    mutating func bridgeMissed(_ bridge: ExactText, since instant: Instant) {
        note(unaware: bridge) { _, requester in requester.receivedAt.instant > instant }
    }

    /// Handles tags that another bridge did not know before: it has ignored the commands to them.
    mutating func bridgeAdded(_ tags: [TagID], _ bridge: ExactText) {
        guard !tags.isEmpty else { return }
        let tags = Set(tags.map { ExactText($0.text) })
        note(unaware: bridge) { tag, _ in tags.contains(tag) }
    }

    /// Notes that a bridge has not received the commands that meet a condition.
    private mutating func note(unaware bridge: ExactText, where isMissed: (ExactText, Requester) -> Bool) {
        left.note(unaware: bridge, where: isMissed)
        for index in pending.indices {
            guard let tag = pending[index].tag, isMissed(ExactText(tag.text), pending[index].requesters[0]) else {
                continue
            }
            pending[index].requesters[0].add(unaware: bridge)
        }
    }

    /// Marks a command as sent, or a request as begun, and starts its response timeout.
    mutating func sent(_ token: UInt64, respondedWithin limit: Duration = Self.responseLimit, at now: Timestamp) {
        guard let index = index(of: token) else { return }
        pending[index].retryAt = nil
        pending[index].responseDeadline = now.instant + limit
        pending[index].isOnlyHere = true
        traces.sent(pending[index].requesters[0].trace, at: now.instant)
    }

    /// Queues a command again that could not be sent. If the tag is connected, the command is retried after a short
    /// delay.
    mutating func waitAgain(_ token: UInt64, isConnected: Bool, at now: Timestamp) {
        guard let index = index(of: token) else { return }
        traces.sent(pending[index].requesters[0].trace, at: nil)
        pending[index].responseDeadline = nil
        pending[index].retryAt = isConnected ? now.instant + Self.pause : nil
    }

    /// Returns the tags of commands whose retry delay has passed.
    mutating func takeTagsToRetry(at now: Instant) -> Set<TagID> {
        var tags: Set<TagID> = []
        for index in pending.indices {
            guard let retryAt = pending[index].retryAt, retryAt <= now else { continue }
            pending[index].retryAt = nil
            if let tag = pending[index].tag { tags.insert(tag) }
        }
        return tags
    }

    /// Publishes the `accepted` results that are due.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - left: the commands whose results another bridge publishes.
    ///   - effects: gets the results.
    ///   - obstacle: returns what a queued command for a tag, or for Bluetooth, waits for; nil if for its turn.
    mutating func acceptOverdue(
        at now: Timestamp, except left: Set<UInt64>, _ effects: inout Effects,
        waitingFor obstacle: (TagID?) -> CommandObstacle?
    ) {
        for index in pending.indices {
            for position in pending[index].requesters.indices {
                let requester = pending[index].requesters[position]
                guard let acceptedAt = requester.acceptedAt, acceptedAt <= now.instant else { continue }
                pending[index].requesters[position].acceptedAt = nil
                guard !left.contains(pending[index].token) else { continue }
                let waiting = pending[index].isSent ? nil : obstacle(pending[index].tag)
                let data = waiting?.data ?? .none
                requester.publish(
                    requester.payload(.accepted, data: data, bridge: bridge, at: now, &timeText), &effects)
            }
        }
    }
}

// MARK: Removing

extension PendingCommands {
    /// Returns a command without removing it.
    func command(_ token: UInt64) -> PendingCommand? {
        index(of: token).map { pending[$0] }
    }

    /// Returns the request of a command to a tag, and whether a reflex has given it; nil for any other command. Returning the command
    /// would copy it.
    func tagRequest(_ token: UInt64) -> (request: any TagRequest, isReflex: Bool)? {
        guard let index = index(of: token), case .tag(_, let request) = pending[index].work else { return nil }
        let requesters = pending[index].requesters
        return (request, !requesters.isEmpty && requesters[0].isReflex)
    }

    /// Returns the tag of a command; nil for an unknown command and a request to the bridge.
    func tag(of token: UInt64) -> TagID? {
        index(of: token).flatMap { pending[$0].tag }
    }

    private func index(of token: UInt64) -> Int? {
        for index in pending.indices where pending[index].token == token { return index }
        return nil
    }

    /// Removes and returns the expired commands.
    mutating func removeExpired(at now: Instant) -> [PendingCommand] {
        remove { $0.expiresAt <= now }
    }

    /// Removes and returns all commands of a tag.
    mutating func removeAll(of tag: TagID) -> [PendingCommand] {
        remove { $0.tag == tag }
    }

    /// Removes and returns all commands.
    mutating func removeAll() -> [PendingCommand] {
        remove { _ in true }
    }

    /// Removes and returns a command.
    mutating func remove(_ token: UInt64) -> PendingCommand? {
        index(of: token).map { pending.remove(at: $0) }
    }

    private mutating func remove(where isGone: (PendingCommand) -> Bool) -> [PendingCommand] {
        let gone = pending.filter(isGone)
        pending.removeAll(where: isGone)
        return gone
    }

    /// Handles a broker that the bridge leaves: forgets the commands whose results other bridges publish there, and publishes the
    /// final results of the commands that were sent. They have no other ones at the next broker.
    mutating func leaveBroker(at now: Timestamp, _ effects: inout Effects) {
        left = LeftCommands()
        for index in pending.indices where pending[index].isSent && !pending[index].isReflex {
            fail(pending[index], .brokerLeftAfterSending, at: now, &effects)
            for requester in pending[index].requesters.indices { pending[index].requesters[requester].endResults() }
        }
    }

    /// Ends a command whose result another bridge publishes.
    mutating func endedElsewhere(_ command: PendingCommand, _ failure: CommandFailure?, at now: Timestamp) {
        for requester in command.requesters {
            ended(requester, failure, at: now.instant)
            guard failure != nil, let tag = command.tag else { continue }
            refused.add(RefusedCommand(requester, of: tag), at: now.instant)
        }
    }

    /// Publishes the final results of a successful command.
    mutating func succeed(
        _ command: PendingCommand, data: CommandData, at now: Timestamp, _ effects: inout Effects
    ) {
        finish(command, .ok, data: data, nil, at: now, &effects)
    }

    /// Publishes the final results of a failed command.
    mutating func fail(
        _ command: PendingCommand, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        finish(command, .error, data: .none, failure, at: now, &effects)
    }

    private mutating func finish(
        _ command: PendingCommand, _ status: ResultDocument.Status, data: CommandData, _ failure: CommandFailure?,
        at now: Timestamp, _ effects: inout Effects
    ) {
        for requester in command.requesters {
            ended(requester, failure, at: now.instant)
            let payload = requester.payload(status, data: data, error: failure, bridge: bridge, at: now, &timeText)
            finish(requester, payload, at: now, &effects)
        }
    }

    /// Publishes the final result of a command that was rejected before it became pending. It is not stored if a command with the
    /// same key is pending: repetitions get the result of that one.
    mutating func fail(
        _ requester: Requester, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        guard index(of: requester.key) == nil else { return refuse(requester, failure, at: now, &effects) }
        ended(requester, failure, at: now.instant)
        let payload = requester.payload(.error, error: failure, bridge: bridge, at: now, &timeText)
        finish(requester, payload, at: now, &effects)
    }

    /// Publishes the final result of a rejected message. The result is not stored: the same command in a valid message,
    /// without the retain flag or with another response topic, is executed.
    mutating func refuse(
        _ requester: Requester, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        ended(requester, failure, at: now.instant)
        refusal(requester, failure, at: now, &effects)
    }

    /// Publishes the result of a command that has ended here, and that the other bridge has not published.
    mutating func publish(
        _ command: LeftCommand, of requester: Requester, at now: Timestamp, _ effects: inout Effects
    ) {
        switch command.work {
        case .execution: break
        case .refusal(let failure), .unknownTag(let failure): refusal(requester, failure, at: now, &effects)
        case .stored(let payload): finish(requester, payload, at: now, &effects)
        case .result(.success(let data)):
            let payload = requester.payload(.ok, data: data, bridge: bridge, at: now, &timeText)
            finish(requester, payload, at: now, &effects)
        case .result(.failure(let failure)):
            let payload = requester.payload(.error, error: failure, bridge: bridge, at: now, &timeText)
            finish(requester, payload, at: now, &effects)
        }
    }

    private mutating func refusal(
        _ requester: Requester, _ failure: CommandFailure, at now: Timestamp, _ effects: inout Effects
    ) {
        proof.plan(after: requester, at: now.instant)
        requester.publish(
            requester.payload(.error, error: failure, bridge: bridge, at: now, &timeText), &effects)
    }

    /// Ends the trace of a command, and counts its duration if it is one to a tag; counts the command of a reflex.
    private mutating func ended(_ requester: Requester, _ failure: CommandFailure?, at now: Instant) {
        if requester.isReflex { reflexOutcomes.count(failure) }
        guard requester.trace != 0 else { return }
        traces.ended(requester.trace, failure.map { .failure($0.code) } ?? .success, at: now)
        if failure == nil {
            answerDurations.observe(from: requester.receivedAt.instant, to: now)
        } else {
            failureDurations.observe(from: requester.receivedAt.instant, to: now)
        }
    }

    private mutating func finish(
        _ requester: Requester, _ payload: [UInt8], at now: Timestamp, _ effects: inout Effects
    ) {
        if requester.isReflex, !isBrokerConnected { return }
        if let key = requester.key { storedResults.store(payload, for: key, at: now.instant) }
        proof.plan(after: requester, at: now.instant)
        requester.publish(payload, &effects)
    }
}
