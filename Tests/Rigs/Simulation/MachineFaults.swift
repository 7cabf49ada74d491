import EventLoop
import Time

/// Faults of the machine, the disk and a cluster of brokers. They are drawn from a source of their own, so that a seed without
/// them stays as it is.
@LoopActor
final class MachineFaults {
    private let world: World
    private let faults: Faults
    private var random: SplitMix

    init(_ world: World, _ faults: Faults) {
        self.world = world
        self.faults = faults
        random = SplitMix(seed: world.options.seed &* 0x2545_F491_4F6C_DD1D &+ 7)
    }

    private func draw(_ least: Duration, _ most: Duration) -> Duration {
        .microseconds(Int64.random(in: least.microseconds...most.microseconds, using: &random))
    }

    private func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    /// Begins a fault at about every second call.
    func playSometimes() {
        if draw(2) == 0 { play() }
    }

    private func play() {
        faults.begins()
        let host = world.hosts[draw(world.hosts.count)]
        let wait = draw(.milliseconds(5), draw(2) == 0 ? .seconds(6) : .seconds(100))
        switch draw(13) {
        case 0:
            faults.note("disk of \(host.instance) is full")
            host.fillDisk(true)
            faults.ends(after: wait) { host.fillDisk(false) }
        case 1:
            faults.note("kill \(host.instance) while it stops")
            host.restart(after: .seconds(1))
            let delay = draw(.zero, .seconds(3))
            world.after(delay) { host.kill(restartAfter: wait) }
            faults.outage(delay + wait + .seconds(6)) {}
        case 2:
            faults.note("adapter of \(host.instance) is unplugged")
            host.radio.unplug()
            faults.ends(after: wait) { host.radio.plug(isOther: false) }
        case 3:
            faults.note("adapter of \(host.instance) is replaced")
            host.radio.unplug()
            faults.ends(after: wait) { host.radio.plug(isOther: true) }
        case 4:
            faults.note("reload \(host.instance) with other settings, \(wait) before it gets the first ones back")
            host.reload { $0.drawSettings(&random) }
            faults.outage(wait + .seconds(5)) { host.reload { $0 = ConfigurationText() } }
        case 5:
            faults.note("reload \(host.instance) while it stops")
            host.restart(after: wait)
            host.reload { $0.drawSettings(&random) }
            faults.outage(wait + .seconds(6)) {}
        case 6:
            let damage = StateDamage.cut(StateDamage.files[draw(StateDamage.files.count)], draw(400))
            faults.note("kill \(host.instance), \(damage)")
            host.kill(restartAfter: wait, damage: damage)
            faults.outage(wait + .seconds(1)) {}
        case 7:
            let node = World.nodes[draw(World.nodes.count)]
            faults.note("\(node) ends")
            world.broker.stop(node: node)
            faults.outage(wait) { [self] in world.broker.start(node: node) }
        case 8:
            faults.note("another tag list of \(host.instance)")
            let tag = world.tags[draw(world.tags.count)]
            // The tag is gone by then.
            let wait = max(wait, .seconds(8))
            tag.troubledUntil = max(tag.troubledUntil, world.now + wait + .seconds(90))
            host.reload { $0.leftOut.insert(tag.number) }
            faults.ends(after: wait) { host.reload { $0.leftOut.remove(tag.number) } }
        case 9:
            let bonded = world.tags.filter { host.radio.bonds.contains($0.address) && !$0.needsPairing }
            guard !bonded.isEmpty else { return }
            let tag = bonded[draw(bonded.count)]
            faults.note("\(tag.serial) loses its bond with \(host.instance)")
            tag.bonds.remove(host.radio.number)
            tag.needsPairing = true
            tag.link?.drop(after: .zero)
            faults.ends(after: wait) { [self] in world.people.repair(tag, at: host) }
        case 10:
            faults.note("reload \(host.instance) during a reload")
            host.reload(naming: draw(world.options.tags))
            world.after(draw(.zero, .milliseconds(6))) { [self] in host.reload(naming: draw(world.options.tags)) }
            faults.ends(after: .seconds(1)) {}
        case 11:
            faults.note("network of \(host.instance) is cut")
            world.cutNetwork(of: host.instance, true)
            faults.outage(wait) { [self] in world.cutNetwork(of: host.instance, false) }
        default:
            faults.note("the clock is corrected again and again")
            for _ in 0..<4 {
                let change = draw(.zero, .seconds(400_000)) - .seconds(200_000)
                world.after(draw(.zero, .seconds(3))) { [self] in world.moveWallClock(by: change) }
            }
            faults.ends(after: .seconds(4)) {}
        }
    }
}

/// The configuration file of a simulated bridge.
struct ConfigurationText {
    /// Tags that are not listed.
    var leftOut: Set<Int> = []
    var keepAlive = 30
    var isAnnounced = true
    var logLevel: String?
    var ledSeconds = 10

    /// Draws settings that a reload takes.
    mutating func drawSettings(_ random: inout SplitMix) {
        keepAlive = [30, 20, 45][Int(random.next() % 3)]
        isAnnounced = random.next() % 2 == 0
        logLevel = [nil, "debug"][Int(random.next() % 2)]
        ledSeconds = [10, 3][Int(random.next() % 2)]
    }

    /// The lines before the list of tags.
    func lines(of instance: String, _ options: SimulationOptions) -> [String] {
        let level = logLevel ?? options.logLevel
        let more = options.sendsEveryCommand ? Self.everything : []
        guard options.hasAllFaults else {
            return more + ["instance: \(instance)", "mqtt:", "  host: broker", "log:", "  level: \(level)", "tags:"]
        }
        return more + [
            "instance: \(instance)", "mqtt:", "  hosts: [\(World.nodes.map { "\($0):1883" }.joined(separator: ", "))]",
            "  keepalive_s: \(keepAlive)", "log:", "  level: \(level)", "home_assistant:",
            "  discovery: \(isAnnounced)",
            "defaults:", "  led_on_s: \(ledSeconds)", "record:", "  hours: 1", "fleet:", "  watch: true", "reflexes:",
            "  - on: double_tap", "    do: led flash", "  - broker: lost", "    do: led flash", "tags:",
        ]
    }

    /// The settings for the commands of every kind, and for what is published besides.
    private static let everything = [
        "groups:", "  - {name: hall, tags: [0000, 0001, 9999]}",
        "gear:", "  - {vendor_id: 74-a8-ce-54, product_id: 8a-66-50-f4, product: Jacket}",
        "chords:", "  - {name: twice, of: [cover, cover], within_ms: 5000}",
        "  - {name: in_out, of: [brush_in, brush_out], exclusive: true}",
        "signals:", "  - {name: tea, led: {color: green, pattern: pulsing}, haptic: short, repeat: 2}",
        "presence:", "  away_after_s: 30", "slide:", "  enabled: true", "  idle_min: 1",
        "imu:", "  folder: imu", "  idle_s: 20", "raw: true",
    ]
}
