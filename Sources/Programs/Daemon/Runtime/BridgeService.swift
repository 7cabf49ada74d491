import Bluetooth
import Bridge
import Configuration
import Doctor
import EventLoop
import JacquardProtocol
import Logging
import MQTT
import Radios
import Tags
import Time

/// Connects the radio, the bridge and the broker: passes each event on to the next part, and makes no decisions.
///
/// Up: manager -> ``Bridge/BridgeState`` -> ``Bridge/Outbox`` -> client. Down: client -> ``Bridge/BridgeState`` ->
/// manager.
@LoopActor
final class BridgeService {
    let log: Logger
    let sink: LogTap
    let recentLog: RecentLog
    let central: any BridgeCentral
    let manager: TagManager
    /// Replaced when the settings of the broker connection change.
    var client: MQTTClient
    let store: TagStore
    let batteries: BatteryStore
    let runs: RunStore
    /// Records the events of tags; nil if it is off.
    let recorder: EventRecorder?
    let featureFiles = FeatureFiles()
    let doctor: HostDoctor
    private var machine: BridgeMachine
    /// The current configuration.
    var configuration: Settings
    var bridge: BridgeState
    /// Whether Bluetooth can be used.
    var centralState = CentralState.unknown
    var outbox = Outbox()
    /// The requests to answer when pairing or forgetting has ended.
    var pairings: [TagHandle: (token: UInt64, isCheck: Bool)] = [:]
    var departures: [TagHandle: UInt64] = [:]
    var life = TagLife()
    /// The tags whose gear was attached when an earlier process was killed, until their next report of gear.
    var doubtfulGear: Set<TagHandle> = []
    /// Set while the Bluetooth traffic of a tag is recorded.
    var tap: TrafficTap?
    var reconnects = -1
    private var isActing = false
    /// The memory of the last event's actions.
    private var unused = Effects()
    /// Actions that result from an action.
    private var waitingActions: [BridgeAction] = []
    private var hasWaitingActions = false
    /// Whether the service is stopping. A change of the broker connection in progress is then discarded.
    private(set) var isStopping = false
    /// The deadline of the bridge after the last event.
    private var bridgeDeadline: Instant?
    private lazy var bridgeTimer = LoopTimer { [unowned self] in
        handle(.deadlineReached)
    }
    private(set) lazy var metrics = MetricsWriter(log: log) { [unowned self] in
        bridge.metrics(measurement, at: .now)
    }
    /// Gives unused memory back to the system.
    private lazy var memoryTimer = LoopTimer { [unowned self] in machine.releaseMemory() }
    private lazy var healthTimer = LoopTimer { [unowned self] in measure() }

    /// How long a service that stops without a connection to the broker tries to make one; half of it if it never had one.
    private static let farewell = Duration.milliseconds(2_500)
    /// The interval of process measurements.
    private static let healthInterval = Duration.seconds(60)
    /// How long the start, or the connection of a tag, may go on to use memory: BlueZ's objects are read, and facts are
    /// published.
    static let settling = Duration.seconds(1)

