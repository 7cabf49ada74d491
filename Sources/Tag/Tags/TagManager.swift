public import Bluetooth
public import EventLoop
public import JacquardProtocol
public import Logging
public import Time

/// Discovers tags, connects them and keeps them connected.
///
/// ``onEvent`` is called synchronously with all events. A `TagHandle` names the tag, see ``add(_:_:)``. It scans only while a scan is requested or a tag that is to be connected is missing.
@LoopActor
public final class TagManager {
    /// An event of a manager.
    public enum Event: Sendable {
        /// Bluetooth became usable or unusable.
        case centralState(CentralState)
        /// Why Bluetooth cannot be used, or not fully; nil if it can. Sent before the events that follow from it.
        case fault(AdapterFault?)
        /// An adapter was added, removed or changed. The value contains all adapters.
        case adapters([Adapter])
        /// A requested scan has started or stopped. The search for missing tags is not reported.
        case scanning(Bool)
        /// A tag has advertised. `isNew` is false if a scan without duplicates has reported the tag already; `of` are the added
        /// tags that it is.
        case advertised(AdvertisedTag, isNew: Bool, of: [TagHandle])
        /// Several devices have one serial: those that advertise it at the same time, and the one at the known address
        /// of the tag. Repeated when another device is added, and every five minutes while it lasts.
        case duplicateSerial(PairingSerial, [BluetoothAddress])
        /// A pairing has reached a stage.
        case pairing(TagHandle, PairingStep)
        /// A pairing has ended. Without an error, the tag is bonded and connected.
        case paired(TagHandle, TagConnectionError?)
        /// A tag was forgotten. With an error, the Bluetooth stack refused to forget it.
        case forgotten(TagHandle, TagConnectionError?)
        /// An event of a tag's session.
        case tag(TagHandle, TagEvent)
    }

    /// The handler of all events. Called on the loop, in the order of events. On the path of every gesture.
    public var onEvent: (@LoopActor (Event) -> Void)?

    /// When the value was read that led to the latest event of a tag's session.
    public internal(set) var eventTime = Instant(sinceBoot: .zero)

    let central: any Central
    let timing: TagSession.SharedTiming
    var random: any RandomNumberGenerator
    /// Names and capabilities of gear. Attached gear is reported again if another catalogue describes it differently.
    public var catalogue: GearCatalogue {
        didSet {
            for row in rowsByIdentity.values { row.driver?.drive { session, _ in session.adopt(catalogue) } }
        }
    }
    /// Whether the central has several radios, and is to know of pairings.
    public var choosesRadio = false
    let log: Logger
    /// Whether Bluetooth can be used.
    public private(set) var state = CentralState.unknown
    /// The tags that were added.
    var rows: [TagHandle: TagRow] = [:]
    /// The same, and removed tags that are not disconnected yet.
    var rowsByIdentity: [TagIdentity: TagRow] = [:]
    /// The added tags with a fixed address.
    var rowsByAddress: [BluetoothAddress: TagRow] = [:]
    /// Drivers by address. Looked up for every event of a link.
    var drivers: [BluetoothAddress: TagDriver] = [:]
    /// The addresses of ``drivers``, which may request to be paired. Kept, because making the set from thousands of keys takes
    /// as long as binding hundreds of drivers.
    var pairable: Set<BluetoothAddress> = []
    /// Requested connections that wait until another tag has released the address. Almost always empty.
    var pendingConnections: [PendingConnection] = []
    var sightings = Sightings()
    var known = KnownAddresses()
    /// Requests to forget a device that are in progress, with the tags to report the result for.
    var forgetting: [BluetoothAddress: [TagRow]] = [:]
    var scan = RequestedScan()
    private var receiver: Receiver?

    /// The way of the central's events: the central may live longer. A weak reference would make each use of the manager slower.
    @LoopActor
    private final class Receiver {
        unowned(unsafe) var manager: TagManager?

        init(_ manager: TagManager) {
            self.manager = manager
        }
    }

    /// Creates a manager and starts to watch for tags.
    ///
    /// - Parameters:
    ///   - central: the Bluetooth stack. The manager sets its `onEvent`.
    ///   - timing: timeouts of a connection.
    ///   - catalogue: the names and capabilities of gear.
    ///   - random: seeds the jitter of each tag's pauses.
    ///   - log: the logger.
    public init(
        central: any Central, timing: TagSession.Timing = TagSession.Timing(),
        catalogue: GearCatalogue = .builtIn, random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        log: Logger
    ) {
        self.random = random
        self.central = central
        self.timing = TagSession.SharedTiming(timing)
        self.catalogue = catalogue
        self.log = log
        receiver = Receiver(self)
        central.onEvent = { [receiver] in receiver?.manager?.handle($0) }
        central.perform(.watch(JacquardGATT.service))
    }

    /// Passes an event of a tag's session to its pairing and to the owner.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - row: the tag.
    ///   - time: when the value was read that led to it.
    func emit(_ event: TagEvent, of row: TagRow, at time: Instant) {
        eventTime = time
        emit(event, of: row)
    }

    /// Passes an event of a tag to its pairing and to the owner.
    func emit(_ event: TagEvent, of row: TagRow) {
        if case .connection(let connection) = event, connection.state == .connected {
            known[row.identity] = row.driver?.address
        }
        onEvent?(.tag(row.handle, event))
        updatePairing(row, event)
    }

    /// Rows and drivers refer to each other.
    isolated deinit {
        receiver?.manager = nil
        for row in rowsByIdentity.values { row.driver = nil }
    }

    // MARK: Events

    private func handle(_ event: CentralEvent) {
        switch event {
        case .connected(let address) where drivers[address] == nil:
            // The attempt was cancelled, but the link came up.
            central.perform(.disconnect(address))
        case .notified(let address, _, _), .written(let address), .writeFailed(let address, _),
            .connected(let address), .disconnected(let address, _), .characteristicsDiscovered(let address, _),
            .discoveryFailed(let address, _), .subscribed(let address, _), .subscribeFailed(let address, _, _),
            .mtuChanged(let address, _):
            drivers[address]?.handle(event)
        case .paired(let address):
            sightings.note(address, isBonded: true)
            drivers[address]?.handle(event)
            bonded(address)
        case .pairFailed(let address, let error):
            drivers[address]?.handle(event)
            bondingFailed(address, error)
        case .discovered(let address, let advertisement): discovered(address, advertisement)
        case .remembered(let address, let advertisement): remembered(address, advertisement)
        case .bonds(let addresses): bondsChanged(to: addresses)
        case .faultChanged(let fault): onEvent?(.fault(fault))
        case .adaptersChanged(let adapters): onEvent?(.adapters(adapters))
        case .stateChanged(let state): stateChanged(state)
        case .scanning(let isScanning): scanChanged(isScanning)
        case .forgotten(let address, let error): forgotten(address, error)
        }
    }

    private func stateChanged(_ new: CentralState) {
        let wasUsable = state == .poweredOn
        state = new
        if wasUsable {
            for row in rowsByIdentity.values {
                row.driver?.drive { session, now in session.poweredOff(.unusable(new), at: now) }
            }
        }
        onEvent?(.centralState(new))
        updateScan()
    }
}
