import Bluetooth
import Bridge
import EventLoop
import JSON
import JacquardProtocol
import MQTTTypes
import TagFirmware
import Time

/// Knows what was sent and what the tags are, and compares it with what the bridges publish.
@LoopActor
final class Oracle {
    struct Command {
        let sentAt: Instant
        /// The tag that it is for; nil for a request to a bridge.
        let tag: AirTag?
        /// Its request.
        let demand: Demand
        /// The processes that have acknowledged it, by the number of their bridge.
        var acknowledged: [(process: BridgeProcess, at: Instant)] = []
        var results = 0
        /// The client that has published the first result.
        var responder: String?
    }

    let world: World
    var commands: [String: Command] = [:]
    /// The commands in the order in which they were sent, until they are settled.
    var order: [String] = []
    /// When the connection of each client began or ended last.
    private var connectionChanges: [String: Instant] = [:]
    /// Since when a tag that advertises waits to be connected.
    var waitingSince: [String: Instant] = [:]
    /// Since when each bridge has no connection to a broker that would accept it.
    var lonelySince: [Int: Instant] = [:]
    /// Since when each bridge has no broker, and whether it had one at the last check.
    var absentSince: [Int: Instant] = [:]
    var wasPresent: [Int: Bool] = [:]
    /// The times for which a bridge had no broker, if they were long.
    var absences: [Range<Instant>] = []
    private(set) var checks = 0
    /// Whether a bridge has published something about itself since its facts have last been compared.
    private var changedTopics = true
    /// When the facts of all bridges have last been compared with the truth.
    private var hostsCheckedAt = Instant(sinceBoot: .zero)

    /// When the contents of the bridges have last been counted.
    private var grownCheckedAt = Instant(sinceBoot: .zero)
    /// When the oracle checks next.
    private var nextCheck = Instant(sinceBoot: .zero)
    /// The time between the last two counts of what the bridges hold. It doubles up to ``longestGrowthInterval``, because a count
    /// takes as long as thousands of events, and what grows is found later, too.
    private var growthInterval = Duration.seconds(150)
    private static let longestGrowthInterval = Duration.seconds(76_800)
    /// After this time without an event, all facts are true.
    static let calm = Duration.seconds(10)
    /// The longest time from the acknowledgement of a command to its result, with a broker.
    static let longestCommand = Duration.seconds(150)
    /// The longest time until a connected tag has responded: a few requests without a response, after which its link ends.
    static let longestResponse = Duration.seconds(75)
    /// The longest time for which nothing is sent to a connected tag while a command waits: the timeout of a request, of a write and
    /// of a fault of the radio.
    static let longestIdleness = Duration.seconds(25)
    /// The longest time until a tag that is received is connected.
    static let longestWait = Duration.seconds(150)
    /// The longest time until a bridge is connected to a broker that accepts it: a pause and two attempts.
    static let longestSession = Duration.seconds(75)
    /// The longest time from the end of a full disk until all files are written, and reported as written.
    static let longestSave = Duration.seconds(45)
    /// The longest time until the health document follows the truth: it is measured every minute.
    static let healthDelay = Duration.seconds(70)

    init(_ world: World) {
        self.world = world
    }

    /// Checks every five seconds. Without faults, checks only while something is due, and after something has happened.
    func begin() {
        plan(after: Self.interval)
    }

    private static let interval = Duration.seconds(5)
    /// The longest time between two checks without an event.
    private static let longestInterval = Duration.seconds(60)

    private func plan(after wait: Duration) {
        let time = world.now + wait
        nextCheck = time
        world.at(time) { [self] in
            guard nextCheck == time else { return }
            check()
            plan(after: world.options.hasFaults || isSomethingOpen ? Self.interval : pause)
        }
    }

    /// Something has happened that facts follow.
    func happened() {
        if nextCheck > world.now + Self.longestInterval / 4, !world.options.hasFaults { plan(after: Self.calm) }
    }

    /// Whether something has to happen within a time that is checked.
    private var isSomethingOpen: Bool {
        !waitingSince.isEmpty || !lonelySince.isEmpty || !absentSince.isEmpty
            || order.contains { commands[$0]?.results == 0 }
    }

    /// The time until the facts have to follow the latest event.
    private var pause: Duration {
        let latest = world.tags.reduce(world.lastDisturbance) { max($0, $1.lastDisturbance) }
        let age = world.now - latest
        let next = [Self.calm, Self.healthDelay].first { age <= $0 }.map { $0 - age + .milliseconds(1) }
        return min(max(next ?? Self.longestInterval, .seconds(1)), Self.longestInterval)
    }

