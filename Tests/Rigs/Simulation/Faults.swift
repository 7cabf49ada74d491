import EventLoop
import TagFirmware
import Time

/// Faults, alone and in pairs, in periods between which all is well.
@LoopActor
final class Faults {
    private let world: World
    private lazy var machine = MachineFaults(world, self)
    private(set) var count = 0
    /// The faults that have not ended.
    private var active = 0
    private var isQuiet = true
    /// When the last fault began or ended.
    private(set) var lastChange: Instant?
    /// The times without a broker.
    private(set) var brokerOutages: [Range<Instant>] = []

    init(_ world: World) {
        self.world = world
    }

    /// Whether a fault lasts, or others follow.
    var isActive: Bool { active > 0 || !isQuiet }

    /// The number of times without a broker that have begun since an instant; a stop counts as one.
    func brokerOutages(since instant: Instant) -> Int { brokerOutages.count { $0.lowerBound >= instant } }

    /// Whether the broker was not reachable in the last time, apart from the restart that begins now.
    func hadBrokerOutage(within limit: Duration) -> Bool {
        brokerOutages.contains { $0.upperBound > world.now - limit && $0.lowerBound < world.now }
    }

    func begin() {
        world.after(world.draw(.seconds(60), .seconds(180))) { [self] in
            isQuiet = false
            next()
            world.after(world.draw(.seconds(120), .seconds(900))) { [self] in
                isQuiet = true
                // All faults end within two minutes.
                world.after(.seconds(130)) { [self] in
                    world.people.wantAll()
                    world.after(.seconds(240)) { [self] in begin() }
                }
            }
        }
    }

    private func next() {
        guard !isQuiet else { return }
        play()
        if world.options.hasAllFaults { machine.playSometimes() }
        // A second one at about the same time finds what one alone does not.
        if world.chance(0.4) { world.after(world.draw(.zero, .seconds(3))) { [self] in if !isQuiet { play() } } }
        world.after(world.drawInterval(mean: world.options.faultInterval / 2)) { [self] in next() }
    }

    /// Counts a fault.
    func begins() {
        count += 1
        changed()
    }

    /// Begins a fault that ends after a time.
    private func play() {
        begins()
        let host = world.hosts[Int(world.random.next() % UInt64(world.hosts.count))]
        let tag = world.tags[Int(world.random.next() % UInt64(world.tags.count))]
        let least: Duration = world.chance(0.5) ? .milliseconds(5) : .seconds(5)
        let wait = world.draw(least, world.chance(0.5) ? .seconds(6) : .seconds(100))
        switch world.random.next() % 22 {
        case 0:
            note("broker stops, persistent")
            stopBroker(isPersistent: true, wait)
        case 1:
            note("broker stops, not persistent")
            stopBroker(isPersistent: false, wait)
        case 2:
            note("broker stalls")
            world.broker.stall(true)
            outage(wait) { [self] in world.broker.stall(false) }
        case 3:
            note("network is cut")
            world.cutNetwork(true)
            outage(wait) { [self] in world.cutNetwork(false) }
        case 4:
            note("broker closes \(host.instance)")
            world.broker.kick("jacquard-\(host.instance)")
            outage(.seconds(5)) {}
        case 5:
            note("broker refuses")
            world.broker.refusal = [0x87, 0x88, 0x97, 0x86][Int(world.random.next() % 4)]
            world.broker.kick("jacquard-\(host.instance)")
            outage(wait) { [self] in world.broker.refusal = nil }
        case 6:
            note("resolver fails")
            world.isResolverDown = true
            world.broker.kick("jacquard-\(host.instance)")
            outage(wait) { [self] in world.isResolverDown = false }
        case 7, 8:
            note("kill \(host.instance)")
            host.kill(restartAfter: wait)
            outage(wait + .seconds(1)) {}
        case 9:
            note("kill \(host.instance), damaged state")
            let damage = StateDamage.allCases[Int(world.random.next() % UInt64(StateDamage.allCases.count))]
            host.kill(restartAfter: wait, damage: damage)
            outage(wait + .seconds(1)) {}
        case 10, 11:
            note("restart \(host.instance)")
            host.restart(after: wait)
            outage(wait + .seconds(6)) {}
        case 12:
            note("adapter of \(host.instance) off")
            host.radio.setPowered(false)
            ends(after: wait) { host.radio.setPowered(true) }
        case 13:
            note("bluetoothd of \(host.instance) ends")
            host.radio.setDaemon(isUp: false)
            ends(after: wait) { host.radio.setDaemon(isUp: true) }
        case 14:
            note("requests of \(host.instance) fail")
            host.radio.faultRate = world.chance(0.5) ? 0.1 : 0.5
            ends(after: wait) { [self] in
                host.radio.faultRate = 0
                host.radio.troubledUntil = world.now + Self.recovery
            }
        case 15:
            note("\(tag.serial) loses power")
            tag.setPower(false)
            ends(after: wait) { tag.setPower(true) }
        case 16:
            let fault = Self.answers[Int(world.random.next() % UInt64(Self.answers.count))]
            note("\(tag.serial) answers: \(fault)")
            tag.execute(.fault(fault, isOnce: world.chance(0.5)))
            let end = world.now + wait + Self.recovery
            tag.troubledUntil = max(tag.troubledUntil, end)
            if Self.garbling.contains(fault) { tag.garbledUntil = end }
            ends(after: wait) { tag.endFault() }
        case 17:
            note("reload \(host.instance)")
            host.reload(naming: Int(world.random.next() % UInt64(world.options.tags)))
            ends(after: .seconds(1)) {}
        case 18:
            note("\(tag.serial) loses its link")
            tag.link?.drop(after: .zero)
            ends(after: .seconds(1)) {}
        case 19:
            note("another program of \(host.instance) connects \(tag.serial)")
            let end = host.radio.connectElsewhere(tag)
            ends(after: wait, end)
        case 20:
            note("broker knows MQTT 3.1.1 only")
            world.broker.refusesVersion5 = true
            world.broker.kick("jacquard-\(host.instance)")
            outage(wait) { [self] in world.broker.refusesVersion5 = false }
        default:
            let change = world.draw(.seconds(1), .seconds(100_000))
            note("time of day moves by \(change)")
            world.moveWallClock(by: world.chance(0.5) ? change : .zero - change)
            ends(after: .seconds(1)) {}
        }
    }

