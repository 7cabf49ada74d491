public import Bluetooth
public import EventLoop
public import JacquardProtocol
public import Logging

/// Finds tags, connects them and keeps them connected. Source: JacquardSDKiOS, `JacquardManager`.
///
/// It has two interfaces over one core. ``onEvent`` tells everything at once, on the path of every gesture; tags are named
/// by a ``TagIdentity``. The other is the SDK's: streams, ``connect(_:)-(BluetoothAddress)`` and ``ConnectedTag``; it costs
/// nothing until it is used. Both may be used side by side.
///
/// It scans only while somebody wants a scan or a wanted tag is missing.
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
        /// Several devices show one serial, at these addresses: those that advertise it at the same time, and the one at
        /// which the tag is known. Comes again when another one joins them, and every few minutes while they do.
        case duplicateSerial(PairingSerial, [BluetoothAddress])
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
    public var onEvent: (@LoopActor (Event) -> Void)?

    let central: any Central
    let timing: TagSession.Timing
    /// Names and capabilities of gear. Attached gear is reported again if another catalogue describes it differently.
    public var catalogue: GearCatalogue {
        didSet {
            for driver in tags.values { driver.drive { session, _ in session.adopt(catalogue) } }
        }
    }
    let log: Logger
    /// Whether Bluetooth can be used.
    var state = CentralState.unknown
    /// Who is wanted; and who was, if only the driver knows his address.
    var tags: [TagIdentity: TagDriver] = [:]
    /// Who is at which address: every event of a link is looked up here.
    var drivers: [BluetoothAddress: TagDriver] = [:]
    /// Who is wanted at an address that another one is leaving.
    var successors: [TagIdentity: SuccessorWish] = [:]
    var sightings = Sightings()
    var known = KnownAddresses()
    var pairings: [TagIdentity: Pairing] = [:]
    /// Whom the stack has been asked to forget, and for whom.
    var forgetting: [BluetoothAddress: Set<TagIdentity>] = [:]
    var scan = ScanWish()

    // The SDK's interface.
    let centralStates = Broadcast<CentralState>(keeping: 16, first: .unknown)
    let scanStates = Broadcast<Bool>(keeping: 16, first: false)
    let advertisements = Broadcast<AdvertisedTag>(keeping: 1024)
    var followers: [TagIdentity: ConnectionFollower] = [:]
    var answers = AwaitedAnswers()

    /// A manager on a central.
    ///
    /// - Parameters:
    ///   - central: the Bluetooth stack. Its events are this manager's from now on.
    ///   - timing: how long the steps of a connection may take.
    ///   - catalogue: the names and capabilities of gear.
    ///   - log: where trouble is told.
    public init(
        central: any Central, timing: TagSession.Timing = TagSession.Timing(),
        catalogue: GearCatalogue = .builtIn, log: Logger
    ) {
        self.central = central
        self.timing = timing
        self.catalogue = catalogue
        self.log = log
        central.onEvent = { [weak self] in self?.handle($0) }
        central.perform(.watch(JacquardGATT.service))
    }

    /// Tells what has become of a tag, whoever listens.
    func tell(_ event: TagEvent, of identity: TagIdentity) {
        if case .commandEnded(let token, let result) = event, answers.end(token, result) { return }
        if case .connection(let connection) = event, connection.state == .connected {
            known[identity] = tags[identity]?.address
        }
        onEvent?(.tag(identity, event))
        if let follower = followers[identity] {
            follower.take(event)
            if follower.isEnded { followers[identity] = nil }
        }
        followPairing(identity, event)
    }

    // MARK: Events

    private func handle(_ event: CentralEvent) {
        switch event {
        case .connected(let address) where drivers[address] == nil:
            // Given up long ago, and come up all the same.
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
            bondRefused(address, error)
        case .discovered(let address, let advertisement): heard(address, advertisement)
        case .remembered(let address, let advertisement): remembered(address, advertisement)
        case .bonds(let addresses): bondsChanged(to: addresses)
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
            for driver in tags.values { driver.drive { session, now in session.poweredOff(at: now) } }
        }
        onEvent?(.centralState(new))
        centralStates.send(new)
        updateScan()
    }
}
