import Time

/// When Home Assistant is told what: decides, and knows no document.
///
/// After the first connection to the broker it listens for a second to what an earlier run may have left there in another
/// form or under another prefix. Without such a leftover it announces everything, once; what is announced is retained.
/// With one it asks Home Assistant to let go of the old form, announces the new one, and then empties the old topics, in
/// this order: entities keep their ids and automations their triggers.
struct DiscoveryLife: Sendable {
    /// What to do now.
    enum Step: Hashable, Sendable {
        /// Ask Home Assistant to expect these items in the other form.
        case requestMigration([String])
        /// Publish everything; `again`: even what the broker has already.
        case announce(again: Bool)
        /// Publish the states again whose words an earlier version showed differently. Home Assistant does not evaluate a
        /// state again when only the template of its entity changes: the touch mode would be unknown after an update.
        case remindOfOptions
        /// Clear these topics.
        case empty([String])
        /// Publish the bridge's device and all its facts again.
        case remindOfBridge
        /// Publish a tag's device and all its facts again; the tag's position.
        case remindOfTag(Int)
    }

    private enum Stage {
        /// No broker yet.
        case waiting
        case listening(until: Instant)
        /// Home Assistant was asked to let go of these topics.
        case migrating([String], until: Instant)
        /// The other form is published; these topics are still to be emptied.
        case emptying([String], at: Instant)
        case settled
    }

    /// How long to listen, and how long Home Assistant gets for each step of a migration.
    static let pause = Duration.seconds(1)
    /// Over which time an answer to a started Home Assistant is spread.
    static let spread = Duration.seconds(2)

    private let topics: DiscoveryTopics
    private let statusTopic: String
    private var stage = Stage.waiting
    private var leftovers: Set<Leftover> = []
    /// Whether everything was announced in this run.
    private(set) var hasAnnounced = false
    private var reminders: [(step: Step, at: Instant)] = []

    init(_ topics: DiscoveryTopics, statusTopic: String) {
        self.topics = topics
        self.statusTopic = statusTopic
    }

    /// What to listen to: for leftovers only until everything is settled, since the bridge would hear itself.
    func filters(objectIDs: [String]) -> [String] {
        if case .settled = stage { return [statusTopic] }
        return [statusTopic] + objectIDs.flatMap { topics.leftoverFilters($0) }
    }

    /// When something is due.
    var deadline: Instant? {
        var deadline = stageDeadline
        deadline.lower(to: reminders.first?.at)
        return deadline
    }

    /// There is a connection to the broker.
    mutating func brokerConnected(at now: Instant) {
        guard case .waiting = stage else { return }
        stage = .listening(until: now + Self.pause)
    }

    /// The same run has announced the devices on these topics until now.
    mutating func inherit(_ announced: [String], objectIDs: [String]) {
        leftovers = Set(announced.compactMap { Leftover($0, not: topics, objectIDs: objectIDs) })
    }

    /// Whether a topic is worth a closer look; that of a command is not.
    func mayConcern(_ topic: String) -> Bool {
        topic == statusTopic || topic.hasSuffix("/config")
    }

    /// Takes a message, if it is about discovery.
    ///
    /// - Parameters:
    ///   - message: any message that does not concern tags.
    ///   - objectIDs: the devices: that of the bridge, then those of the tags.
    ///   - now: the present.
    /// - Returns: whether it was.
    mutating func received(_ message: IncomingMessage, objectIDs: [String], at now: Instant) -> Bool {
        if message.topic == statusTopic {
            if message.payload.elementsEqual("online".utf8) {
                homeAssistantStarted(tagCount: objectIDs.count - 1, at: now)
            }
            return true
        }
        guard let leftover = Leftover(message.topic, not: topics, objectIDs: objectIDs) else { return false }
        if message.isRetained, DiscoveryText.isOurs(message.payload) { found(leftover, at: now) }
        return true
    }

    /// Takes out what is due.
    mutating func takeDue(at now: Instant) -> [Step] {
        var steps: [Step] = []
        if let stageDeadline, stageDeadline <= now { steps += nextStage(at: now) }
        while let reminder = reminders.first, reminder.at <= now {
            steps.append(reminder.step)
            reminders.removeFirst()
        }
        return steps
    }
}

extension DiscoveryLife {
    private var stageDeadline: Instant? {
        switch stage {
        case .waiting, .settled: nil
        case .listening(let until): until
        case .migrating(_, let until): until
        case .emptying(_, let at): at
        }
    }

    /// A migration that is under way hears its own requests.
    private mutating func found(_ leftover: Leftover, at now: Instant) {
        switch stage {
        case .migrating, .emptying: return
        case .waiting, .listening: leftovers.insert(leftover)
        case .settled:
            leftovers.insert(leftover)
            stage = .listening(until: now + Self.pause)
        }
    }

    private mutating func nextStage(at now: Instant) -> [Step] {
        switch stage {
        case .waiting, .settled: return []
        case .listening: return listened(at: now)
        case .migrating(let topics, _):
            stage = .emptying(topics, at: now + Self.pause)
            return announce(at: now)
        case .emptying(let topics, _):
            stage = .settled
            return [.empty(topics)]
        }
    }

    private mutating func listened(at now: Instant) -> [Step] {
        let heard = leftovers.filter(\.isHeard).map(\.topic).sorted()
        let unheard = leftovers.filter { !$0.isHeard }.map(\.topic).sorted()
        leftovers = []
        let removal: [Step] = unheard.isEmpty ? [] : [.empty(unheard)]
        guard heard.isEmpty else {
            stage = .migrating(heard, until: now + Self.pause)
            return removal + [.requestMigration(heard)]
        }
        stage = .settled
        return removal + (hasAnnounced ? [] : announce(at: now))
    }

    private mutating func announce(at now: Instant) -> [Step] {
        defer { hasAnnounced = true }
        if !hasAnnounced { reminders.append((.remindOfOptions, now + Self.pause)) }
        return [.announce(again: hasAnnounced)]
    }

    /// Everything again, spread evenly: the bridge at once, the last tag before two seconds have passed.
    private mutating func homeAssistantStarted(tagCount: Int, at now: Instant) {
        guard hasAnnounced else { return }
        let steps = [.remindOfBridge] + (0..<tagCount).map(Step.remindOfTag)
        let distance = Self.spread / steps.count
        reminders = steps.enumerated().map { ($1, now + distance * $0) }
    }
}
