public import Bluetooth
import DBus
public import EventLoop
public import Logging
import Time

/// A central that uses one adapter of BlueZ through `org.bluez`.
///
/// It keeps a copy of BlueZ's objects, updated by their signals. When bluetoothd or the bus ends, it reports every link
/// as lost; when the service is back, it reads all objects again. Every call has a deadline.
@LoopActor
public final class BlueZCentral: Central {
    /// The event handler.
    public var onEvent: ((CentralEvent) -> Void)?
    /// Called with each request before it is performed; nil unless the traffic is recorded.
    public var onRequest: ((CentralRequest) -> Void)?

    let log: Logger
    let choice: AdapterChoice
    let mayResetAdapter: Bool
    let busAddress: String
    let timing: Timing

    // The bus and the service on it.
    var bus: DBusConnection?
    var subscriptions: [DBusSubscription] = []
    var reopenings: Backoff
    lazy var reopenTimer = LoopTimer { [unowned self] in
        EventLoop.shared.begin { await self.open() }
    }
    var owner: String?
    var loadings: Backoff
    lazy var loadTimer = LoopTimer { [unowned self] in load() }
    /// Whether ``tree`` contains BlueZ's objects. Signals that arrive earlier are about objects that are not read yet.
    var isLoaded = false
    var tree = ObjectTree()
    private(set) var isStopped = false

    // The adapter.
    /// The path of the adapter in use; nil while there is none.
    var adapter: String?
    /// The name of the adapter in use, such as `hci0`; nil while there is none.
    public var adapterID: String? { adapter.map(Self.name) }
    var adapters: [Adapter]?
    var state = CentralState.unknown
    /// The adapter that this central has switched off, until it is on again.
    var resetting: String?
    /// The address of the adapter that this central, or one of an earlier process, has switched off to reset it. Set it
    /// before ``start()`` to the last value of ``onReset``: the adapter is then switched on.
    public var switchedOff: BluetoothAddress?
    /// Called and awaited before an adapter is switched off to reset it, and called with nil when it is on again.
    public var onReset: (@LoopActor (BluetoothAddress?) async -> Void)?
    var resettings: Backoff
    lazy var resetTimer = LoopTimer { [unowned self] in finishReset() }

    // Links.
    var peripherals: [BluetoothAddress: Peripheral] = [:]
    var connects: ConnectQueue
    /// The device whose `Connect` is in progress. One at a time: BlueZ executes them one after another, and a second
    /// one would only time out in its queue.
    var attempt: Peripheral?
    lazy var connectTimer = LoopTimer { [unowned self] in connectNext() }
    /// Ends ``attempt`` when its time is over and other devices wait.
    lazy var contentionTimer = LoopTimer { [unowned self] in connectNext() }
    var foreignLinks = ForeignLinks()
    var crashSuspects = CrashSuspects()
    var bonds = BondWatch()
    var bondRequirements = BondRequirements()
    /// Subscriptions by signals, because `AcquireNotify` was refused, by the characteristic's path.
    var notifying: [String: Subscription] = [:]
    /// The devices with calls in progress that may get a descriptor, and some whose calls have ended.
    var acquiring: Set<BluetoothAddress> = []
    /// The characteristics with a session of this client by signals, by path. bluetoothd keeps a session beyond its link.
    var ownSessions: Set<String> = []
    var unansweredAcquisitions = UnansweredAcquisitions()

    // Discovery.
    var discovery = Discovery()
    /// The service whose devices are reported even without a scan.
    var watched: BluetoothUUID?
    /// The bonded devices, as last reported.
    var publishedBonds: Set<BluetoothAddress> = []
    var discoveryRefusals: Backoff
    lazy var discoveryTimer = LoopTimer { [unowned self] in updateDiscovery() }
    var watch: DiscoveryWatch
    lazy var watchTimer = LoopTimer { [unowned self] in checkDiscovery() }

    // Pairing.
    /// The devices whose pairing requests are accepted.
    var accepted: Set<BluetoothAddress> = []
    /// The devices with a `Pair` call in progress.
    var pairing: Set<BluetoothAddress> = []
    private(set) lazy var agent = PairingAgent(log: log) { [unowned self] in mayPair($0) }

