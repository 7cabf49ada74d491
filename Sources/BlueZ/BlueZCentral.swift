public import Bluetooth
import DBus
public import EventLoop
public import Logging

/// A central over `org.bluez`: one adapter of BlueZ behind the seam.
///
/// It keeps a copy of BlueZ's objects by their signals and follows the service itself: when bluetoothd or the bus goes,
/// every link is told as lost, and when it comes back everything is read anew. No call is without a deadline.
@LoopActor
public final class BlueZCentral: Central {
    /// Who is told what happens.
    public var onEvent: ((CentralEvent) -> Void)?

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
    /// Whether ``tree`` holds what BlueZ has: before, its signals are about objects that are still to be told.
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
    /// The adapter that is switched off by us, until it is on again.
    var resetting: String?
    var resettings: Backoff
    lazy var resetTimer = LoopTimer { [unowned self] in finishReset() }

    // Links.
    var peripherals: [BluetoothAddress: Peripheral] = [:]
    var connects: ConnectQueue
    /// The one whose `Connect` is under way. One at a time: BlueZ makes them one after another anyway, and a second one
    /// would only wait in its queue and time out there.
    var attempt: Peripheral?
    lazy var connectTimer = LoopTimer { [unowned self] in connectNext() }
    /// When ``attempt`` has had its time, if others wait.
    lazy var yieldTimer = LoopTimer { [unowned self] in connectNext() }
    var rivals = LinkRivals()
    var crashSuspects = CrashSuspects()
    var bonds = BondWatch()
    var bondWishes = BondWishes()
    /// Characteristics that notify by signal, because `AcquireNotify` was refused: whose they are.
    var notifying: [String: Subscription] = [:]
    var unansweredAcquisitions = UnansweredAcquisitions()

    // Discovery.
    var discovery = Discovery()
    /// The service whose devices are reported also while no scan was asked for.
    var watched: BluetoothUUID?
    /// The bonded devices, as last reported.
    var publishedBonds: Set<BluetoothAddress> = []
    var discoveryRefusals: Backoff
    lazy var discoveryTimer = LoopTimer { [unowned self] in updateDiscovery() }
    var watch: DiscoveryWatch
    lazy var watchTimer = LoopTimer { [unowned self] in doubtDiscovery() }

    // Pairing.
    /// Who may pair when it asks for it.
    var accepted: Set<BluetoothAddress> = []
    /// Whom we pair with at the moment.
    var pairing: Set<BluetoothAddress> = []
    private(set) lazy var agent = PairingAgent(log: log) { [unowned self] in mayPair($0) }

    /// Prepares a central; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - busAddress: of the bus that BlueZ is on.
    ///   - adapter: which adapter to use.
    ///   - resetAdapter: whether the adapter may be switched off and on when it hears nothing for a long time, restarts
    ///     of the discovery have not helped and nothing is connected through it.
    ///   - log: where trouble is told.
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

    /// Connects to the bus and begins to tell what happens. Once.
    public func start() async {
        await open()
    }

    /// Drops all links and waits until they are down, at most for the given time; then leaves the bus for good, which
    /// ends the discovery and takes the pairing agent away.
    public func stop(within limit: Duration = .seconds(3)) async {
        guard !isStopped else { return }
        isStopped = true
        onEvent = nil
        for timer in [reopenTimer, loadTimer, resetTimer, connectTimer, yieldTimer, discoveryTimer, watchTimer] {
            timer.disarm()
        }
        finishReset()
        await leave(within: limit)
        bus?.close()
        bus = nil
        subscriptions = []
    }

    /// Does something, or begins to.
    public func perform(_ request: CentralRequest) {
        guard !isStopped else { return }
        switch request {
        case .scan(let options):
            discovery.wish = options
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

    /// Tells an event that is known at once in a later turn, like any other.
    func tellLater(_ event: CentralEvent) {
        EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(event) }
    }

    /// Calls a method of BlueZ; without a bus it fails like any call on a lost one.
    ///
    /// - Parameters:
    ///   - message: the call.
    ///   - limit: how long to wait for the answer; nil takes the usual time.
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
