import EventLoop
import JacquardProtocol
import MQTTTypes
import TagFirmware
import Time

/// The actions of people on the tags, and the messages of other clients of the broker.
@LoopActor
final class People {
    private let world: World
    private(set) var gestures = 0
    private(set) var commands = 0

    init(_ world: World) {
        self.world = world
    }

    func begin() {
        for tag in world.tags {
            // Some tags are touched rarely, so that nothing corrects what the bridge knows of them.
            let isRare = world.options.hasAllFaults && tag.number % 3 == 2
            plan(mean: world.options.gestureInterval * (isRare ? 20 : 1)) { [self] in
                gestures += 1
                tag.make(Gesture.known[Int(world.random.next() % UInt64(Gesture.known.count))])
            }
            plan(mean: world.options.gestureInterval * 20) { [self] in act(on: tag) }
        }
        plan(mean: world.options.commandInterval) { [self] in command() }
        guard world.options.hasAllFaults else { return }
        request()
        scene()
        evening()
    }

    /// Whether people sleep: nothing happens but faults, and time.
    private var isNight = false

    /// Plans a night of some minutes, and the next evening.
    private func evening() {
        world.after(.seconds(300 + Int64(requestRandom.next() % 900))) { [self] in
            world.trace("night")
            isNight = true
            world.after(.seconds(200 + Int64(requestRandom.next() % 400))) { [self] in
                world.trace("morning")
                isNight = false
                evening()
            }
        }
    }

    /// Sends several commands to a tag at once, as an automation does, and plans the next time. The tag may answer one of them with
    /// a fault.
    private func scene() {
        world.after(.seconds(Int64(requestRandom.next() % 90))) { [self] in
            defer { scene() }
            guard !isNight else { return }
            let tag = world.tags[Int(requestRandom.next() % UInt64(world.tags.count))]
            if requestRandom.next() % 2 == 0 { world.faults.disturbAnswer(of: tag, &requestRandom) }
            for _ in 0...requestRandom.next() % 4 {
                let row = Self.scenes[Int(requestRandom.next() % UInt64(Self.scenes.count))]
                commands += 1
                let payload = "{" + (row.payload.isEmpty ? "" : row.payload + ",") + "\"id\":\"c\(commands)\"}"
                send("jacquard/tag/\(tag.serial)/\(row.topic)", payload, id: "c\(commands)")
            }
        }
    }

    /// Commands of automations.
    static let scenes = table.filter { !$0.payload.contains("connect\"") }

    /// A bridge ends the link of a tag: with all faults, someone often touches the tag just then.
    func linkEnds(of tag: AirTag) {
        guard world.options.hasAllFaults, !isNight, requestRandom.next() % 3 == 0 else { return }
        world.after(.milliseconds(Int64(requestRandom.next() % 100))) { [self] in
            gestures += 1
            tag.make(Gesture.known[Int(requestRandom.next() % UInt64(Gesture.known.count))])
        }
    }

    private func plan(mean: Duration, _ body: @escaping @LoopActor () -> Void) {
        world.after(world.drawInterval(mean: mean)) { [self] in
            if !isNight { body() }
            plan(mean: mean, body)
        }
    }

    private func act(on tag: AirTag) {
        switch world.random.next() % 8 {
        case 0, 1: tag.execute(.battery(level: UInt8(world.random.next() % 101), isCharging: world.chance(0.3)))
        case 2: tag.execute(.detach)
        case 3, 4: tag.execute(.attach(SimulatedGear.all[Int(world.random.next() % UInt64(SimulatedGear.all.count))]))
        case 5:
            tag.execute(.sleep)
            world.after(world.drawInterval(mean: .seconds(120))) { tag.execute(.button) }
        case 6:
            let place = tag.place
            world.trace("\(tag.serial) walks away")
            tag.place = 1_000
            world.after(world.drawInterval(mean: .seconds(90))) { tag.place = place }
        default:
            // From one host to another.
            guard world.options.bridges > 1 else { return }
            tag.place = world.draw(.zero, .seconds(Int64(12 * (world.options.bridges - 1)))) / .seconds(1)
            world.trace("\(tag.serial) moves to \(Int(tag.place)) m")
        }
    }

