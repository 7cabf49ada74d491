import Bluetooth
import Bridge
import EventLoop
import JSON
import JacquardProtocol
import MQTT
import TagFirmware
import Time

/// Knows what was sent and what the tags are, and compares it with what the bridges publish.
@LoopActor
final class Oracle {
    private struct Command {
        let sentAt: Instant
        /// The tag that it is for; nil for a request to a bridge.
        let tag: AirTag?
        /// The processes that have acknowledged it, by the number of their bridge.
        var acknowledged: [(process: BridgeProcess, at: Instant)] = []
        var results = 0
        /// The client that has published the first result.
        var responder: String?
    }

    private let world: World
    private var commands: [String: Command] = [:]
    /// The commands in the order in which they were sent, until they are settled.
    private var order: [String] = []
    /// When the connection of each client began or ended last.
    private var connectionChanges: [String: Instant] = [:]
    /// Since when a tag that advertises waits to be connected.
    private var waitingSince: [String: Instant] = [:]
    /// Since when each bridge has no connection to a broker that would accept it.
    private var lonelySince: [Int: Instant] = [:]
    private(set) var checks = 0
    /// Whether a bridge has published something about itself since its facts have last been compared.
    private var changedTopics = true
    /// When the facts of all bridges have last been compared with the truth.
    private var hostsCheckedAt = Instant(sinceBoot: .zero)

    /// When the contents of the bridges have last been counted.
    private var grownCheckedAt = Instant(sinceBoot: .zero)
    /// The least time between two counts of what the bridges hold.
    static let growthInterval = Duration.seconds(300)
    /// After this time without an event, all facts are true.
    static let calm = Duration.seconds(10)
    /// The longest time from the acknowledgement of a command to its result, with a broker.
    static let longestCommand = Duration.seconds(150)
    /// The longest time until a connected tag has responded: a few requests without a response, after which its link ends.
    static let longestResponse = Duration.seconds(75)
    /// The longest time until a tag that is received is connected.
    static let longestWait = Duration.seconds(150)
    /// The longest time until a bridge is connected to a broker that accepts it: a pause and two attempts.
    static let longestSession = Duration.seconds(75)
    /// The longest time until the health document follows the truth: it is measured every minute.
    static let healthDelay = Duration.seconds(70)

    init(_ world: World) {
        self.world = world
    }