    /// Events that are reported at the end of the turn.
    private var laterEvents: [CentralEvent] = []
    private lazy var laterReport = EndOfTurnSource { [weak self] in self?.reportLaterEvents() }

    /// Creates a central. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - busAddress: the address of BlueZ's bus.
    ///   - adapter: which adapter to use.
    ///   - resetAdapter: whether the adapter may be switched off and on if it receives nothing for a long time,
    ///     restarts of discovery have not helped, and nothing is connected through it.
    ///   - log: the logger.
    public convenience init(
        busAddress: String, adapter: AdapterChoice = .automatic, resetAdapter: Bool = false, log: Logger
    ) {
        self.init(busAddress: busAddress, adapter: adapter, resetAdapter: resetAdapter, timing: Timing(), log: log)
    }

    init(busAddress: String, adapter: AdapterChoice, resetAdapter: Bool, timing: Timing, log: Logger) {
        self.busAddress = busAddress
        choice = adapter
        mayResetAdapter = resetAdapter
        self.timing = timing
        self.log = log
        connects = ConnectQueue(timing.queue)
        watch = DiscoveryWatch(silence: timing.silence, now: .now)
        let pauses = Backoff(first: timing.firstPause, longest: timing.longestPause)
        (reopenings, loadings, resettings, discoveryRefusals) = (pauses, pauses, pauses, pauses)
    }

    /// Connects to the bus and starts reporting events. Call it once.
    public func start() async {
        await open()
    }

    /// Delivers the values that BlueZ has passed on by descriptor and that were not read yet. Call it before ``stop(within:)``,
    /// after which nothing is delivered.
    public func deliverReceived() {
        for peripheral in Array(peripherals.values) { peripheral.drain() }
    }

    /// Disconnects all devices and waits for it, at most for the given time. Then closes the bus, which ends discovery
    /// and removes the pairing agent.
    public func stop(within limit: Duration = .seconds(3)) async {
        guard !isStopped else { return }
        isStopped = true
        onEvent = nil
        for timer in [reopenTimer, loadTimer, resetTimer, connectTimer, contentionTimer, discoveryTimer, watchTimer] {
            timer.disarm()
        }
        finishReset()
        await leave(within: limit)
        bus?.close()
        bus = nil
        subscriptions = []
    }

    /// Performs a request, or starts it.
    public func perform(_ request: CentralRequest) {
        guard !isStopped else { return }
        onRequest?(request)
        switch request {
        case .scan(let options):
            discovery.requested = options
            updateDiscovery()
        case .watch(let service):
            watched = service
            publishDevices()
        case .connect(let address): connect(address)
        case .disconnect(let address): disconnect(address)
        case .pair(let address): pair(address)
        case .forget(let address): forget(address)
        case .acceptPairing(from: let addresses): accepted = addresses
        case .discover(let service, let characteristics, of: let address):
            discover(service, characteristics, of: address)
        case .subscribe(let characteristic, of: let address): subscribe(characteristic, of: address)
        case .write(let value, to: let characteristic, of: let address, let type):
            write(value, to: characteristic, of: address, type)
        }
    }

    /// Reports an event in a later turn, as `Central` requires, although it is known at once.
    func reportLater(_ event: CentralEvent) {
        laterEvents.append(event)
        laterReport.request()
    }

    private func reportLaterEvents() {
        var events: [CentralEvent] = []
        swap(&events, &laterEvents)
        for event in events { onEvent?(event) }
    }

    /// Calls a method of BlueZ. Without a bus, the call fails like one on a lost bus.
    ///
    /// - Parameters:
    ///   - message: the call.
    ///   - limit: timeout of the response; nil for the default.
    ///   - completion: called once, in a later turn.
    func call(
        _ message: DBusMessage, within limit: Duration? = nil,
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        guard let bus else {
            EventLoop.shared.atEndOfTurn { completion(.failure(.disconnected)) }
            return
        }
        bus.call(message, within: limit ?? timing.call, completion: completion)
    }
}
