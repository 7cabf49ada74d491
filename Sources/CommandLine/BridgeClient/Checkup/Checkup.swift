import JSON
import Time

/// A checkup of a tag: performs the steps of a table in order, and judges each of them.
///
/// The driver passes events, performs the returned actions in order, and reports ``deadline``.
struct Checkup: Sendable {
    /// An event.
    enum Event: Hashable, Sendable {
        /// The checkup begins.
        case begin
        /// A message on a topic of the tag, such as `battery`. Results are on `<command>/result`.
        case message(String, JSONValue)
        /// The owner has pressed Enter, or typed a line.
        case line(String)
        /// The ``Checkup/deadline`` has passed.
        case deadlineReached
        /// The owner has ended the checkup.
        case interrupted
        /// The bridge is offline.
        case bridgeOffline
    }

    /// An action.
    enum Action: Hashable, Sendable {
        /// Send a command, such as `led/set`.
        case send(String, [String: JSONValue])
        /// Show the owner what to do.
        case say(String)
        /// The checkup is complete.
        case done
    }

    private enum State: Sendable {
        case idle
        case waiting(step: Int, since: Instant, request: String?)
        /// The owner is asked about a success.
        case asking(step: Int, CheckupFinding)
        /// Before a step: waits for the tag, and then for the report of its gear.
        case settling(step: Int, isBack: Bool)
        case ended
    }

    /// The findings so far.
    private(set) var findings: [CheckupFinding] = []
    /// The known facts of the tag.
    private(set) var facts: CheckupFacts
    /// When to report ``Event/deadlineReached``; nil if nothing is waited for.
    private(set) var deadline: Instant?
    private let steps: [CheckupStep]
    private let isInteractive: Bool
    private let idPrefix: String
    private var sent = 0
    private var state = State.idle
    /// Whether the tag has reported its gear since it was connected.
    private var isGearReported = true
    /// Whether the tag has not come back in time.
    private var isGone = false
    /// The step whose command was sent twice, because the connection was lost.
    private var repeated: Int?
    /// The commands that undo what the checkup has changed, if it ends early.
    private var repairs: [String: [String: JSONValue]] = [:]

    /// How long a tag may take to come back after a lost connection.
    static let returnLimit = Duration.seconds(30)
    /// How long a connected tag may take to report its gear. Without gear, it may report nothing.
    static let gearLimit = Duration.seconds(2)

    /// Creates a checkup.
    ///
    /// - Parameters:
    ///   - facts: the tag's retained messages.
    ///   - steps: the steps.
    ///   - isInteractive: whether the owner is there.
    ///   - idPrefix: makes the ids of the commands unique.
    init(
        _ facts: CheckupFacts, steps: [CheckupStep] = CheckupTable.steps, isInteractive: Bool, idPrefix: String
    ) {
        self.facts = facts
        self.steps = steps
        self.isInteractive = isInteractive
        self.idPrefix = idPrefix
    }