    func begin() {
        world.after(.seconds(5)) { [self] in
            check()
            begin()
        }
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

    func sent(_ id: String, to tag: AirTag?) {
        commands[id] = Command(sentAt: world.now, tag: tag)
        order.append(id)
    }

    private static func id(of message: MQTTMessage) -> String? {
        guard message.topic.hasSuffix("/set") || message.topic.hasSuffix("/get") || message.topic.contains("/request/")
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

    /// A process has stopped in order, with a broker: each command that it has acknowledged has its result.
    func stopped(_ process: BridgeProcess) {
        for id in order {
            guard let command = commands[id], command.results == 0, let first = command.acknowledged.first,
                command.acknowledged.allSatisfy({ $0.process === process }), world.options.bridges == 1
            else { continue }
            violated("command \(id) was acknowledged at \(first.at - world.started), and has no result after a stop")
        }
        expect("bridge/b\(process.number)/state", text("bridge/b\(process.number)/state"), "offline")
        guard world.options.bridges == 1 else { return }
        for tag in world.tags where text("tag/\(tag.serial)/availability") != nil {
            expect("tag/\(tag.serial)/availability", text("tag/\(tag.serial)/availability"), "offline")
        }
    }

    func disconnected(_ identifier: String) {
        world.trace("\(identifier) disconnected from the broker")
        if isQuiet,
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
        if topic.hasSuffix("/gesture"), topic.hasPrefix("jacquard/tag/") {
            process.oracle.published(gesture: message)
        } else if topic.hasSuffix("/stats") {
            process.oracle.published(statistics: message)
        } else if topic.hasSuffix("/result") || topic.contains("/response/") {
            result(message, identifier)
        } else if message.isRetained {
            world.trace("\(identifier) \(topic) \(String(decoding: message.payload.prefix(900), as: UTF8.self))")
            if let tag = world.tag(of: topic) {
                if !topic.hasSuffix("/rssi") { world.disturbed(tag) }
            } else {
                changedTopics = true
            }
        }
    }

    private func result(_ message: MQTTMessage, _ identifier: String) {
        guard let document = JSONValue(parsing: message.payload), let id = document["id"]?.string else { return }
        world.trace("\(identifier) \(message.topic) \(String(decoding: message.payload.prefix(200), as: UTF8.self))")
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
            return
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

    private func check() {
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
        if world.scheduled > most { violated("\(world.scheduled) timers and events are scheduled") }
    }

    /// After calm, everything that the bridges hold has returned to its size.
    private func checkGrowth() {
        guard !world.faults.isActive, world.now - grownCheckedAt > Self.growthInterval else { return }
        grownCheckedAt = world.now
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

    private func checkCommands() {
        var settled = 0
        for id in order.prefix(200) {
            guard let command = commands[id] else { continue }
            let age = world.now - command.sentAt
            guard age > Self.longestCommand * 2 else { break }
            defer { (commands[id], settled) = (nil, settled + 1) }
            guard command.results == 0, let first = command.acknowledged.first else { continue }
            // A result waits for the broker for a minute at most.
            let isExcused =
                command.acknowledged.contains { $0.process.isDead || $0.process.hasStoppedAlone }
                || isResultLost(since: first.at)
            if !isExcused { violated("command \(id) was acknowledged and has no result") }
        }
        order.removeFirst(settled)
    }

    /// Whether a result may be lost because the broker was away for too long.
    private func isResultLost(since instant: Instant) -> Bool {
        world.faults.longBrokerOutages(from: .seconds(60)).contains {
            $0.lowerBound < instant + Self.longestCommand && $0.upperBound > instant
        }
    }

    /// A command has its result soon if its tag is connected all the time, as is the broker.
    private func checkPromptness() {
        for id in order.prefix(200) {
            guard let command = commands[id], command.results == 0, let tag = command.tag,
                let (process, at) = command.acknowledged.first, process.isRunning,
                world.now - at > Self.longestResponse, tag.linkedAt < at - .seconds(30),
                let host = world.hosts.first(where: { $0.process === process }), host.isLinked(tag),
                world.hasBroker(host.instance), !world.faults.hadBrokerOutage(within: Self.longestResponse),
                !isResultLost(since: at)
            else { continue }
            violated("command \(id) of the connected tag \(tag.serial) has no result after \(world.now - at)")
        }
    }

    private func checkConnections() {
        for tag in world.tags {
            let isReceived =
                tag.link == nil && tag.isAdvertising
                && world.hosts.contains {
                    $0.lists(tag) && tag.isReceivable(by: $0.radio) && $0.radio.state == .poweredOn
                        && $0.process?.isRunning == true
                }
            guard isReceived, !tag.needsPairing, !world.faults.isActive else {
                waitingSince[tag.serial] = nil
                continue
            }
            let since = waitingSince[tag.serial] ?? world.now
            waitingSince[tag.serial] = since
            // Without a fault, each tag needs a few seconds.
            let isUndisturbed = world.faults.lastChange == nil
            let limit = isUndisturbed ? .seconds(10 + Int64(world.options.tags) * 7 / 2) : Self.longestWait
            guard world.now - since > limit, !world.people.isHeld(tag) else { continue }
            violated("\(tag.serial) is received and has not been connected for \(world.now - since)")
        }
    }

    /// Each bridge connects to a broker that accepts it.
    private func checkSessions() {
        for host in world.hosts {
            guard world.isBrokerOpen, let process = host.process, process.isRunning,
                !world.broker.isConnected("jacquard-\(host.instance)")
            else {
                lonelySince[host.number] = nil
                continue
            }
            let since = lonelySince[host.number] ?? world.now
            lonelySince[host.number] = since
            if world.now - since > Self.longestSession {
                violated("\(host.instance) has not been connected to the broker for \(world.now - since)")
            }
        }
    }

    private func fact(_ topic: String) -> JSONValue? {
        world.broker.retained["jacquard/" + topic].flatMap { JSONValue(parsing: $0.payload) }
    }

    private func text(_ topic: String) -> String? {
        world.broker.retained["jacquard/" + topic].map { String(decoding: $0.payload, as: UTF8.self) }
    }

    private func expect(_ topic: String, _ found: String?, _ wanted: String) {
        if found != wanted { violated("\(topic) is \(found ?? "missing"), and the truth is \(wanted)") }
    }

    /// Whether a bridge runs and has a broker.
    private func isServing(_ host: BridgeHost) -> Bool {
        host.process?.isRunning == true && world.broker.isConnected("jacquard-\(host.instance)")
    }

    private func check(_ host: BridgeHost) {
        let topic = "bridge/\(host.instance)/"
        // After a crash during an outage of the broker, nothing corrects the state before the next start.
        guard isServing(host) else { return }
        expect(topic + "state", text(topic + "state"), "online")
        let tags = world.tags.filter { host.isLinked($0) }
        if host.radio.state == .poweredOn,
            world.tags.allSatisfy({ world.now - $0.lastDisturbance >= Self.calm && !isTroubled($0) })
        {
            expect(
                topic + "tags.connected", fact(topic + "tags")?["connected"]?.integer.map { "\($0)" }, "\(tags.count)")
        }
        let states = fact(topic + "adapter")?.elements?.compactMap { $0["state"]?.string } ?? []
        switch host.radio.state {
        case .poweredOn: expect(topic + "adapter", states.first, "powered_on")
        case .poweredOff: expect(topic + "adapter", states.first, "powered_off")
        case .unsupported: if !states.isEmpty { violated("\(topic)adapter is \(states), and there is none") }
        default: break
        }
        checkHealth(host)
    }

    private func checkHealth(_ host: BridgeHost) {
        let topic = "bridge/\(host.instance)/health"
        let codes = fact(topic)?["problems"]?.elements?.compactMap { $0["code"]?.string } ?? ["missing"]
        let wanted: String? =
            switch host.radio.state {
            case .resetting, .unsupported: "no_adapter"
            case .poweredOff: "adapter_not_ready"
            default: nil
            }
        if let wanted, !codes.contains(wanted) {
            violated("\(topic) names \(codes), and the state of Bluetooth is \(host.radio.state)")
        }
        guard world.now - world.lastDisturbance > Self.healthDelay, wanted == nil else { return }
        var lasting = ["events_dropped", "state_damaged"]
        // The failure of a tag lasts until it is connected.
        if !world.tags.allSatisfy({ host.isLinked($0) }) { lasting.append("tag_unusable") }
        if world.tags.contains(where: { host.radio.isUsedByAnother($0.address, than: host) }) {
            lasting.append("in_use")
        }
        if host.isDiskFull { lasting.append("state_not_saved") }
        if world.tags.contains(where: \.needsPairing) { lasting += ["peer_removed_pairing_info", "tag_unusable"] }
        if !codes.allSatisfy(lasting.contains) {
            violated("\(topic) names \(codes) after \(world.now - world.lastDisturbance)")
        }
    }

    /// Whether a bridge may wait for a request or a response that never comes.
    private func isTroubled(_ tag: AirTag) -> Bool {
        tag.troubledUntil > world.now || tag.needsPairing
            || world.hosts.contains { host in
                (host.radio.faultRate > 0 || host.radio.troubledUntil > world.now)
                    && host.isLinked(tag)
            }
    }

    /// Compares the facts of a tag with the truth.
    ///
    /// - Returns: whether they could be compared.
    private func check(_ tag: AirTag) -> Bool {
        let topic = "tag/\(tag.serial)/"
        // A link that a killed process has left is none.
        let owner = world.hosts.first { $0.isLinked(tag) }
        guard !isTroubled(tag) else { return false }
        guard let owner, isServing(owner) else {
            expect(topic + "availability", text(topic + "availability"), "offline")
            let state = fact(topic + "connection")?["state"]?.string
            if state == "connected" { violated("\(topic)connection is connected without a link") }
            if world.hosts.allSatisfy({ isServing($0) && $0.radio.state == .poweredOff }) {
                expect(topic + "connection", state, "disconnected")
            }
            return true
        }
        expect(topic + "availability", text(topic + "availability"), "online")
        expect(topic + "connection", fact(topic + "connection")?["state"]?.string, "connected")
        expect(topic + "info.bridge", fact(topic + "info")?["bridge"]?.string, owner.instance)
        let name = owner.configuredName(of: Int(tag.serial) ?? 0) ?? tag.firmware.name
        if tag.nameLostAt < tag.linkedAt {
            expect(topic + "info.name", fact(topic + "info")?["name"]?.string, name)
        }
        expect(topic + "battery/level", text(topic + "battery/level"), "\(tag.firmware.battery.level)")
        let gear = tag.firmware.gear
        expect(topic + "gear.attached", fact(topic + "gear")?["attached"]?.flag.map { "\($0)" }, "\(gear != nil)")
        if let gear {
            let product = fact(topic + "gear")?["product_id"]?.string
            expect(topic + "gear.product_id", product, gear.gear.product.product.id.description)
            let mode = gear.touchMode == .gesture ? "gesture" : "continuous"
            expect(topic + "touch_mode", text(topic + "touch_mode"), mode)
        }
        return true
    }
}

/// The gestures that one process of a bridge has received.
@LoopActor
final class ProcessOracle {
    private let world: World
    private let bridge: String
    private var passed: [String: [Gesture]] = [:]
    private var published: [String: Set<Int64>] = [:]
    private var last: [String: Int64] = [:]
    /// When the latest gesture of each tag was received.
    private var latest: [String: Instant] = [:]
    /// The tags with gestures since the last comparison.
    private var unchecked: Set<String> = []

    init(_ world: World, bridge: String) {
        self.world = world
        self.bridge = bridge
    }

    /// Tags that were forgotten: it is not known which of their gestures is the first one after that.
    private var unnumbered: Set<String> = []

    /// A request to forget a tag is sent.
    func forgets(_ tag: String) {
        unnumbered.insert(tag)
    }

    /// The gestures of each tag before each time that it was removed from the configuration.
    private var former: [String: [[Gesture]]] = [:]

    /// A tag was removed from the bridge, or is added again: its gestures are numbered from 1 again. A tag that was paired by
    /// request stays while it is not listed.
    func listChanged(_ tag: String) {
        former[tag, default: []].append(passed[tag] ?? [])
        (passed[tag], published[tag], last[tag], expired[tag]) = (nil, nil, nil, nil)
    }

    /// Whether a gesture may be one of before the tag was removed, which the broker receives late.
    private func isFormer(_ number: Int64, _ type: String, of tag: String) -> Bool {
        func isOne(of gestures: [Gesture]?) -> Bool {
            guard let gestures, number >= 1, number <= gestures.count else { return false }
            return gestures[Int(number) - 1].word == type
        }
        return !isOne(of: passed[tag]) && former[tag]?.contains(where: isOne) ?? false
    }

    /// The number of counted gestures without a publication, of each tag.
    private var expired: [String: Int64] = [:]

    func published(statistics message: MQTTMessage) {
        guard let number = JSONValue(parsing: message.payload)?["expired"]?.integer else { return }
        expired[World.serial(of: message.topic) ?? ""] = number
    }

    /// The radio passes a gesture on.
    func passedOn(_ mark: GestureMark) {
        passed[mark.tag, default: []].append(mark.gesture)
        latest[mark.tag] = world.now
        unchecked.insert(mark.tag)
    }

    func published(gesture message: MQTTMessage) {
        guard let document = JSONValue(parsing: message.payload), let number = document["seq"]?.integer,
            let type = document["event_type"]?.string
        else { return world.fail("a gesture cannot be read") }
        let tag = World.serial(of: message.topic) ?? ""
        world.trace("\(bridge) gesture \(tag) \(type) \(number)")
        if unnumbered.contains(tag) || isFormer(number, type, of: tag) { return }
        let all = passed[tag] ?? []
        guard number >= 1, number <= all.count else {
            return world.fail("gesture \(number) of \(tag) was published, and \(all.count) were received")
        }
        let wanted = all[Int(number) - 1].word
        if wanted != type { world.fail("gesture \(number) of \(tag) is \(type), and was \(wanted)") }
        let isNew = published[tag, default: []].insert(number).inserted
        if isNew, number < last[tag] ?? 0 { world.fail("gesture \(number) of \(tag) comes after \(last[tag] ?? 0)") }
        last[tag] = max(last[tag] ?? 0, number)
    }

    /// All received gestures of connected tags are published or counted.
    ///
    /// - Parameter isConnected: whether the bridge is connected to a tag.
    func check(isConnected: (AirTag) -> Bool) {
        guard !unchecked.isEmpty else { return }
        for tag in unchecked.sorted() where latest[tag].map({ world.now - $0 >= Oracle.calm }) ?? true {
            // A bridge that has left a tag to another one publishes no statistics of it.
            guard let air = world.tags.first(where: { $0.serial == tag }), isConnected(air),
                world.now - air.lastDisturbance >= Oracle.calm
            else { continue }
            unchecked.remove(tag)
            guard !unnumbered.contains(tag) else { continue }
            let missing = (passed[tag]?.count ?? 0) - (published[tag]?.count ?? 0)
            guard missing > 0 else { continue }
            let counted = expired[tag] ?? 0
            if missing > counted {
                world.fail("\(missing) gestures of \(tag) are missing at \(bridge), and \(counted) are counted")
            }
        }
    }

    /// The process has stopped in order, with a broker: no gesture is lost but those that are counted. With several bridges the
    /// counts of a tag are published by another one once it has gone there.
    func stopped() {
        guard world.options.bridges == 1 else { return }
        for tag in passed.keys.sorted() where !unnumbered.contains(tag) {
            let missing = (passed[tag]?.count ?? 0) - (published[tag]?.count ?? 0) - Int(expired[tag] ?? 0)
            if missing > 0 { world.fail("\(missing) gestures of \(tag) are missing after a stop of \(bridge)") }
        }
    }
}
