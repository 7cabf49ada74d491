import JacquardProtocol
import Time

/// A command whose result another bridge publishes.
struct LeftCommand: Sendable {
    /// The task of this bridge if the other one has died.
    enum Work: Sendable {
        /// It was not executed here.
        case execution(any TagRequest)
        /// It has ended here, too.
        case result(Result<CommandData, CommandFailure>)
        /// No bridge knows the tag.
        case unknownTag(CommandFailure)
        /// The message was refused: the result is not stored.
        case refusal(CommandFailure)
        /// It repeats a command with a stored result.
        case stored([UInt8])
    }

    let work: Work
    /// The id of the tag, or the text in its place.
    let tag: ExactText
    /// The other bridge.
    let bridge: ExactText
    /// The sender, and those that repeated the command.
    var requesters: [Requester]
    /// Until when it would have waited here for its tag.
    let reachableUntil: Instant
    /// When the other bridge has ended it, unless that one is connected to the tag and waits for its response.
    let endsAt: Instant
    /// When the other bridge must have published something, because it may have died while the broker was away; nil if it has.
    var doubtAt: Instant?
    /// Whether the other bridge has proven that it has received it.
    var isReceived = false
    /// Whether it was left before the connection to the broker: the result may wait for the other bridge's connection.
    var isFromBefore = false
    /// Whether it waits for the return of the other bridge, which was connected to the tag before.
    var awaitsReturn = false
    /// Whether the other bridge is back without the tag, so that it leaves the command to this one.
    var isReturned = false
    /// While the other bridge is offline: when it no longer receives the command from the broker.
    var missedAt: Instant?

    /// Whether the other bridge has not received it.
    var isUnknownElsewhere: Bool { requesters.first?.unaware.contains(bridge) ?? false }
}

/// The commands whose results other bridges publish.
///
/// A bridge publishes its `info` after results for a tag that others know, and before it stops. That proves that it lived after the
/// command. If it dies without such a proof, the command is executed or answered here.
struct LeftCommands: Sendable {
    /// The state of a bridge that publishes a result, as far as it is known.
    enum Standing: Sendable {
        /// It lives, as far as is known.
        case responds
        /// It may be back before its session ends.
        case offline
        /// It does not publish the result: it seems to have died, or no longer knows the tag.
        case isGone
    }

    /// Maximum number of commands. Further ones are left for good.
    static let maxCount = 256
    /// How long a command is kept after it has ended at the other bridge. Until then a proof has arrived, or the will.
    static let lifetime = Duration.seconds(120)
    /// How long a bridge may take to publish its `info` after a result. If it has received the command and proves nothing within this
    /// time after the end, it has rejected the command at once.
    static let proof = Duration.seconds(3)

    private var commands: [LeftCommand] = []

    /// When a bridge is doubted, or the session of one ends.
    var deadline: Instant? {
        var earliest: Instant?
        for command in commands {
            earliest.lower(to: command.doubtAt)
            earliest.lower(to: command.missedAt)
        }
        return earliest
    }

    /// Adds a command.
    mutating func add(_ command: LeftCommand, at now: Instant) {
        removeOld(at: now)
        if commands.count < Self.maxCount { commands.append(command) }
    }

    /// Handles a proof that a bridge lives: it publishes the results of the commands that have ended, and of those to the tags that
    /// it is connected to.
    ///
    /// If it was away, it receives the commands of its absence after this. It leaves those to a tag that it is no longer connected to
    /// to the first bridge by name.
    ///
    /// - Parameters:
    ///   - bridge: the bridge.
    ///   - connected: the tags that it is connected to.
    ///   - isFirst: whether this bridge is before it by name.
    ///   - now: the current time.
    mutating func bridgeLives(_ bridge: ExactText, connected: [TagID], isFirst: Bool, at now: Instant) {
        guard !commands.isEmpty else { return }
        let connected = Set(connected.map { ExactText($0.text) })
        for index in commands.indices where commands[index].bridge == bridge && commands[index].awaitsReturn {
            commands[index].awaitsReturn = false
            commands[index].isReturned = isFirst && !connected.contains(commands[index].tag)
        }
        commands.removeAll {
            $0.bridge == bridge && !$0.isUnknownElsewhere && !$0.isReturned
                && ($0.endsAt <= now || connected.contains($0.tag))
        }
        for index in commands.indices where commands[index].bridge == bridge {
            commands[index].isReceived = !commands[index].isUnknownElsewhere && !commands[index].isReturned
        }
    }

    /// Removes the commands that another bridge has answered.
    mutating func removeAnswered(_ keys: [StoredResults.Key]) {
        commands.removeAll { ($0.requesters.first?.key).map(keys.contains) ?? false }
    }

    private mutating func removeOld(at now: Instant) {
        commands.removeAll {
            !$0.isUnknownElsewhere && $0.endsAt + ($0.isReceived ? Self.proof : Self.lifetime) <= now
        }
    }

    /// Handles a connection to the broker.
    mutating func brokerConnected() {
        for index in commands.indices { commands[index].isFromBefore = true }
    }

    /// Notes that a bridge has not received the commands that meet a condition.
    mutating func note(unaware bridge: ExactText, where isMissed: (ExactText, Requester) -> Bool) {
        for index in commands.indices {
            guard let first = commands[index].requesters.first, isMissed(commands[index].tag, first) else { continue }
            commands[index].requesters[0].add(unaware: bridge)
        }
    }

    /// Returns the bridges whose proof is overdue.
    mutating func takeDoubts(at now: Instant) -> [ExactText] {
        var bridges: Set<ExactText> = []
        for index in commands.indices {
            guard let due = commands[index].doubtAt, due <= now else { continue }
            commands[index].doubtAt = nil
            bridges.insert(commands[index].bridge)
        }
        return bridges.sorted()
    }

    /// Removes and returns the commands whose results the other bridge does not publish, in order.
    mutating func take(at now: Instant, _ standing: (LeftCommand) -> Standing) -> [LeftCommand] {
        guard !commands.isEmpty else { return [] }
        var taken: [LeftCommand] = []
        removeOld(at: now)
        for index in commands.indices.reversed() {
            let isLeftToThisBridge = commands[index].isUnknownElsewhere || commands[index].isReturned
            switch standing(commands[index]) {
            case _ where isLeftToThisBridge, .isGone: taken.append(commands.remove(at: index))
            case .responds: commands[index].missedAt = nil
            case .offline:
                let missedAt = commands[index].missedAt ?? now + PeerBridges.sessionExpiry
                commands[index].missedAt = missedAt
                if missedAt <= now { taken.append(commands.remove(at: index)) }
            }
        }
        return taken.reversed()
    }
}
