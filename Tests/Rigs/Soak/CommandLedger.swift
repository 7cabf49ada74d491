/// Commands that were published, and their results.
///
/// The rules:
/// - A command that the broker has acknowledged while the bridge was connected gets exactly one final result; with a
///   response topic one more there.
/// - The bridge subscribes with QoS 1. A command on its way when a connection breaks may be delivered again: then two
///   final results are allowed, never without trouble with the broker.
/// - A command that an ended broker held, or its result, is lost with it. A frozen broker loses nothing.
/// - The bridge starts with a clean session: what was published to an earlier process, or while there was none, is never
///   received. A killed process owes its results; one that ends cleanly gives them, unless the broker is in trouble.
struct CommandLedger {
    /// One published command.
    struct Entry {
        let number: Int
        let topic: String
        let payload: String
        let published: ContinuousClock.Instant
        /// How many final results are right, in all places together.
        let expected: Int
        /// The longest it may wait for its tag.
        let timeToLive: Duration
        /// Whether a tag without trouble should carry it out.
        let isGood: Bool
        /// Whether its result has no id.
        var isAnonymous = false
        let tag: String?
        var isAcknowledged = false
        /// Whether a result was received on its topic; recorded only for commands without an id.
        var hasTopicResult = false
        var finals: [(status: String, code: String?, at: ContinuousClock.Instant)] = []
    }

    /// A queue of 32 commands of which each waits 8 s for its answer is the longest way to a result.
    private static let longestQueue = Duration.seconds(300)

    private(set) var entries: [Int: Entry] = [:]
    private var takenBack: [String: Int] = [:]
    private(set) var made = 0
    private(set) var unacknowledged = 0
    private(set) var answeredOnce = 0
    private(set) var answeredAgain = 0
    private(set) var neverAnswered = 0
    private(set) var outcomes: [String: Int] = [:]
    private(set) var slowest = Duration.zero

    mutating func published(_ entry: Entry) {
        entries[entry.number] = entry
        made += 1
    }

    mutating func acknowledged(_ number: Int) {
        entries[number]?.isAcknowledged = true
    }

    /// A final result has come.
    mutating func answered(_ number: Int, _ document: ResultDocument, at now: ContinuousClock.Instant) -> String? {
        guard let entry = entries[number] else { return nil }
        let code = document.error?.code
        entries[number]?.finals.append((document.status, code, now))
        slowest = max(slowest, now - entry.published)
        if entry.finals.isEmpty { outcomes[code ?? document.status, default: 0] += 1 }
        return code == "internal" ? "\(name(entry)) ended with a defect: \(document.error?.text ?? "")" : nil
    }

    /// How many commands have no result.
    var open: Int { entries.values.count { $0.finals.count < $0.expected } }

    /// Whether a command to a tag may still be carried out.
    func owes(_ tag: String, _ troubles: Troubles, at now: ContinuousClock.Instant) -> Bool {
        entries.values.contains { $0.tag == tag && $0.finals.isEmpty && !isExcused($0, troubles, at: now) }
    }

    /// Whether all results were received.
    func areAllAnswered(_ troubles: Troubles, at now: ContinuousClock.Instant) -> Bool {
        !entries.values.contains {
            $0.isAcknowledged && $0.finals.count < $0.expected && !isExcused($0, troubles, at: now)
        }
    }

    /// The topic of a command's result.
    static func resultTopic(of topic: String) -> String {
        let levels = topic.split(separator: "/")
        if levels.count > 3, levels[3] == "request" { return topic.replacing("/request/", with: "/response/") }
        return levels.dropLast().joined(separator: "/") + "/result"
    }

    /// The command of a result without an id: by the time that it took.
    mutating func anonymous(
        resultTopic: String, _ document: ResultDocument, at now: ContinuousClock.Instant
    ) -> Int? {
        let received = now - .milliseconds(document.tookMilliseconds)
        if document.error?.code == "retained_rejected", let count = takenBack[resultTopic], count > 0 {
            takenBack[resultTopic] = count - 1
            return 0
        }
        let number = entries.values.filter {
            $0.isAnonymous && !$0.hasTopicResult && Self.resultTopic(of: $0.topic) == resultTopic
        }.min { abs($0.published, received) < abs($1.published, received) }?.number
        if let number { entries[number]?.hasTopicResult = true }
        return number
    }

    private func abs(_ first: ContinuousClock.Instant, _ second: ContinuousClock.Instant) -> Duration {
        first < second ? second - first : first - second
    }

    /// A retained command was taken back, which may be answered without an id.
    mutating func tookBackRetained(on resultTopic: String, at now: ContinuousClock.Instant) {
        takenBack[resultTopic, default: 0] += 1
    }

    /// Looks at the commands whose time is over; all of them at the end.
    ///
    /// - Returns: the broken rules.
    mutating func review(_ troubles: Troubles, isEnd: Bool, at now: ContinuousClock.Instant) -> [String] {
        var violations: [String] = []
        for entry in entries.values {
            let isComplete = entry.finals.count >= entry.expected
            // Complete ones are kept for a while, for a result too much.
            let isLost = !isComplete && isExcused(entry, troubles, at: now)
            let limit = isComplete || isLost ? Duration.seconds(70) : entry.timeToLive + Self.longestQueue
            guard isEnd || now > entry.published + limit else { continue }
            entries[entry.number] = nil
            if let violation = judge(entry, troubles, at: now) { violations.append(violation) }
        }
        return violations
    }

    private mutating func judge(
        _ entry: Entry, _ troubles: Troubles, at now: ContinuousClock.Instant
    ) -> String? {
        let from = entry.published - .milliseconds(500)
        let to = entry.finals.last?.at ?? now
        if entry.finals.count == entry.expected {
            answeredOnce += 1
            return judgeOutcome(entry, troubles)
        }
        if entry.finals.count > entry.expected {
            answeredAgain += 1
            return troubles.touchBroker(from, to) ? nil : "\(name(entry)) has \(entry.finals.count) final results"
        }
        if !entry.isAcknowledged {
            unacknowledged += 1
            return nil
        }
        neverAnswered += 1
        return isExcused(entry, troubles, at: now)
            ? nil : "\(name(entry)) has \(entry.finals.count) of \(entry.expected) final results"
    }

    /// Whether a result may be missing.
    private func isExcused(_ entry: Entry, _ troubles: Troubles, at now: ContinuousClock.Instant) -> Bool {
        let from = entry.published - .milliseconds(500)
        let to = min(entry.published + entry.timeToLive + Self.longestQueue, now)
        // Which of several commands without an id a result belongs to is a guess then.
        let isGuess = entry.isAnonymous && troubles.touchBroker(from, to)
        return isGuess || troubles.touch(.brokerEnded, from, to) || troubles.touch(.bridge, from, to)
    }

    private func judgeOutcome(_ entry: Entry, _ troubles: Troubles) -> String? {
        // Whose result it is, is a guess without an id.
        guard entry.isGood, !entry.isAnonymous, let tag = entry.tag, let final = entry.finals.first,
            final.status != "ok"
        else {
            return nil
        }
        let from = entry.published - .seconds(1)
        let isExcused =
            troubles.touch(.tag(tag), from, final.at) || troubles.touch(.bridge, from, final.at)
            || troubles.touchBroker(from, final.at) || final.code == "busy"
        return isExcused ? nil : "\(name(entry)) failed with \(final.code ?? final.status)"
    }

    private func name(_ entry: Entry) -> String {
        "command \(entry.number) (\(entry.topic) \(entry.payload.prefix(80)))"
    }
}
