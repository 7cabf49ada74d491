import JacquardProtocol
import Time

/// Which facts of each tag this bridge publishes.
///
/// The topics of a tag don't name its bridge. A bridge that is not connected to a tag leaves its facts to one that is, and
/// lists the tag as `elsewhere` in its own `info`, behind its last fact of the tag. The other bridge then publishes the facts
/// again, and its `info`: this repairs what crossed, and proves that it lives.
///
/// After each connection to the broker, nothing is published about unconnected tags until the retained messages of other
/// bridges have arrived: the broker sends them before this bridge's own `online`.
struct FactScopes: Sendable {
    /// Which facts of a tag this bridge publishes. A tag without an entry: all.
    enum Scope: Sendable {
        /// None yet: another bridge may be connected to the tag.
        case undecided
        /// None: another bridge is connected to the tag.
        case elsewhere
        /// Its connection only: the other facts are those of another bridge, which was connected to the tag later.
        case presence
    }

    /// How long to wait for retained messages if this bridge's own `online` does not arrive.
    static let patience = Duration.milliseconds(750)
    /// How long another bridge that is connected to a tag may take to publish something: it may have died while the broker
    /// was away. Both pauses together are less than two seconds.
    static let proof = Duration.milliseconds(1_200)

    private var scopes: [TagID: Scope] = [:]
    /// The tags whose latest retained `info` names another bridge.
    private var authoredElsewhere: Set<TagID> = []
    /// The tags that were connected in this run, and to no other bridge since.
    private var latestHere: Set<TagID> = []
    /// The tags with facts that are withheld because their value is unknown here: another bridge may have published one.
    private var incomplete: Set<TagID> = []
    /// Until when retained messages of other bridges may be on their way.
    private var collectsUntil: Instant?
    /// The same, whether or not this bridge's own `online` has arrived: an earlier one may be retained, too.
    private var storedUntil: Instant?
    /// When the other bridges must have published something.
    private var proofDue: Instant?
    /// The tags whose facts are to be published again.
    private var corrections: Set<TagID> = []
    private var correctionThrottle = Throttle(every: .milliseconds(250))
    /// The tags whose facts are to be published once more, and when. Soon after a connection the other bridge cannot
    /// distinguish the first correction from a retained message, and this bridge's `info` may not have been sent before.
    private var repetitions: Set<TagID> = []
    private var repetitionDue: Instant?

    /// When the next decision is due.
    var deadline: Instant? {
        var deadline = correctionThrottle.due
        deadline.lower(to: repetitionDue)
        deadline.lower(to: collectsUntil)
        deadline.lower(to: proofDue)
        return deadline
    }

    /// Whether facts of any tag are withheld.
    var hasAny: Bool { !scopes.isEmpty }

    /// Returns which facts of a tag are published; nil: all.
    subscript(tag: TagID) -> Scope? { scopes.isEmpty ? nil : scopes[tag] }

    /// Handles a connection to the broker.
    mutating func brokerConnected(unconnected tags: [TagID], at now: Instant) {
        (collectsUntil, storedUntil, proofDue) = (now + Self.patience, now + Self.patience, nil)
        (authoredElsewhere, corrections) = ([], [])
        (repetitions, repetitionDue) = ([], nil)
        scopes = Dictionary(tags.map { ($0, .undecided) }) { first, _ in first }
    }

    /// Returns whether a message may be a retained one from before the connection.
    func mayBeStored(at now: Instant) -> Bool { storedUntil.map { now < $0 } ?? false }

    /// Notes that the latest retained `info` of a tag names another bridge.
    mutating func isAuthoredElsewhere(_ tag: TagID) {
        if collectsUntil != nil { authoredElsewhere.insert(tag) }
    }

    /// Ends the collection of retained messages, or only if it has taken until a time.
    ///
    /// - Returns: whether it has ended now.
    mutating func endCollection(dueAt now: Instant? = nil) -> Bool {
        guard let until = collectsUntil, now.map({ until <= $0 }) ?? true else { return false }
        collectsUntil = nil
        return true
    }

    /// Returns whether the other bridges must have published something by now.
    mutating func takeProofDue(at now: Instant) -> Bool {
        proofDue.takeDue(at: now)
    }

    /// Decides which facts of a tag are published from now on.
    ///
    /// - Parameters:
    ///   - tag: the tag.
    ///   - isConnected: whether this bridge is connected to it.
    ///   - isClaimed: whether another bridge is connected to it.
    ///   - isListed: whether another bridge knows it.
    ///   - now: the current time.
    /// - Returns: whether the scope has changed.
    mutating func decide(
        _ tag: TagID, isConnected: Bool, isClaimed: Bool, isListed: Bool, at now: Instant
    ) -> Bool {
        let old = self[tag]
        var new = old
        if isConnected {
            new = nil
            latestHere.insert(tag)
        } else if collectsUntil != nil, old == .undecided {
            return false
        } else if isClaimed {
            new = .elsewhere
            latestHere.remove(tag)
        } else {
            switch old {
            case .undecided:
                new = isListed && authoredElsewhere.contains(tag) && !latestHere.contains(tag) ? .presence : nil
            case .elsewhere, .presence: new = isListed ? .presence : nil
            case nil: break
            }
        }
        guard new != old else { return false }
        scopes[tag] = new
        if new == .elsewhere { proofDue = now + Self.proof }
        return true
    }

    /// Sets whether facts of a tag are withheld because their value is unknown.
    mutating func setIncomplete(_ tag: TagID, _ isIncomplete: Bool) {
        if isIncomplete { incomplete.insert(tag) } else { incomplete.remove(tag) }
    }

    /// Returns whether facts of a tag are withheld because their value is unknown.
    func isIncomplete(_ tag: TagID) -> Bool { !incomplete.isEmpty && incomplete.contains(tag) }

    /// Forgets a tag.
    mutating func remove(_ tag: TagID) {
        latestHere.remove(tag)
        incomplete.remove(tag)
        scopes[tag] = nil
    }

    /// Plans to publish the facts of tags again.
    ///
    /// - Returns: the tags to correct now; those of later requests follow within a quarter of a second.
    mutating func correct(_ tags: [TagID], at now: Instant) -> [TagID] {
        guard !tags.isEmpty else { return [] }
        corrections.formUnion(tags)
        if mayBeStored(at: now) {
            repetitions.formUnion(tags)
            repetitionDue = storedUntil
        }
        return correctionThrottle.admits(at: now) ? takeCorrections() : []
    }

    /// Returns the tags whose correction is due.
    mutating func takeCorrectionsDue(at now: Instant) -> [TagID] {
        guard let due = repetitionDue, due <= now else {
            return correctionThrottle.isDue(at: now) ? takeCorrections() : []
        }
        corrections.formUnion(repetitions)
        (repetitions, repetitionDue) = ([], nil)
        return takeCorrections()
    }

    private mutating func takeCorrections() -> [TagID] {
        defer { corrections = [] }
        return corrections.sorted { $0.text < $1.text }
    }
}