    /// Creates the parts; nothing runs before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - store: the known tags, already read.
    ///   - batteries: the histories of their batteries, already read.
    ///   - recorder: records the events of tags; nil if it is off.
    ///   - runs: stores the instance names under which the bridge has run.
    ///   - former: the former instance names.
    ///   - doctor: examines the host.
    ///   - machine: the machine.
    ///   - boot: identifies this start.
    ///   - sink: the destination of log lines, with their level.
    ///   - recentLog: keeps the newest ones.
    init(
        _ configuration: Settings, store: TagStore, batteries: BatteryStore, recorder: EventRecorder?, runs: RunStore,
        former: [FormerInstance], doctor: HostDoctor, machine: BridgeMachine, boot: String, sink: LogTap,
        recentLog: RecentLog
    ) {
        self.sink = sink
        self.recentLog = recentLog
        self.store = store
        self.batteries = batteries
        self.runs = runs
        self.recorder = recorder
        self.doctor = doctor
        self.configuration = configuration
        log = Logger("daemon", to: sink)
        let records = configuration.records(of: store.tags).map(batteries.complete)
        bridge = BridgeState(
            configuration: configuration.bridgeConfiguration, records: records,
            earlier: EarlierRuns(
                instances: former, boots: runs.boots, places: runs.formerPlaces, areTagsKnown: store.isComplete,
                damage: store.damage, reassignedIDs: configuration.reassignedIDs(in: store.tags),
                linkedTags: Set(store.tags.values.filter { $0.link != nil }.map(\.id))),
            boot: boot, startedAt: .now)
        self.machine = machine
        central = machine.makeCentral(configuration, runs.proxyBonds, log.labelled("bluez"))
        central.switchedOff = runs.switchedOff.flatMap { BluetoothAddress($0) }
        central.formerLinks = Set(store.takeLinks().compactMap { BluetoothAddress($0) })
        central.onReset = { [runs] in await runs.reset($0?.description) }
        manager = TagManager(
            central: central, timing: configuration.timing, catalogue: configuration.catalogue,
            random: machine.random, log: log.labelled("jacquard"))
        manager.choosesRadio = central.radios != nil
        let linked = store.linkedWithGear()
        doubtfulGear = Set(bridge.knownTags.filter { linked.contains(StoredTag.Key($0.entry)) }.map(\.handle))
        client = Self.client(configuration, will: bridge.will, machine, log)
        let addresses = Dictionary(configuration.knownTags.map { ($0.entry.id, $0.address) }) { first, _ in first }
        for tag in bridge.knownTags {
            add(tag.handle, tag.entry, at: addresses[tag.entry.id] ?? nil)
            expect(tag.handle, at: store.tags[StoredTag.Key(tag.entry)]?.address)
        }
    }

    /// Adds a tag to the manager. One with an invalid serial, from an edited file, is ignored.
    func add(_ tag: TagHandle, _ entry: TagEntry, at address: BluetoothAddress?) {
        guard let serial = PairingSerial(entry.serial) else { return }
        manager.add(tag, TagIdentity(serial: serial, address: address))
    }

    /// Creates a client for the configured broker.
    func newClient() -> MQTTClient {
        Self.client(configuration, will: bridge.will, machine, log)
    }

    private static func client(
        _ configuration: Settings, will: Publication, _ machine: BridgeMachine, _ log: Logger
    ) -> MQTTClient {
        var settings = configuration.client(will: will)
        machine.configure(&settings)
        return MQTTClient(configuration: settings, log: log.labelled("mqtt"))
    }

    /// Registers the address of a tag's last connection.
    func expect(_ tag: TagHandle, at address: String?) {
        if let address = address.flatMap({ BluetoothAddress($0) }) { manager.expect(tag, at: address) }
    }

    /// Starts the service. Does not wait for the bus: one that hangs would delay the end of the process.
    ///
    /// The helper thread begins with what takes a round trip, the broker and the bus, while the loop writes the first facts.
    func start() {
        manager.onEvent = { [unowned self] in radioReported($0) }
        followRadios()
        follow(client)
        store.onChange = { [unowned self] in updateHealth() }
        metrics.onChange = { [unowned self] in updateHealth() }
        client.start()
        EventLoop.shared.begin {
            await self.central.start()
            self.memoryIsUnused(after: Self.settling)
            await self.askVersion()
        }
        EventLoop.shared.begin { await self.begin() }
    }

    /// Begins with the first event, before any other is delivered.
    private func begin() async {
        handle(.started)
        measure()
        metrics.follow(configuration.metrics)
        await runs.keepStart()
    }

    /// Passes the version of BlueZ to the bridge.
    private func askVersion() async {
        guard let version = await machine.bluezVersion() else { return }
        handle(.bluezVersion(version))
    }

