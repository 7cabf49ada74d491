public import Bluetooth
public import EventLoop
public import JacquardProtocol
public import Logging

/// Finds tags, connects them and keeps them connected. Source: JacquardSDKiOS, `JacquardManager`.
///
/// It scans only while somebody wants a scan or a wanted tag is missing. Tags are wanted by their identity; the address
/// is taken from the air where none is fixed.
@LoopActor
public final class JacquardManager {
    /// What a manager tells.
    public enum Event: Sendable {
        /// Bluetooth became usable or unusable.
        case centralState(CentralState)
        /// An adapter came, went or changed; all that there are.
        case adapters([Adapter])
        /// A scan has begun or ended, whoever ended it. Looking for missing tags is none.
        case scanning(Bool)
        /// A tag was heard. `isNews` is false for one that the present scan has told already and was not to tell again.
        case advertised(AdvertisedTag, isNews: Bool)
        /// A pairing has come so far.
        case pairing(TagIdentity, PairingStage)
        /// A pairing has ended: with a bonded and connected tag, or with an error.
        case paired(TagIdentity, TagConnectionError?)
        /// A tag was forgotten, or the Bluetooth stack refused to.
        case forgotten(TagIdentity, TagConnectionError?)
        /// Something about a wanted tag.
        case tag(TagIdentity, TagEvent)
    }

    /// Who is told. Called on the loop, in the order of events; the path of every gesture.
    public var onEvent: ((Event) -> Void)?
    /// Whether Bluetooth can be used.
    public private(set) var centralState = CentralState.unknown

    /// Whether a scan that somebody wanted runs.
    public internal(set) var isScanning = false

    let central: any Central
    private let timing: TagSession.Timing
    private let log: Logger
    private(set) var tags: [TagIdentity: TagDriver] = [:]
    /// Who is at which address: every event of a link is looked up here.
    private(set) var drivers: [BluetoothAddress: TagDriver] = [:]
    var pairings: [TagIdentity: Pairing] = [:]
    /// What the central has been asked for.
    var scan: ScanOptions?
    var isScanWanted = false
    var isCentralScanning = false
    /// Who has been told in the present scan; nil where everything is told.
    var heardInScan: Set<BluetoothAddress>? = []

    /// How long a tag may be silent at its address before it is believed at another.
    private static let silence = Duration.seconds(30)

    /// A manager on a central.
    ///
    /// - Parameters:
    ///   - central: the Bluetooth stack. Its events are this manager's from now on.
    ///   - timing: how long the steps of a connection may take.
    ///   - log: where trouble is told.
    public init(central: any Central, timing: TagSession.Timing = TagSession.Timing(), log: Logger) {
        self.central = central
        self.timing = timing
        self.log = log
        central.onEvent = { [weak self] in self?.handle($0) }
    }

    /// Connects a tag and keeps it connected; nothing happens if it is wanted already.
    public func connect(_ identity: TagIdentity) {
        connect(identity, bonding: false)
    }

    func connect(_ identity: TagIdentity, bonding: Bool) {
        let driver = tags[identity] ?? add(identity)
        driver.drive { session, now in session.connect(bonding: bonding, at: now) }
        if centralState != .poweredOn { driver.drive { session, now in session.poweredOff(at: now) } }
    }

    /// Disconnects a tag, until somebody wants it again.
    public func disconnect(_ identity: TagIdentity) {
        tags[identity]?.drive { session, now in session.disconnect(at: now) }
    }

    /// Forgets a tag: its link, its bond and its place here. Ends with ``Event/forgotten(_:_:)``.
    public func forget(_ identity: TagIdentity) {
        tags[identity]?.drive { session, now in session.disconnect(at: now) }
        guard let address = tags[identity]?.address ?? identity.address else {
            tags[identity] = nil
            return EventLoop.shared.atEndOfTurn { [weak self] in self?.onEvent?(.forgotten(identity, nil)) }
        }
        drivers[address] = tags[identity]
        central.perform(.forget(address))
    }

