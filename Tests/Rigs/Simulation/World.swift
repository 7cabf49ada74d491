import Bluetooth
import EventLoop
import JacquardProtocol
import Time

/// A simulation: bridges, tags, a broker, people and faults, all drawn from one seed.
@LoopActor
final class World {
    let options: SimulationOptions
    private let time: VirtualTime
    /// Source of what people, radio and network do.
    var random: SplitMix
    let folder: String
    private(set) lazy var broker = SimulatedBroker(self)
    private(set) lazy var oracle = Oracle(self)
    private(set) lazy var people = People(self)
    private(set) lazy var faults = Faults(self)
    private lazy var lostAnswers = LostAnswers(self)
    private lazy var everyCommand = EveryCommand(self)
    /// The plan of a run that real programs can play, too; nil for other runs.
    private(set) var schedule: Schedule?
    private(set) var tags: [AirTag] = []
    private(set) var hosts: [BridgeHost] = []
    private var radios: [HostRadio] = []
    private var tagsByAddress: [BluetoothAddress: AirTag] = [:]
    private var tagsBySerial: [String: AirTag] = [:]
    /// Whether packets between the bridges and the broker get lost.
    private(set) var isNetworkCut = false
    /// The bridges whose own network is cut.
    private(set) var cutBridges: Set<String> = []
    /// Whether names are not resolved.
    var isResolverDown = false
    /// When something has happened last that facts of no certain tag follow.
    private(set) var lastDisturbance = Instant(sinceBoot: .zero)
    let started: Instant
    private var history: [String] = []
    private var violation: String?

    init(_ options: SimulationOptions, _ time: VirtualTime, folder: String) {
        self.options = options
        self.time = time
        self.folder = folder
        random = SplitMix(seed: options.seed &* 0x9E37_79B9 &+ 1)
        started = time.now
        time.isHelpLate = options.hasAllFaults
    }

    // MARK: Time

    var now: Instant { time.now }
    /// The number of armed timers and scheduled events.
    var scheduled: Int { time.scheduled }
    /// Moves the time of day.
    func moveWallClock(by change: Duration) {
        time.unixMilliseconds += change.milliseconds
    }

    func after(_ wait: Duration, _ body: @escaping @LoopActor () -> Void) {
        time.call(after: wait, body)
    }

    func at(_ instant: Instant, _ body: @escaping @LoopActor () -> Void) {
        time.call(after: instant - time.now, body)
    }

    func pause(_ wait: Duration) async {
        await withCheckedContinuation { continuation in after(wait) { continuation.resume() } }
    }

    /// Draws a time between two limits.
    func draw(_ least: Duration, _ most: Duration) -> Duration {
        .microseconds(Int64.random(in: least.microseconds...most.microseconds, using: &random))
    }

    /// Draws a time with this mean, as between independent events.
    func drawInterval(mean: Duration) -> Duration {
        let unit = Double(random.next() >> 11) / 9_007_199_254_740_992
        return mean * -Self.logarithm(1 - unit)
    }

    /// The natural logarithm of a positive number. That of the C library differs in its last bit from machine to machine.
    private static func logarithm(_ number: Double) -> Double {
        let ratio = (number.significand - 1) / (number.significand + 1)
        // The significand is below 2, the ratio below 1/3, and the first term that is left out below the last bit.
        var (sum, power) = (0.0, ratio)
        for divisor in stride(from: 1.0, to: 37, by: 2) {
            sum += power / divisor
            power *= ratio * ratio
        }
        return Double(number.exponent) * 0.693_147_180_559_945_3 + 2 * sum
    }

    /// Draws whether an event of this probability happens.
    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

    // MARK: Air

    /// Returns the tag that a topic names.
    func tag(of topic: String) -> AirTag? {
        guard topic.hasPrefix(Self.tagTopics), let serial = Self.serial(of: topic) else { return nil }
        return tagsBySerial[serial]
    }

    private static let tagTopics = "jacquard/tag/"

    /// Returns the level of a tag's topic that names the tag; nil for a shorter topic.
    static func serial(of topic: String) -> String? {
        let bytes = topic.utf8.dropFirst(tagTopics.utf8.count)
        return bytes.firstIndex(of: UInt8(ascii: "/")).flatMap { String(bytes[..<$0]) }
    }

    func tag(at address: BluetoothAddress) -> AirTag? { tagsByAddress[address] }

    /// The place, the power or the advertisement of a tag has changed.
    func tagChanged(_ tag: AirTag) {
        disturbed(tag)
        tag.link?.placeChanged()
        for radio in radios {
            for client in radio.clients { client.airChanged() }
        }
    }

    static func uuid(_ channel: TagCharacteristic) -> BluetoothUUID {
        guard let uuid = uuids[channel] else { preconditionFailure("no UUID of \(channel)") }
        return uuid
    }

