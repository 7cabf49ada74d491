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
    /// The devices: that of the bridge, then those of the tags.
    private var devices: [String] = []
    private var objectIDs: Set<ExactText> = []
    private var leftovers: Set<Leftover> = []
    /// How many leftovers of each device are there, and how many bytes were read for them since the last announcement.
    private var leftoverCounts: [ExactText: Int] = [:]
    private var bytesRead = 0
    /// Whether everything was announced in this run.
    private(set) var hasAnnounced = false
    private var reminders = Queue<(step: Step, at: Instant)>()
    /// Whether Home Assistant has started again while reminders were due.
    private var isReminderWanted = false

    /// A device has at most so many topics of earlier runs: twice as many as it has items. More are left where they are.
    static let mostLeftovers = 128
    /// So many bytes of messages on such topics are read at most before everything is settled.
    static let mostBytesRead = 8 << 20

    init(_ topics: DiscoveryTopics, statusTopic: String) {
        self.topics = topics
        self.statusTopic = statusTopic
    }

    /// What to listen to: for leftovers only until everything is settled, since the bridge would hear itself.
    var filters: [String] {
        if case .settled = stage { return [statusTopic] }
        return [statusTopic] + devices.flatMap { topics.leftoverFilters($0) }
    }

    /// These are the devices from now on: that of the bridge, then those of the tags.
    mutating func follow(_ devices: [String]) {
        self.devices = devices
        objectIDs = Set(devices.map { ExactText($0) })
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
    mutating func inherit(_ announced: [String]) {
        for leftover in announced.compactMap({ Leftover($0, not: topics, objectIDs: objectIDs) }) { keep(leftover) }
    }

    /// Whether a topic is worth a closer look; that of a command is not.
    func mayConcern(_ topic: String) -> Bool {
        topic.hasSameBytes(as: statusTopic) || topic.utf8.reversed().starts(with: "/config".utf8.reversed())
    }

    /// Takes a message, if it is about discovery.
    ///
    /// - Parameters:
    ///   - message: any message that does not concern tags.
    ///   - now: the present.
    /// - Returns: whether it was.
    mutating func received(_ message: IncomingMessage, at now: Instant) -> Bool {
        if message.topic.hasSameBytes(as: statusTopic) {
            if message.payload.elementsEqual("online".utf8) { homeAssistantStarted(at: now) }
            return true
        }
        guard let leftover = Leftover(message.topic, not: topics, objectIDs: objectIDs) else { return false }
        if message.isRetained, hasRoom(for: leftover, message.payload), DiscoveryText.isOurs(message.payload) {
            found(leftover, at: now)
        }
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
        if isReminderWanted, reminders.isEmpty { remind(at: now + Self.spread / (devices.count + 1)) }
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

    /// Whether one more topic of an earlier run may be remembered, and its message be read.
    private mutating func hasRoom(for leftover: Leftover, _ payload: [UInt8]) -> Bool {
        guard leftoverCounts[leftover.objectID, default: 0] < Self.mostLeftovers,
            bytesRead + payload.count <= Self.mostBytesRead
        else { return false }
        bytesRead += payload.count
        return true
    }

    private mutating func keep(_ leftover: Leftover) {
        guard leftovers.insert(leftover).inserted else { return }
        leftoverCounts[leftover.objectID, default: 0] += 1
    }

    /// A migration that is under way hears its own requests.
    private mutating func found(_ leftover: Leftover, at now: Instant) {
        switch stage {
        case .migrating, .emptying: return
        case .waiting, .listening: keep(leftover)
        case .settled:
            keep(leftover)
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
        let heard = leftovers.filter(\.isHeard).map(\.topic.text).sorted()
        let unheard = leftovers.filter { !$0.isHeard }.map(\.topic.text).sorted()
        (leftovers, leftoverCounts, bytesRead) = ([], [:], 0)
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

    /// One that starts again while it is being answered gets another answer behind that one.
    private mutating func homeAssistantStarted(at now: Instant) {
        guard hasAnnounced else { return }
        guard reminders.isEmpty else { return isReminderWanted = true }
        remind(at: now)
    }

    /// Everything again, spread evenly: the bridge first, the last tag before two seconds have passed.
    private mutating func remind(at start: Instant) {
        isReminderWanted = false
        let steps = [.remindOfBridge] + devices.indices.dropLast().map(Step.remindOfTag)
        let distance = Self.spread / steps.count
        for (index, step) in steps.enumerated() { reminders.append((step, start + distance * index)) }
    }
}