    /// Handles an event.
    ///
    /// - Returns: the actions to perform, in this order.
    mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        if case .message(let topic, let message) = event {
            note(topic, message)
            if topic == "touch" { facts.slides.add(message, at: now) }
        }
        switch (state, event) {
        case (.idle, .begin): return begin(0, at: now)
        case (.waiting(let index, let since, let request), .message(let topic, let message)):
            return received(topic, message, step: index, since, request, at: now)
        case (.waiting(let index, let since, nil), .line):
            return finish(index, .skipped("by you"), since: since, at: now)
        case (.waiting(let index, let since, _), .deadlineReached):
            if let verdict = steps[index].unfinished(facts) { return finish(index, verdict, since: since, at: now) }
            let text = steps[index].instruction == nil ? "no response" : "nothing was received"
            return finish(
                index, .missing("\(text) within \(steps[index].limit.components.seconds) s"), since: since, at: now)
        case (.asking(let index, let finding), .line(let line)): return answered(line, finding, step: index, at: now)
        case (.asking(let index, let finding), .deadlineReached): return add(finding, next: index + 1, at: now)
        case (.settling(let index, isBack: false), .message) where facts.isConnected:
            return settle(index, isBack: true, at: now)
        case (.settling(let index, isBack: true), .message) where !facts.isConnected:
            return settle(index, isBack: false, at: now)
        case (.settling(let index, isBack: true), .message) where isGearReported: return begin(index, at: now)
        case (.settling(let index, let isBack), .deadlineReached):
            isGone = !isBack
            isGearReported = true
            return begin(index, at: now)
        case (.waiting(let index, _, _), .interrupted), (.asking(let index, _), .interrupted),
            (.settling(let index, _), .interrupted):
            return end(from: index)
        case (.waiting(let index, _, _), .bridgeOffline), (.asking(let index, _), .bridgeOffline),
            (.settling(let index, _), .bridgeOffline):
            return end(from: index, because: "the bridge is offline")
        default: return []
        }
    }

    /// Stores a message.
    private mutating func note(_ topic: String, _ message: JSONValue) {
        facts[topic] = message
        switch topic {
        case "availability": if message == "online" { isGone = false } else { isGearReported = false }
        case "gear":
            if message["attached"]?.flag == false || message["firmware"]?.string != nil { isGearReported = true }
        default: break
        }
    }

    /// Waits before a step, unless the tag is connected and has reported its gear.
    private mutating func settle(_ index: Int, isBack: Bool, at now: Instant) -> [Action] {
        guard !isBack || !isGearReported else { return begin(index, at: now) }
        state = .settling(step: index, isBack: isBack)
        deadline = now + (isBack ? Self.gearLimit : Self.returnLimit)
        return []
    }

    /// Begins a step, or the next one that is possible.
    private mutating func begin(_ index: Int, at now: Instant) -> [Action] {
        guard steps.indices.contains(index) else { return end(from: index) }
        let step = steps[index]
        guard isInteractive || (step.instruction == nil && !step.needsOwner) else {
            return finish(index, .skipped("needs your hands"), since: nil, at: now)
        }
        if step.needsTag, !facts.isConnected || !isGearReported {
            guard !isGone else { return finish(index, .skipped("the tag is not connected"), since: nil, at: now) }
            return settle(index, isBack: facts.isConnected, at: now)
        }
        if let obstacle = step.obstacle(facts) { return finish(index, .skipped(obstacle), since: nil, at: now) }
        let instruction = step.instruction.map { text in
            Action.say("\(text). You have \(step.limit.components.seconds) s; Enter skips this.")
        }
        deadline = now + step.limit
        switch step.work {
        case .look:
            let verdict = step.judge(.null, facts) ?? .missing("nothing is known")
            return finish(index, verdict, since: nil, at: now)
        case .observe:
            state = .waiting(step: index, since: now, request: nil)
            return instruction.map { [$0] } ?? []
        case .command(let command, let payload):
            sent += 1
            let id = "\(idPrefix)-\(sent)"
            state = .waiting(step: index, since: now, request: id)
            note(command, payload)
            return (instruction.map { [$0] } ?? []) + [.send(command, payload.merging(["id": .string(id)]) { $1 })]
        }
    }

    /// Stores how to undo a command.
    private mutating func note(_ command: String, _ payload: [String: JSONValue]) {
        switch payload["connection"] ?? payload["touch_mode"] {
        case "disconnect": repairs[command] = ["connection": "connect"]
        case "continuous": repairs[command] = ["touch_mode": "gesture"]
        default: break
        }
    }

    private mutating func received(
        _ topic: String, _ message: JSONValue, step index: Int, _ since: Instant, _ request: String?, at now: Instant
    ) -> [Action] {
        let step = steps[index]
        switch step.work {
        case .look: return []
        case .observe(let observed): guard topic == observed else { return [] }
        case .command(let command, _):
            guard topic.hasSuffix("/result"), topic.dropLast("/result".count) == command.prefix(while: { $0 != "/" }),
                message["id"]?.string == request
            else { return [] }
        }
        guard let verdict = step.judge(message, facts) else { return [] }
        if case .command(let command, let payload) = step.work, repairs[command] == payload, message["status"] == "ok" {
            repairs[command] = nil
        }
        if step.needsTag, repeated != index, Self.isLostConnection(message) {
            repeated = index
            return settle(index, isBack: facts.isConnected, at: now)
        }
        let time = message["took_ms"]?.integer ?? (now - since).milliseconds
        let finding = CheckupFinding(name: step.name, title: step.title, verdict: verdict, milliseconds: time)
        guard isInteractive, let question = step.question, case .works = verdict else {
            return add(finding, next: index + 1, at: now)
        }
        state = .asking(step: index, finding)
        deadline = now + CheckupStep.ownerLimit
        return [.say("\(question) Type y or n; Enter skips this.")]
    }

    /// Whether a command failed because the connection was lost; the bridge reconnects a tag that is silent.
    private static func isLostConnection(_ result: JSONValue) -> Bool {
        ["link_lost", "tag_offline", "expired"].contains(result["error"]?["code"]?.string)
    }

    private mutating func answered(
        _ line: String, _ finding: CheckupFinding, step index: Int, at now: Instant
    ) -> [Action] {
        let isNo = line.first == "n" || line.first == "N"
        let verdict: CheckupVerdict = isNo ? .differs(steps[index].contradiction) : finding.verdict
        let answered = CheckupFinding(
            name: finding.name, title: finding.title, verdict: verdict, milliseconds: finding.milliseconds)
        return add(answered, next: index + 1, at: now)
    }

    private mutating func finish(
        _ index: Int, _ verdict: CheckupVerdict, since: Instant?, at now: Instant
    ) -> [Action] {
        let finding = CheckupFinding(
            name: steps[index].name, title: steps[index].title, verdict: verdict,
            milliseconds: since.map { (now - $0).milliseconds })
        return add(finding, next: index + 1, at: now)
    }

    private mutating func add(_ finding: CheckupFinding, next index: Int, at now: Instant) -> [Action] {
        findings.append(finding)
        return begin(index, at: now)
    }

    /// Ends the checkup. The remaining steps are skipped, and changed settings are restored.
    private mutating func end(from index: Int, because reason: String = "the checkup was ended") -> [Action] {
        for step in steps.dropFirst(index) {
            findings.append(
                CheckupFinding(name: step.name, title: step.title, verdict: .skipped(reason)))
        }
        (state, deadline) = (.ended, nil)
        return repairs.sorted { $0.key < $1.key }.map { .send($0.key, $0.value) } + [.done]
    }
}