    /// Commands with an `id` as their last key, which is added.
    private static let table: [(topic: String, payload: String)] = [
        ("led/set", #""state":"ON","flash":1"#), ("led/set", #""state":"OFF""#),
        ("led/set", ##""color":"#ff8800","pattern":"breathing","duration_ms":700"##),
        ("led/set", ##""color":"#00ff00","component":"gear""##), ("led/set", #""color":7"#),
        ("haptic/set", #""pattern":"sine_increase","on_ms":200,"off_ms":100,"amplitude":80,"repeat":2"#),
        ("name/set", #""name":"Sleeve""#), ("name/set", #""name":"Left""#), ("battery/get", ""), ("info/get", ""),
        ("rssi/get", ""), ("config/set", #""key":"sim","type":"uint32","value":7"#), ("config/get", #""key":"sim""#),
        ("touch_mode/set", #""touch_mode":"continuous""#), ("touch_mode/set", #""touch_mode":"gesture""#),
        ("touch_mode/set", #""touch_mode":"gesture""#), ("dance/set", #""x":1"#),
        ("connection/set", #""connection":"disconnect""#), ("connection/set", #""connection":"connect""#),
        ("led/set", #""state":"ON","ttl_ms":0"#), ("led/set", #""state":"ON","ttl_ms":60000"#),
    ]

    /// Requests to a bridge, with TAG for the serial of a tag.
    private static let requests: [(name: String, payload: String)] = [
        ("pair", #""serial":"TAG","timeout_s":10"#), ("scan", #""duration_s":20,"duplicates":true"#), ("tags", ""),
        ("scan", #""duration_s":5"#), ("health", ""), ("trace", #""count":100"#), ("metrics", ""), ("refresh", ""),
        ("gatt", #""tag":"TAG","duration_s":60"#), ("log", #""level":"info","duration_s":30"#),
        ("log", #""level":"info","past_s":60"#), ("log_level", #""level":"info""#),
    ]
    /// Source of the requests. Their own, so that a seed without them stays as it is.
    private lazy var requestRandom = SplitMix(seed: world.options.seed &* 0xD134_2543_DE82_EF95 &+ 3)

    /// Sends a request to a bridge, and plans the next one.
    private func request() {
        let seconds = Int64(requestRandom.next() % 60)
        world.after(.seconds(seconds)) { [self] in
            guard !isNight else { return request() }
            let host = world.hosts[Int(requestRandom.next() % UInt64(world.hosts.count))]
            let tag = world.tags[Int(requestRandom.next() % UInt64(world.tags.count))]
            let row = Self.requests[Int(requestRandom.next() % UInt64(Self.requests.count))]
            commands += 1
            let text = row.payload.split(separator: "TAG", omittingEmptySubsequences: false).joined(
                separator: tag.serial)
            let payload = "{" + (text.isEmpty ? "" : text + ",") + "\"id\":\"c\(commands)\"}"
            send("jacquard/bridge/\(host.instance)/request/\(row.name)", payload, id: "c\(commands)")
            request()
        }
    }

    /// The requests to pair tags that have lost a bond, by their `id`.
    private var repairs: [String: AirTag] = [:]

    /// Forgets a tag that has lost its bond with a host, and pairs it again, until that has succeeded.
    func repair(_ tag: AirTag, at host: BridgeHost) {
        guard tag.needsPairing else { return }
        let topic = "jacquard/bridge/\(host.instance)/request/"
        for host in world.hosts { host.process?.oracle.forgets(tag.serial) }
        commands += 1
        send(topic + "forget", "{\"tag\":\"\(tag.serial)\",\"id\":\"c\(commands)\"}", id: "c\(commands)")
        world.after(.seconds(10)) { [self] in
            guard !host.radio.bonds.contains(tag.address) else { return }
            commands += 1
            repairs["c\(commands)"] = tag
            let payload = "{\"serial\":\"\(tag.serial)\",\"timeout_s\":60,\"id\":\"c\(commands)\"}"
            send(topic + "pair", payload, id: "c\(commands)")
        }
        world.after(.seconds(100)) { [self] in repair(tag, at: host) }
    }

    /// A request has succeeded.
    func succeeded(_ id: String) {
        guard let tag = repairs.removeValue(forKey: id) else { return }
        tag.needsPairing = false
        tag.troubledUntil = world.now + .seconds(30)
        world.disturbed(tag)
    }

    private func command() {
        commands += 1
        let tag = world.tags[Int(world.random.next() % UInt64(world.tags.count))]
        let row = Self.table[Int(world.random.next() % UInt64(Self.table.count))]
        let id = "c\(commands)"
        let payload = "{" + (row.payload.isEmpty ? "" : row.payload + ",") + "\"id\":\"\(id)\"}"
        if row.payload.contains("disconnect") {
            held.insert(tag.serial)
            // A tag that is not wanted is wanted again soon.
            let wait = world.draw(.seconds(20), .seconds(60))
            // Sometimes at once, while its link ends.
            let isBrief = world.options.hasAllFaults && requestRandom.next() % 2 == 0
            let pause = isBrief ? .milliseconds(Int64(requestRandom.next() % 400)) : wait
            world.after(pause) { [self] in want(tag) }
        }
        send("jacquard/tag/\(tag.serial)/\(row.topic)", payload, id: id)
        // Several at once, as an automation does.
        if world.chance(0.2) { command() }
    }

    /// The tags that are not to be connected, unless the request was lost.
    private var held: Set<String> = []

    /// Whether a tag may have been disconnected by a command.
    func isHeld(_ tag: AirTag) -> Bool { held.contains(tag.serial) || tag.history.mayBeHeld(since: world.now) }

    private func want(_ tag: AirTag) {
        // A request that a bridge without a session does not receive is lost.
        guard world.hosts.allSatisfy({ world.broker.isConnected("jacquard-\($0.instance)") }) else {
            return world.after(.seconds(20)) { [self] in want(tag) }
        }
        send("jacquard/tag/\(tag.serial)/connection/set", "connect", id: nil)
        // Without a broker the request is lost, and comes again after the faults.
        if !world.faults.isActive {
            world.after(.seconds(15)) { [self] in
                held.remove(tag.serial)
                tag.history.heldUntil = world.now
            }
        }
    }

    /// Requests that all tags are connected, after a time with faults.
    func wantAll() {
        for tag in world.tags where held.contains(tag.serial) { want(tag) }
    }

    /// Sends a command to a tag, with an `id` as its last key.
    func command(_ tag: AirTag, _ topic: String, _ payload: String) {
        commands += 1
        send("jacquard/tag/\(tag.serial)/\(topic)", "{\(payload),\"id\":\"c\(commands)\"}", id: "c\(commands)")
    }

    /// Sends a command, and lets the oracle expect its result.
    func send(_ topic: String, _ payload: String, id: String?) {
        world.trace("command \(topic) \(payload)")
        let tag = world.tag(of: topic)
        let demand = Demand(topic, payload)
        if let tag {
            world.disturbed(tag)
            tag.history.sent(demand, at: world.now, isReceived: !world.faults.isActive)
        }
        if let id { world.oracle.sent(id, to: tag, demand) }
        world.broker.inject(MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce))
    }
}
