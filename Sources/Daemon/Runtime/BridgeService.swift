import BlueZ
import Bluetooth
import Bridge
import Configuration
import EventLoop
import Jacquard
import JacquardProtocol
import Logging
import MQTT
import Time

/// Joins the radio, the bridge and the broker: carries each event of one to the next, and decides nothing.
///
/// Up: manager -> ``Bridge/BridgeState`` -> ``Bridge/Outbox`` -> client. Down: client -> ``Bridge/BridgeState`` -> manager.
@LoopActor
final class BridgeService {
    let log: Logger
    let sink: any LogSink
    let central: BlueZCentral
    let manager: JacquardManager
    /// Another one when the broker is reached in another way.
    var client: MQTTClient
    let store: TagStore
    let runs: RunStore
    /// What the user has decided last.
    var configuration: Settings
    var bridge: BridgeState
    /// Whether Bluetooth can be used.
    var centralState = CentralState.unknown
    var outbox = Outbox()
    var registry = TagRegistry()
    /// Called when pairing or forgetting has ended.
    var pairings: [TagIdentity: (token: UInt64, tag: AdvertisedTag?)] = [:]
    var departures: [TagIdentity: UInt64] = [:]
    var candidates = PairingCandidates()
    var life = TagLife()
    var reconnects = -1
    private var actions: ArraySlice<BridgeAction> = []
    private var isActing = false
    /// Whether the end has begun: a change of the broker that is under way comes to nothing then.
    private(set) var isStopping = false
    private lazy var bridgeTimer = LoopTimer { [unowned self] in
        carryOut { bridge, now in bridge.deadlineReached(at: now) }
    }
    private(set) lazy var metrics = MetricsWriter(log: log) { [unowned self] in
        bridge.metrics(measurement, at: .now)
    }
    private lazy var healthTimer = LoopTimer { [unowned self] in measure() }

    /// How often the process measures itself.
    private static let healthInterval = Duration.seconds(60)

    /// Builds the parts; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: what the user has decided.
    ///   - store: the tags that are remembered, already read.
    ///   - runs: remembers the names under which the bridge has run.
    ///   - former: the names before the present one.
    ///   - busAddress: of the bus that BlueZ is on.
    ///   - boot: distinguishes this start from others.
    ///   - sink: where the program logs, and how much.
    init(
        _ configuration: Settings, store: TagStore, runs: RunStore, former: [FormerInstance], busAddress: String,
        boot: String, sink: any LogSink
    ) {
        self.sink = sink
        self.store = store
        self.runs = runs
        self.configuration = configuration
        log = Logger("daemon", to: sink)
        let records = configuration.records(of: store.tags)
        bridge = BridgeState(
            configuration: configuration.bridge, records: records,
            earlier: EarlierRuns(instances: former, areTagsKnown: store.isComplete), boot: boot, startedAt: .now)
        central = BlueZCentral(
            busAddress: busAddress, adapter: configuration.adapterChoice,
            resetAdapter: configuration.bluetooth.resetAdapter, log: log.labelled("bluez"))
        manager = JacquardManager(
            central: central, timing: configuration.timing, catalogue: configuration.catalogue,
            log: log.labelled("jacquard"))
        client = MQTTClient(configuration: configuration.client(will: bridge.will), log: log.labelled("mqtt"))
        for tag in configuration.knownTags {
            registry.add(tag.entry.id, serial: tag.entry.serial, address: tag.address)
        }
        for record in records {
            registry.add(record.id, serial: record.serial)
            expect(record)
        }
    }

    /// A tag was connected at its address before this run.
    func expect(_ record: TagRecord) {
        guard let identity = registry.identity(record.id),
            let address = record.address.flatMap({ BluetoothAddress($0) })
        else { return }
        manager.expect(identity, at: address)
    }

    /// Begins; returns when the bus has been asked for the first time.
    func start() async {
        manager.onEvent = { [unowned self] in handle($0) }
        client.onEvent = { [unowned self] in handle($0) }
        store.onChange = { [unowned self] in measureFiles() }
        metrics.onChange = { [unowned self] in measureFiles() }
        carryOut { bridge, now in bridge.start(at: now) }
        client.start()
        measure()
        metrics.follow(configuration.metrics)
        EventLoop.shared.begin { await self.askVersion() }
        await central.start()
    }

    /// The bus has no property with BlueZ's version; `bluetoothctl` prints it.
    private func askVersion() async {
        let output = await HelperThread.shared.run(.programs) { BlueZVersionCheck.probe() }
        guard let version = BlueZVersionCheck.version(in: output) else { return }
        carryOut { bridge, _ in bridge.bluez(version: version) }
    }

    /// Says goodbye on both sides: at most three seconds for the radio, and meanwhile two for the broker and the state file.
    func stop() async {
        isStopping = true
        healthTimer.disarm()
        metrics.stop()
        manager.onEvent = nil
        carryOut { bridge, now in bridge.stop(at: now) }
        async let radio: Void = central.stop()
        async let file: Void = store.finish()
        await client.stop()
        await file
        await radio
    }

    /// Lets the bridge take an event, and does what it wants done.
    func carryOut(_ event: (inout BridgeState, Moment) -> [BridgeAction]) {
        let now = Moment.now
        let due = event(&bridge, now)
        // What an action brings about at once comes behind the actions that are waiting, as it came behind their event.
        guard !isActing else { return actions += due }
        isActing = true
        for action in due { perform(action, at: now) }
        while let action = actions.popFirst() { perform(action, at: now) }
        isActing = false
        bridgeTimer.arm(at: bridge.deadline)
    }

    // MARK: Health

    /// What the process knows of itself.
    var measurement: HealthMeasurement {
        HealthMeasurement(
            residentKilobytes: ProcessMeasurement.residentKilobytes,
            queued: outbox.queued,
            dropped: outbox.dropped.total,
            acknowledged: outbox.acknowledgements,
            isBrokerConnected: client.isConnected,
            brokerReconnects: max(0, reconnects),
            unwritable: [store.failure, metrics.failure].compactMap(\.self))
    }

    /// Writing a file has begun to fail, or works again.
    private func measureFiles() {
        carryOut { bridge, now in bridge.measured(measurement, at: now) }
    }

    private func measure() {
        carryOut { bridge, now in bridge.measured(measurement, at: now) }
        reportLosses()
        healthTimer.arm(at: .now + Self.healthInterval, accuracy: .seconds(5))
    }

    func reportLosses() {
        let losses = outbox.takeLosses()
        guard !losses.isEmpty else { return }
        for topic in losses.closing {
            log.warning(
                "message dropped: the broker closed two connections with it in flight", [(.topic, topic.shortened)])
        }
        carryOut { bridge, now in bridge.lost(losses, at: now) }
    }
}

extension HelperThread.Concern {
    /// Programs that are run for their output.
    static let programs = HelperThread.Concern("programs")
}