    static func channel(_ uuid: BluetoothUUID) -> TagCharacteristic? {
        TagCharacteristic.allCases.first { uuids[$0] == uuid }
    }

    private static let uuids: [TagCharacteristic: BluetoothUUID] = Dictionary(
        uniqueKeysWithValues: TagCharacteristic.allCases.compactMap { channel in
            BluetoothUUID(channel.uuid).map { (channel, $0) }
        })

    // MARK: Network

    /// The nodes of the broker, if there are several.
    nonisolated static let nodes = ["node-1", "node-2"]

    /// Whether messages of a bridge reach the broker.
    func hasBroker(_ instance: String) -> Bool {
        broker.isUp && !broker.isStalled && !isNetworkCut && !cutBridges.contains(instance)
            && broker.isConnected("jacquard-\(instance)")
    }

    /// Whether the broker accepts connections of bridges.
    var isBrokerOpen: Bool {
        broker.isUp && !broker.isStalled && !isNetworkCut && !isResolverDown && broker.refusal == nil
            && broker.hasAllNodes
    }

    func cutNetwork(_ isCut: Bool) {
        isNetworkCut = isCut
        if !isCut { broker.networkIsBack() }
    }

    /// Cuts the network of one bridge: the others don't notice it before its will.
    func cutNetwork(of bridge: String, _ isCut: Bool) {
        if isCut { cutBridges.insert(bridge) } else { cutBridges.remove(bridge) }
        if !isCut { broker.networkIsBack() }
    }

    // MARK: Trace

    /// Something has happened that facts may follow.
    ///
    /// - Parameter tag: the tag whose facts they are; nil: any facts.
    func disturbed(_ tag: AirTag? = nil) {
        if let tag { tag.lastDisturbance = now } else { lastDisturbance = now }
        oracle.happened()
    }

    private var timeText: String {
        let milliseconds = (now - started).milliseconds
        return "\(milliseconds / 1_000).\(String(1_000 + milliseconds % 1_000).dropFirst())"
    }

    /// Notes an event.
    func trace(_ event: @autoclosure () -> String) {
        guard options.isTracing || options.keepsHistory else { return }
        let line = "\(timeText) \(event())"
        if options.isTracing { print(line) }
        history.append(line)
        if history.count > 200 { history.removeFirst(100) }
    }

    /// Ends the run with a violation: the first one counts.
    func fail(_ text: String) {
        // Nothing knows what the other commands have changed.
        guard violation == nil, !options.sendsEveryCommand else { return }
        violation = "\(timeText) \(text)"
        EventLoop.shared.stop()
    }

    // MARK: Run

    /// Creates everything, and plays until the time is over.
    func begin() {
        for number in 0..<options.bridges {
            if radios.isEmpty || !options.sharesAdapter {
                radios.append(HostRadio(self, number: number, place: Double(number) * 12))
            }
            hosts.append(BridgeHost(self, number: number, radio: radios[radios.count - 1]))
        }
        for number in 0..<options.tags {
            guard let serial = PairingSerial("00" + Self.letters[number / 10] + Self.letters[number % 10]),
                let address = BluetoothAddress(
                    "F0:00:00:00:00:" + Self.letters[number / 10] + Self.letters[number % 10])
            else { continue }
            // Between two hosts, both receive a tag.
            let place = draw(.zero, .seconds(Int64(12 * max(1, options.bridges - 1)))) / .seconds(1)
            let tag = AirTag(self, number: number, address: address, serial: serial, place: place)
            tags.append(tag)
            tagsByAddress[address] = tag
            tagsBySerial[tag.serial] = tag
        }
        for host in hosts { host.start() }
        if options.isScheduled { schedule = Schedule(self) }
        if let schedule { schedule.begin() } else { people.begin() }
        oracle.begin()
        if options.hasFaults, schedule == nil { faults.begin() }
        if options.losesAnswers { lostAnswers.begin() }
        if options.sendsEveryCommand { everyCommand.begin() }
        after(options.duration) { [self] in
            oracle.finish()
            EventLoop.shared.stop()
        }
    }

    private static let letters = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]

    /// Whether something was violated, and the run has to be repeated to print what came before.
    var needsHistory: Bool { violation != nil && !options.keepsHistory }

    /// Prints the result.
    ///
    /// - Returns: whether nothing was violated.
    func report() -> Bool {
        let counts = "\(people.gestures) gestures, \(people.commands) commands, \(faults.count) faults"
        let seconds = (now - started).components.seconds
        print("seed \(options.seed): \(seconds) s of simulated time, \(counts), \(oracle.checks) checks of all facts")
        guard let violation else { return true }
        history.suffix(50).forEach { print("  \($0)") }
        print("seed \(options.seed): VIOLATED at \(violation)")
        return false
    }
}