    private func forgotten(_ address: BluetoothAddress, _ error: BluetoothError?) {
        guard let driver = drivers.removeValue(forKey: address) else { return }
        tags[driver.identity] = nil
        expectPairing()
        onEvent?(.forgotten(driver.identity, error.map { TagConnectionError($0) }))
    }

    /// Devices at known addresses may pair when they ask for it.
    private func expectPairing() {
        central.perform(.acceptPairing(from: Set(drivers.keys)))
    }

    /// Gives a tag something to do. It ends with one ``JacquardProtocol/TagEvent/commandEnded(token:_:)``.
    public func enqueue(_ command: TagCommand, on identity: TagIdentity, token: UInt64) {
        guard let driver = tags[identity] else {
            onEvent?(.tag(identity, .commandEnded(token: token, .failure(.notConnected))))
            return
        }
        driver.drive { session, now in session.enqueue(command, token: token, at: now) }
    }

    private func add(_ identity: TagIdentity) -> TagDriver {
        let session = TagSession(timing: timing, seed: .random(in: .min ... .max))
        let driver = TagDriver(identity, session: session, central: central) { [weak self] event in
            self?.onEvent?(.tag(identity, event))
            self?.followPairing(identity, event)
        } onLooking: { [weak self] in
            self?.updateScan()
        }
        tags[identity] = driver
        if let address = identity.address {
            drivers[address] = driver
            expectPairing()
        }
        return driver
    }

    // MARK: Events

    private func handle(_ event: CentralEvent) {
        switch event {
        case .notified(let address, _, _), .written(let address), .writeFailed(let address, _),
            .connected(let address), .disconnected(let address, _), .characteristicsDiscovered(let address, _),
            .discoveryFailed(let address, _), .subscribed(let address, _), .subscribeFailed(let address, _, _),
            .pairFailed(let address, _):
            drivers[address]?.handle(event)
            if case .pairFailed(_, let error) = event { bondRefused(address, error) }
        case .paired(let address):
            drivers[address]?.handle(event)
            bonded(address)
        case .discovered(let address, let advertisement): heard(address, advertisement)
        case .adaptersChanged(let adapters): onEvent?(.adapters(adapters))
        case .stateChanged(let state): stateChanged(state)
        case .scanning(let isScanning):
            isCentralScanning = isScanning
            tellScan()
        case .forgotten(let address, let error): forgotten(address, error)
        }
    }

    private func stateChanged(_ state: CentralState) {
        let wasUsable = centralState == .poweredOn
        centralState = state
        if wasUsable {
            for driver in tags.values { driver.drive { session, now in session.poweredOff(at: now) } }
        }
        onEvent?(.centralState(state))
        updateScan()
    }

    private func heard(_ address: BluetoothAddress, _ advertisement: Advertisement) {
        guard let tag = AdvertisedTag(address, advertisement) else { return }
        bind(tag)
        onEvent?(.advertised(tag, isNews: isNews(tag)))
    }

    /// Finds out whose address it is. A tag that is known at one address is believed at another only after it has been
    /// silent at the first: two tags may share a serial, and must not be mixed up.
    private func bind(_ tag: AdvertisedTag) {
        if let driver = drivers[tag.identifier] { return driver.lastHeard = .now }
        guard let driver = tags.values.first(where: { $0.identity.matches(tag) }) else { return }
        if let known = driver.address {
            guard driver.isLooking, driver.lastHeard.map({ .now - $0 > Self.silence }) ?? true else { return }
            driver.forgetAddress()
            drivers[known] = nil
        }
        log.debug(
            "found a tag", [(.tag, tag.pairingSerialNumber.description), (.address, tag.identifier.description)])
        drivers[tag.identifier] = driver
        driver.lastHeard = .now
        expectPairing()
        driver.heard(at: tag.identifier)
    }
}