    /// The longest time after a fault of requests or responses until the timeouts of the bridge are over.
    private static let recovery = Duration.seconds(60)

    /// A tag answers its next request with a fault, which ends after a few seconds in any case. It is a fault of this tag only: all
    /// else is well, unless other faults last.
    func disturbAnswer(of tag: AirTag, _ random: inout SplitMix) {
        guard tag.troubledUntil < world.now else { return }
        count += 1
        var fault = Self.answers[Int(random.next() % UInt64(Self.answers.count - 1))]
        // Near the timeout of a request, so that the next one is in flight.
        if case .delay = fault, random.next() % 4 != 0 {
            fault = .delay(.milliseconds(7_900 + Int64(random.next() % 500)))
        }
        note("\(tag.serial) answers once: \(fault)")
        tag.execute(.fault(fault, isOnce: true))
        tag.troubledUntil = world.now + Self.recoveryOfRequest
        if Self.garbling.contains(fault) { tag.garbledUntil = tag.troubledUntil }
        let end = tag.troubledUntil
        // Another fault may have begun.
        world.after(.seconds(3)) { if tag.troubledUntil == end { tag.endFault() } }
    }

    /// The longest time after a single fault of a response until the bridge knows what it needs: the timeouts of the request and of
    /// those before it.
    private static let recoveryOfRequest = Duration.seconds(40)

    /// The faults after which a response lacks what was requested.
    private static let garbling: [FirmwareFaults.AnswerFault] = [.malformed, .truncated, .noBody]

    /// The last one ends with the fault only.
    private static let answers: [FirmwareFaults.AnswerFault] = [
        .drop, .delay(.milliseconds(700)), .delay(.seconds(9)), .double, .wrongID, .status(3), .malformed, .truncated,
        .noBody, .lostFragment, .hang,
    ]

    func note(_ text: String) {
        world.trace("FAULT \(text)")
    }

    private func changed() {
        lastChange = world.now
        world.disturbed()
    }

    func ends(after wait: Duration, _ body: @escaping @LoopActor () -> Void) {
        active += 1
        world.after(wait) { [self] in
            active -= 1
            world.trace("fault ends")
            changed()
            body()
        }
    }

    /// A fault during which the broker is not reachable.
    func outage(_ wait: Duration, _ body: @escaping @LoopActor () -> Void) {
        brokerOutages.append(world.now..<(world.now + wait + .seconds(40)))
        if brokerOutages.count > 100 { brokerOutages.removeFirst(50) }
        ends(after: wait, body)
    }

    private func stopBroker(isPersistent: Bool, _ wait: Duration) {
        world.broker.isPersistent = isPersistent
        world.broker.stop()
        outage(wait) { [self] in world.broker.start() }
    }
}