    /// Stops the service: at most 4 s for the radio and its links and, at the same time, 4.5 s for the broker, which may have to be
    /// connected first, and for the state file.
    func stop() async {
        isStopping = true
        healthTimer.disarm()
        metrics.stop()
        // The signal may have been handled before gestures that have arrived earlier.
        central.deliverReceived()
        manager.onEvent = nil
        handle(.stopping)
        async let radio: Void = stopRadio()
        async let file: Void = store.finish()
        async let history: Void = batteries.finish()
        async let events: Void? = recorder?.finish()
        async let start: Void = runs.keepStart()
        // A broker that returns, or is back already, would keep `online` for good.
        let isKnown = reconnects >= 0
        await client.stop(reconnectingFor: isKnown ? Self.farewell : Self.farewell / 2)
        await file
        await history
        await events
        await start
        await radio
    }

    private func stopRadio() async {
        await central.stop(within: .seconds(3))
        // The next process uses the links that could not be ended in time.
        store.keepLinks(Set(central.remainingLinks.map(\.description)))
        await store.finish(within: .seconds(1))
    }

    /// Passes an event to the bridge and performs the resulting actions.
    func handle(_ event: BridgeEvent) {
        let now = Timestamp.now
        var effects = Effects()
        // Uses the memory of the last event again.
        swap(&effects, &unused)
        bridgeDeadline = Self.pass(event, to: &bridge, at: now, &effects)
        // Actions that result from an action are performed after the waiting ones, because their event came later.
        guard !isActing else {
            waitingActions += effects.actions
            hasWaitingActions = true
            return
        }
        isActing = true
        effects.takeEach { perform($0, at: now) }
        swap(&effects, &unused)
        while hasWaitingActions {
            let waiting = waitingActions
            (waitingActions, hasWaitingActions) = ([], false)
            for action in waiting { perform(action, at: now) }
        }
        isActing = false
        bridgeTimer.arm(at: bridgeDeadline)
    }

    /// One access to the bridge, which is checked at run time.
    ///
    /// - Returns: the bridge's deadline.
    private static func pass(
        _ event: BridgeEvent, to bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    ) -> Instant? {
        bridge.handle(event, at: now, &effects)
        return bridge.deadline
    }

    /// Gives unused memory back to the system after a pause: in a series of bursts it would be allocated again. While
    /// tags connect one after the other, this happens once in each pause.
    func memoryIsUnused(after pause: Duration) {
        if !memoryTimer.isArmed { memoryTimer.arm(after: pause) }
    }

    // MARK: Health

    /// The measurements of the process.
    var measurement: HealthMeasurement {
        HealthMeasurement(
            residentKilobytes: machine.residentKilobytes(),
            queued: outbox.queued,
            dropped: outbox.dropped.total,
            acknowledged: outbox.acknowledgements,
            isBrokerConnected: client.isConnected,
            brokerReconnects: max(0, reconnects),
            gestureDurations: outbox.gestureDurations,
            unwritable: [store.failure, metrics.failure].compactMap(\.self), abandoned: outbox.abandoned)
    }

    /// Reports a measurement between two regular ones: a file cannot be written or can be again, or there is a new connection
    /// to the broker.
    func updateHealth() {
        handle(.measured(measurement))
    }

    private func measure() {
        updateHealth()
        client.isIdentifierShared = bridge.isNameContested(at: .now)
        report(outbox.takeLosses())
        healthTimer.arm(at: .now + Self.healthInterval, accuracy: .seconds(5))
    }

    func report(_ losses: Outbox.Losses) {
        guard !losses.isEmpty else { return }
        for topic in losses.closing {
            log.warning(
                "message dropped: the broker closed two connections with it in flight", [(.topic, topic.shortened)])
        }
        let lost = losses.events.values.reduce(losses.results, +)
        if lost > 0 {
            log.warning("events or results were dropped; the broker did not take them in time", [(.count, "\(lost)")])
        }
        handle(.messagesLost(losses, bytes: outbox.sizes(of: losses.closing)))
    }
}
