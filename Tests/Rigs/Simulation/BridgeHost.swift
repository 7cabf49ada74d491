import Daemon
import EventLoop
import FoundationEssentials
import Glibc
import Logging
import MQTT
import Text
import Time

/// A machine with a bridge: its radio, its disk and the process.
@LoopActor
final class BridgeHost {
    private let world: World
    let number: Int
    let radio: HostRadio
    private(set) var process: BridgeProcess?
    /// The disk at the next start: a killed process goes on to write to its own copy.
    private var generation = 0
    /// Tags that the configuration lists with another name than their own.
    private var namedTags: Set<Int> = []
    private var configuration = ConfigurationText()
    private(set) var isDiskFull = false
    /// When the disk was last full.
    private(set) var diskFreeSince = Instant(sinceBoot: .zero)

    init(_ world: World, number: Int, radio: HostRadio) {
        self.world = world
        self.number = number
        self.radio = radio
        attempt { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        writeConfiguration()
    }

    /// The name of the bridge in topics.
    var instance: String { "b\(number)" }
    private var folder: String { "\(world.folder)/\(number)" }
    private var file: String { "\(folder)/config.yaml" }
    /// The state folder of the current process.
    var state: String { "\(folder)/state\(generation)" }

    /// Whether its bridge has connected a tag.
    func isLinked(_ tag: AirTag) -> Bool { process?.central?.isLinked(tag) ?? false }

    /// Starts the process; does nothing while there is one.
    func start() {
        guard process == nil else { return }
        world.trace("\(instance) starts")
        world.disturbed()
        process = BridgeProcess(world, self)
        process?.start(file)
    }

    /// Stops the process as SIGTERM does, and starts it again after a time.
    func restart(after wait: Duration) {
        guard let process, process.isRunning else { return }
        world.trace("\(instance) stops")
        process.stop { [self] in
            self.process = nil
            world.disturbed()
            world.after(wait) { [self] in start() }
        }
    }

    /// Kills the process, and starts it again after a time.
    func kill(restartAfter wait: Duration, damage: StateDamage = .none) {
        guard let process else { return }
        world.trace("\(instance) is killed, \(damage)")
        world.disturbed()
        process.kill()
        self.process = nil
        let old = state
        emptyDisk()
        generation += 1
        // A process that is killed at its start has none.
        if FileManager.default.fileExists(atPath: old) {
            attempt {
                try FileManager.default.copyItem(atPath: old, toPath: state)
                try damage.apply(to: state)
            }
        }
        if isDiskFull { fillDisk(true) }
        world.after(wait) { [self] in start() }
    }

    /// Lets every attempt to write a file of the state fail, or succeed again: a folder is in the place of the new file.
    func fillDisk(_ isFull: Bool) {
        emptyDisk()
        (isDiskFull, diskFreeSince) = (isFull, world.now)
        guard isFull, FileManager.default.fileExists(atPath: state) else { return }
        for file in StateDamage.files {
            attempt {
                try FileManager.default.createDirectory(
                    atPath: "\(state)/\(file).new", withIntermediateDirectories: false)
            }
        }
    }

    private func emptyDisk() {
        for file in StateDamage.files { rmdir("\(state)/\(file).new") }
    }

    /// Changes the configuration, and reads it again as at SIGHUP.
    func reload(_ change: (inout ConfigurationText) -> Void) {
        change(&configuration)
        world.trace("\(instance) reloads")
        world.disturbed()
        writeConfiguration()
        process?.reload()
    }

    /// Changes the configuration of a tag, and reads it again as at SIGHUP.
    ///
    /// - Parameter tag: the number of the tag that gets a name in the configuration, or loses it.
    func reload(naming tag: Int) {
        namedTags.formSymmetricDifference([tag])
        world.trace("\(instance) reloads")
        world.disturbed()
        writeConfiguration()
        process?.reload()
    }

    /// The name of a tag in the configuration; nil: none.
    func configuredName(of tag: Int) -> String? { namedTags.contains(tag) ? "Sleeve \(tag)" : nil }

    /// Whether the configuration lists a tag.
    func lists(_ tag: AirTag) -> Bool { !configuration.leftOut.contains(tag.number) }

    /// The configuration file.
    var configurationText: String {
        var lines = configuration.lines(of: instance, world.options)
        for number in 0..<world.options.tags where !configuration.leftOut.contains(number) {
            lines.append("  - serial: \"\(String(10_000 + number).dropFirst())\"")
            if let name = configuredName(of: number) { lines.append("    name: \(name)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func writeConfiguration() {
        attempt { try configurationText.write(toFile: file, atomically: false, encoding: .utf8) }
    }

    /// Changes files of the host. An error is one of the machine that simulates: it ends the program.
    private func attempt(_ change: () throws -> Void) {
        do {
            try change()
        } catch {
            Enclosure.complain("seed \(world.options.seed): \(error)")
            exit(1)
        }
    }
}

/// The damage of a crash of the machine to the state folder.
enum StateDamage: CaseIterable {
    case none, tornTags, noTags, tornBatteries
    /// A file ends after so many bytes.
    case cut(String, Int)

    static let allCases = [none, tornTags, noTags, tornBatteries]
    /// The files that are written as a whole.
    static let files = ["tags.json", "batteries.json", "runs.json"]

    func apply(to folder: String) throws {
        let (name, length): (String, UInt64) =
            switch self {
            case .none: ("", 0)
            case .tornTags: ("tags.json", 40)
            case .noTags: ("tags.json", 0)
            case .tornBatteries: ("batteries.json", 10)
            case .cut(let name, let length): (name, UInt64(length))
            }
        guard !name.isEmpty, let file = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return }
        try file.prefix(Int(length)).write(to: URL(filePath: "\(folder)/\(name)"))
    }
}

/// One process of a bridge.
@LoopActor
final class BridgeProcess {
    private let world: World
    private unowned let host: BridgeHost
    /// The number of its bridge.
    var number: Int { host.number }
    /// The name of its bridge in topics.
    let instance: String
    let oracle: ProcessOracle
    /// Its state folder.
    private let state: String
    var links: [WeakLink] = []
    /// The number of messages that it has submitted at one time.
    var turn = (at: Instant(sinceBoot: .zero), messages: 0)
    private(set) var central: SimulatedCentral?
    private var bridge: RunningBridge?
    /// Whether the process was killed: nothing that it does has an effect.
    private(set) var isDead = false
    private(set) var isStopping = false
    /// Whether it was stopped without a connection to the broker: what waits for one is lost.
    private(set) var hasStoppedAlone = false
    private(set) var startedAt: Instant

    init(_ world: World, _ host: BridgeHost) {
        self.world = world
        self.host = host
        startedAt = world.now
        instance = host.instance
        state = host.state
        oracle = ProcessOracle(world, bridge: host.instance)
    }

    /// Whether the process is started and neither stopping nor killed.
    var isRunning: Bool { bridge != nil && !isDead && !isStopping }

    /// The number of messages that wait for the broker.
    var queued: Int { bridge?.queued ?? 0 }

    /// The sizes of its objects.
    var contents: [String: Int] { bridge.map { ContentCount(of: $0).sizes } ?? [:] }

    func start(_ file: String) {
        let sink = TraceSink(world, host.instance, oracle)
        let machine = machine()
        EventLoop.shared.begin { [self] in
            let bridge = await RunningBridge.start(file, state: state, on: machine, logTo: sink)
            guard !isDead else {
                await bridge?.stop()
                return removeState()
            }
            guard let bridge else { return world.fail("the configuration is not taken") }
            self.bridge = bridge
            bridge.acceptReloads()
        }
    }

    func stop(then next: @escaping @LoopActor () -> Void) {
        guard let bridge, !isStopping else { return }
        isStopping = true
        let begun = world.now
        hasStoppedAlone = !world.hasBroker(host.instance)
        let hadBroker = world.hasBroker(host.instance) && !world.faults.hadBrokerOutage(within: .seconds(60))
        EventLoop.shared.begin { [self] in
            bridge.refuseReloads()
            await bridge.stop()
            guard !isDead else { return removeState() }
            if world.now - begun > .seconds(5) { world.oracle.violated("a stop took \(world.now - begun)") }
            // A node of the broker that ends during the stop takes the connection away, and there is no further one.
            let hasLostBroker = world.faults.brokerOutages(since: begun) > 1
            if hasLostBroker { hasStoppedAlone = true }
            if hadBroker, world.isBrokerOpen, !hasLostBroker {
                oracle.stopped()
                world.oracle.stopped(self)
            }
            self.bridge = nil
            next()
        }
    }

    func reload() {
        bridge?.readConfiguration()
    }

    /// Cuts everything outside off, then ends the objects.
    func kill() {
        isDead = true
        central?.kill()
        for link in links { link.link?.kill() }
        guard let bridge, !isStopping else { return }
        self.bridge = nil
        EventLoop.shared.begin { [self] in
            bridge.refuseReloads()
            await bridge.stop()
            removeState()
        }
    }

    /// A killed process has ended: the next one has its own copy of the state.
    private func removeState() {
        try? FileManager.default.removeItem(atPath: state)
    }

    private func machine() -> BridgeMachine {
        BridgeMachine(
            makeCentral: { [unowned self] _, _, _ in
                let central = SimulatedCentral(world, host.radio, self)
                self.central = central
                return central
            },
            configure: { [unowned self, world] configuration in
                configuration.random = {
                    LoopActor.assumeIsolated(world) { Double.random(in: 0..<1, using: &$0.random) }
                }
                configuration.makeLink = { [weak self, world] configuration, plan throws(MQTTError) in
                    guard let self else { throw MQTTError(.stopped, "the process has ended") }
                    return SimulatedBrokerLink(world, self, configuration, plan)
                }
            },
            residentKilobytes: { 10_000 }, releaseMemory: {}, bluezVersion: { "5.66" },
            random: SplitMix(seed: world.random.next()))
    }
}

/// Writes the log of a process to the trace.
final class TraceSink: LogSink, @unchecked Sendable {
    private let world: World
    private let name: String
    private let oracle: ProcessOracle
    /// Only the loop's thread exists.
    var level: LogLevel

    init(_ world: World, _ name: String, _ oracle: ProcessOracle) {
        self.world = world
        self.name = name
        self.oracle = oracle
        level = .info
    }

    func write(_ record: LogRecord) {
        LoopActor.assumeIsolated((world, "\(name) log \(record.level) \(record.line)")) { $0.trace($1) }
        let isRemoved = record.message == "a tag was removed from the configuration"
        guard isRemoved || record.message == "a tag is listed",
            let tag = record.metadata.first(where: { $0.key == .tag })?.value
        else { return }
        LoopActor.assumeIsolated((oracle, tag)) { $0.listChanged($1, isRemoved: isRemoved) }
    }
}