    /// Whether nothing has failed for a while.
    private var isQuiet: Bool {
        !world.faults.isActive && world.faults.lastChange.map { world.now - $0 > .seconds(120) } ?? true
    }

    /// A bridge ends the link of a tag.
    func disconnects(_ tag: AirTag) {
        guard isQuiet, tag.isReceivable(everywhere: world.hosts), !isTroubled(tag), !world.people.isHeld(tag),
            world.now - tag.linkedAt > .seconds(60)
        else { return }
        violated("the link of \(tag.serial) is ended without a cause")
    }

    func violated(_ text: String) {
        world.fail(text)
    }

    // MARK: What happens at the broker

    func sent(_ id: String, to tag: AirTag?, _ demand: Demand) {
        commands[id] = Command(sentAt: world.now, tag: tag, demand: demand)
        order.append(id)
    }

    /// Whether a topic is `jacquard/bridge/<instance>/<word>/...`. Searching in a string takes longer than all other checks.
    private static func isOfBridge(_ topic: String, _ word: String) -> Bool {
        guard topic.hasPrefix("jacquard/bridge/") else { return false }
        let levels = topic.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 4)
        return levels.count == 5 && levels[3].elementsEqual(word.utf8)
    }

    private static func id(of message: MQTTMessage) -> String? {
        guard message.topic.hasSuffix("/set") || message.topic.hasSuffix("/get") || isOfBridge(message.topic, "request")
        else { return nil }
        return JSONValue(parsing: message.payload)?["id"]?.string
    }

    /// A client has acknowledged a message.
    func acknowledged(_ message: MQTTMessage, by identifier: String, _ process: BridgeProcess) {
        guard let id = Self.id(of: message) else { return }
        world.trace("\(identifier) acknowledges \(id)")
        commands[id]?.acknowledged.append((process, world.now))
    }

    func dropped(_ message: MQTTMessage, of identifier: String) {}

    func connected(_ identifier: String) {
        world.trace("\(identifier) connected to the broker")
        connectionChanges[identifier] = world.now
        world.disturbed()
    }

    /// A process has stopped in order, with a broker: each command that it has acknowledged has its result, unless the broker was away for
    /// too long before.
    func stopped(_ process: BridgeProcess) {
        for id in order {
            guard let command = commands[id], command.results == 0, let first = command.acknowledged.first,
                command.acknowledged.allSatisfy({ $0.process === process }), world.options.bridges == 1,
                !isResultLost(since: first.at)
            else { continue }
            violated("command \(id) was acknowledged at \(first.at - world.started), and has no result after a stop")
        }
        expect("bridge/b\(process.number)/state", text("bridge/b\(process.number)/state"), "offline")
        guard world.options.bridges == 1 else { return }
        for tag in world.tags where text("tag/\(tag.serial)/availability") != nil {
            expect("tag/\(tag.serial)/availability", text("tag/\(tag.serial)/availability"), "offline")
        }
    }

    /// Handles the end of a connection; `isRequested` after a DISCONNECT, with which a connection ends that only discards a session.
    func disconnected(_ identifier: String, isRequested: Bool) {
        world.trace("\(identifier) disconnected from the broker")
        if isQuiet, !isRequested,
            world.hosts.contains(where: { "jacquard-\($0.instance)" == identifier && $0.process?.isRunning == true })
        {
            violated("\(identifier) has lost its connection to the broker without a cause")
        }
        connectionChanges[identifier] = world.now
        world.disturbed()
    }

    /// The broker has accepted a message.
    func published(_ message: MQTTMessage, by identifier: String, _ process: BridgeProcess) {
        let topic = message.topic
        world.trace("\(identifier) \(topic) \(String(decoding: message.payload, as: UTF8.self))")
        if topic.hasSuffix("/gesture"), topic.hasPrefix("jacquard/tag/") {
            process.oracle.published(gesture: message)
        } else if topic.hasSuffix("/stats") {
            process.oracle.published(statistics: message)
        } else if topic.hasSuffix("/result") || Self.isOfBridge(topic, "response") {
            result(message, identifier, process)
        } else if message.isRetained {
            if let tag = world.tag(of: topic) {
                if !topic.hasSuffix("/rssi") { world.disturbed(tag) }
            } else {
                changedTopics = true
            }
        }
    }

    private func result(_ message: MQTTMessage, _ identifier: String, _ process: BridgeProcess) {
        guard let document = JSONValue(parsing: message.payload), let id = document["id"]?.string else { return }
        if document["final"]?.flag == true, document["status"]?.string == "ok" { world.people.succeeded(id) }
        guard document["final"]?.flag == true, let command = commands[id] else { return }
        if let tag = world.tag(of: message.topic), tag.garbledUntil < world.now, let error = document["error"],
            error["text"]?.string?.hasPrefix("The tag's response lacks") ?? false
        {
            violated("command \(id) has failed because of a response that \(tag.serial) has not sent")
        }
        // The effect of such a command is unknown until the tag is connected again.
        if message.topic.hasSuffix("/name/result"), let code = document["error"]?["code"]?.string,
            ["timeout", "link_lost"].contains(code)
        {
            world.tag(of: message.topic)?.nameLostAt = world.now
        }
        commands[id]?.results += 1
        guard command.results > 0 else {
            commands[id]?.responder = identifier
            return judge(document, id, command, process)
        }
        // After a lost connection, a result whose acknowledgement was lost is sent again. After a crash, another bridge
        // may answer. A bridge cannot know that another one is connected to the tag while messages are delayed.
        let isRepeatable =
            command.acknowledged.contains { $0.process.isDead || $0.process.isStopping }
            || (connectionChanges[identifier].map { $0 > command.sentAt } ?? false)
            || (command.responder != identifier
                && world.faults.lastChange.map { world.now - $0 < .seconds(60) } ?? false)
        if !isRepeatable { violated("command \(id) has another result") }
    }

    // MARK: What is true after a while

    /// Checks everything once more at the end of the run.
    func finish() {
        growthInterval = .zero
        check()
    }

    private func check() {
        noteAbsences()
        checkCommands()
        checkPromptness()
        checkConnections()
        checkSessions()
        guard world.now - world.lastDisturbance >= Self.calm, world.broker.isUp, !world.broker.isStalled,
            !world.isNetworkCut
        else { return }
        checks += 1
        checkHosts()
        // Without a bridge, the facts of tags stay as they were.
        if world.hosts.contains(where: { isServing($0) }) {
            for tag in world.tags where world.now - tag.lastDisturbance >= Self.calm {
                let latest = max(tag.lastDisturbance, world.lastDisturbance)
                if tag.checkedAt <= latest, check(tag) { tag.checkedAt = world.now }
            }
        }
        checkGrowth()
        let most = 60 + 40 * world.options.tags * world.options.bridges
        let scheduled = world.scheduled - (world.schedule?.planned ?? 0)
        if scheduled > most { violated("\(scheduled) timers and events are scheduled") }
    }

    /// After calm, everything that the bridges hold has returned to its size.
    private func checkGrowth() {
        guard !world.faults.isActive, world.now - grownCheckedAt > growthInterval else { return }
        (grownCheckedAt, growthInterval) = (world.now, min(growthInterval * 2, Self.longestGrowthInterval))
        for host in world.hosts {
            let contents = (host.process?.contents ?? [:]).sorted { $0.key < $1.key }
            for (path, size) in contents where size > largest(path) {
                violated("\(host.instance) holds \(size) in \(path)")
            }
        }
    }

    /// The largest number of elements after calm.
    private func largest(_ path: String) -> Int {
        // Constant, a ring, and what is written to the disk once a minute.
        if path.contains(".catalogue.") { return .max }
        if path.hasSuffix(".traces.entries") { return 1_024 }
        if path.contains(".recorder.") { return 400 }
        // Cleared topics leave gaps.
        if path.hasSuffix(".facts.order") { return 80 + 32 * world.options.tags }
        // Each tag has about ten facts.
        return 40 + 16 * world.options.tags
    }

    /// A bridge hands a message to its client: a turn does only its share of the work.
    func submitted(by process: BridgeProcess) {
        if process.turn.at != world.now { process.turn = (world.now, 0) }
        process.turn.messages += 1
        // As many as may be in flight, and some of quality of service 0.
        if process.turn.messages > 100 + 10 * world.options.tags {
            violated("\(process.turn.messages) messages at once")
        }
    }

    /// Compares what the bridges publish about themselves, unless all is as it was.
    private func checkHosts() {
        for host in world.hosts where isServing(host) {
            host.process?.oracle.check { host.isLinked($0) }
        }
        let latest = world.tags.reduce(world.lastDisturbance) { max($0, $1.lastDisturbance) }
        let isDue = [Self.calm, Self.healthDelay].contains { hostsCheckedAt < latest + $0 && latest + $0 < world.now }
        guard changedTopics || isDue else { return }
        for host in world.hosts { check(host) }
        (hostsCheckedAt, changedTopics) = (world.now, false)
    }
}
