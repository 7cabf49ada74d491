import Bridge
import EventLoop
import JSON
import JacquardProtocol
import MQTTTypes
import TagFirmware
import Time

/// A short run that real programs can play, too: everything that happens is drawn before it begins, and printed as it happens, a JSON
/// object a line. `replay.py` reads it.
///
/// Each cycle has one or two faults, people who go on meanwhile and after that, a calm, and a comparison of all retained messages.
@LoopActor
final class Schedule {
    /// What a bridge has published that does not depend on when it happens.
    private struct Record {
        var results: [String: [JSONValue]] = [:]
        var gestures: [String: [JSONValue]] = [:]
    }

    private let world: World
    private var random: SplitMix
    private var record = Record()
    private var commands = 0
    /// The number of events that are still to happen.
    private(set) var planned = 0
    private nonisolated static let cycles = 4
    /// The time from the start of the bridge to the first fault.
    private nonisolated static let start = Duration.seconds(20)
    private nonisolated static let cycle = Duration.seconds(45)
    /// The part of a cycle in which people act.
    private static let busy = Duration.seconds(30)
    nonisolated static let duration = start + cycle * cycles + .seconds(1)

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.options.seed &* 0x94D0_49BB_1331_11EB &+ 11)
    }

    // MARK: Drawing

    private func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private func draw(_ least: Duration, _ most: Duration) -> Duration {
        .milliseconds(Int64.random(in: least.milliseconds...most.milliseconds, using: &random))
    }

    private func draw<Element>(_ elements: [Element]) -> Element { elements[draw(elements.count)] }

    /// Plans everything, and prints what has to be true before the bridge starts.
    func begin() {
        world.broker.forgetsFreshSessions = true
        world.hosts.forEach { say("configure", ["text": .string($0.configurationText)]) }
        for tag in world.tags {
            tag.place = 0
            type("battery \(tag.serial) \(tag.firmware.battery.level)")
            if let gear = tag.firmware.gear {
                type("attach \(tag.serial) \(gear.gear.word)")
            } else {
                type("detach \(tag.serial)")
            }
        }
        say("start", ["unix_s": .number(Double(WallClock.unixMilliseconds) / 1_000)])
        for number in 0..<Self.cycles {
            let begin = Self.start + Self.cycle * number
            planFaults(begin)
            planPeople(begin)
            plan(begin + Self.cycle - .seconds(1)) { [self] in compare() }
        }
        plan(Self.duration - .milliseconds(500)) { [self] in end() }
    }

    private func plan(_ time: Duration, _ body: @escaping @LoopActor () -> Void) {
        planned += 1
        world.after(time) { [self] in
            planned -= 1
            body()
        }
    }

    // MARK: Faults

    private func planFaults(_ begin: Duration) {
        var kinds = [brokerFault, bridgeFault, bluetoothFault, tagFault]
        for _ in 0...draw(2) {
            // Two of one kind would end each other.
            let kind = kinds.remove(at: draw(kinds.count))
            kind(
                begin + draw(.seconds(3), .seconds(8)),
                draw(2) == 0 ? draw(.milliseconds(300), .seconds(3)) : draw(.seconds(3), .seconds(10)))
        }
    }

    /// Begins a fault, and ends it after a time.
    private func fault(
        at time: Duration, for wait: Duration, isOutage: Bool = false, _ begin: @escaping @LoopActor () -> Void,
        end: @escaping @LoopActor () -> Void
    ) {
        plan(time) { [self] in
            world.faults.begins()
            begin()
            if isOutage { world.faults.outage(wait, end) } else { world.faults.ends(after: wait, end) }
        }
    }

    private func brokerFault(_ time: Duration, _ wait: Duration) {
        switch draw(3) {
        case 0, 1:
            let isPersistent = draw(2) == 0
            fault(at: time, for: wait, isOutage: true) { [self] in
                say("broker", ["action": "stop", "forgets": .bool(!isPersistent)])
                world.broker.isPersistent = isPersistent
                world.broker.stop()
            } end: { [self] in
                say("broker", ["action": "start"])
                world.broker.start()
            }
        default:
            fault(at: time, for: wait, isOutage: true) { [self] in
                say("broker", ["action": "stall"])
                world.broker.stall(true)
            } end: { [self] in
                say("broker", ["action": "continue"])
                world.broker.stall(false)
            }
        }
    }

    private func bridgeFault(_ time: Duration, _ wait: Duration) {
        let host = world.hosts[0]
        switch draw(3) {
        case 0:
            fault(at: time, for: wait + .seconds(1), isOutage: true) { [self] in
                say("bridge", ["action": "kill", "away_s": Self.seconds(wait)])
                host.kill(restartAfter: wait)
            } end: {
            }
        case 1:
            fault(at: time, for: wait + .seconds(6), isOutage: true) { [self] in
                say("bridge", ["action": "restart", "away_s": Self.seconds(wait)])
                host.restart(after: wait)
            } end: {
            }
        default:
            let tag = draw(world.options.tags)
            fault(at: time, for: .seconds(1)) { [self] in
                host.reload(naming: tag)
                say("configure", ["text": .string(host.configurationText)])
                say("bridge", ["action": "reload"])
            } end: {
            }
        }
    }

    private func bluetoothFault(_ time: Duration, _ wait: Duration) {
        let radio = world.hosts[0].radio
        if draw(2) == 0 {
            fault(at: time, for: wait) { [self] in
                type("adapter off")
                radio.setPowered(false)
            } end: { [self] in
                type("adapter on")
                radio.setPowered(true)
            }
        } else {
            fault(at: time, for: wait) { [self] in
                type("crash-bluez \(wait.milliseconds)")
                radio.setDaemon(isUp: false)
            } end: {
                radio.setDaemon(isUp: true)
            }
        }
    }

    private static let answers: [(words: String, fault: FirmwareFaults.AnswerFault)] = [
        ("drop-response", .drop), ("delay 700", .delay(.milliseconds(700))), ("delay 9000", .delay(.seconds(9))),
        ("double", .double), ("wrong-id", .wrongID), ("status 3", .status(3)), ("malformed", .malformed),
        ("truncated", .truncated), ("no-body", .noBody), ("lost-fragment", .lostFragment), ("hang", .hang),
    ]

    private func tagFault(_ time: Duration, _ wait: Duration) {
        let tag = draw(world.tags)
        switch draw(3) {
        case 0:
            fault(at: time, for: wait) { [self] in
                type("out-of-range \(tag.serial)")
                tag.place = 1_000
            } end: { [self] in
                type("in-range \(tag.serial)")
                tag.place = 0
            }
        case 1:
            fault(at: time, for: wait) { [self] in
                type("sleep \(tag.serial)")
                tag.execute(.sleep)
            } end: { [self] in
                type("button \(tag.serial)")
                tag.execute(.button)
            }
        default:
            let answer = draw(Self.answers)
            fault(at: time, for: wait) { [self] in
                type("fault \(tag.serial) \(answer.words)")
                tag.troubledUntil = world.now + Self.cycle
                tag.garbledUntil = tag.troubledUntil
                tag.execute(.fault(answer.fault, isOnce: false))
            } end: { [self] in
                type("fault \(tag.serial) clear")
                tag.endFault()
            }
        }
    }

    // MARK: People

    private func planPeople(_ begin: Duration) {
        for tag in world.tags {
            repeatedly(begin, .seconds(7)) { [self] in
                let gesture = draw(Gesture.known)
                return { [self] in
                    type("gesture \(tag.serial) \(gesture.word)")
                    tag.make(gesture)
                }
            }
            repeatedly(begin, .seconds(40)) { [self] in action(on: tag) }
        }
        repeatedly(begin, .seconds(4)) { [self] in command() }
    }

    /// Plans what people do every so often in a cycle.
    private func repeatedly(
        _ begin: Duration, _ most: Duration, _ drawn: @LoopActor () -> @LoopActor () -> Void
    ) {
        var time = begin
        while true {
            time += draw(.milliseconds(50), most)
            guard time < begin + Self.busy else { return }
            plan(time, drawn())
        }
    }

    private func action(on tag: AirTag) -> @LoopActor () -> Void {
        let (words, action): (String, TagAction)
        switch draw(3) {
        case 0:
            let level = UInt8(draw(101))
            let isCharging = draw(3) == 0
            words = "battery \(tag.serial) \(level) \(isCharging ? "charging" : "not_charging")"
            action = .battery(level: level, isCharging: isCharging)
        case 1: (words, action) = ("detach \(tag.serial)", .detach)
        default:
            let gear = draw(SimulatedGear.all)
            (words, action) = ("attach \(tag.serial) \(gear.word)", .attach(gear))
        }
        return { [self] in
            type(words)
            tag.execute(action)
        }
    }

    private func command() -> @LoopActor () -> Void {
        commands += 1
        let (id, row, tag) = ("c\(commands)", draw(People.scenes), draw(world.tags))
        let topic = "jacquard/tag/\(tag.serial)/\(row.topic)"
        let payload = "{" + (row.payload.isEmpty ? "" : row.payload + ",") + "\"id\":\"\(id)\"}"
        return { [self] in
            say("publish", ["topic": .string(topic), "payload": .string(payload), "id": .string(id)])
            world.people.send(topic, payload, id: id)
        }
    }

    // MARK: Output

    private static func seconds(_ duration: Duration) -> JSONValue {
        .number(Double(duration.milliseconds) / 1_000)
    }

    private func say(_ what: String, _ members: [String: JSONValue]) {
        var members = members
        members["at"] = Self.seconds(world.now - world.started)
        members["do"] = .string(what)
        print(JSONValue.object(members).text)
    }

    /// Something that the user of the simulator types.
    private func type(_ line: String) {
        say("type", ["line": .string(line)])
    }

    private func compare() {
        let retained = world.broker.retained.mapValues { JSONValue(payload: $0.payload) }
        say("compare", ["retained": .object(retained)])
    }

    private func end() {
        say(
            "end",
            [
                "results": .object(record.results.mapValues { .array($0) }),
                "gestures": .object(record.gestures.mapValues { .array($0) }),
            ])
    }

    /// A bridge has published a message.
    func published(_ message: MQTTMessage) {
        guard let document = JSONValue(parsing: message.payload), let tag = World.serial(of: message.topic) else {
            return
        }
        if message.topic.hasSuffix("/gesture") {
            record.gestures[tag, default: []].append(document)
        } else if message.topic.hasSuffix("/result"), document["final"]?.flag == true, let id = document["id"]?.string {
            record.results[id, default: []].append(document)
        }
    }
}
