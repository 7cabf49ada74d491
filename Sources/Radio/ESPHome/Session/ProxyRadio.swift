import Bluetooth
import Time

/// The rules of `Central` on top of a proxy's messages: scanning, links, bonds.
///
/// A pure value. Requests, messages and the time are passed in; events and messages are taken with ``takeEffects()``
/// after each call.
struct ProxyRadio: Sendable {
    /// The effects of a call.
    struct Effects {
        var events: [CentralEvent] = []
        var messages: [ProxyMessage] = []
        /// Whether to be subscribed to the proxy from now on; nil: no change.
        var isSubscribed: Bool?
    }

    /// Timeouts.
    enum Limit {
        /// Timeout of a connection attempt. ESP-IDF ends one after 20 s.
        static let connecting = Duration.seconds(25)
        /// Timeout of an attempt while another device waits.
        static let connectingContended = Duration.seconds(10)
        /// Timeout of the end of a link or of an attempt, and of the proxy's own clean-up.
        static let disconnecting = Duration.seconds(5)
        /// How long a device counts as received.
        static let memory = Duration.seconds(10)
        /// Timeout of the services of a device.
        static let services = Duration.seconds(30)
        /// Timeout of an access.
        static let access = Duration.seconds(10)
        /// How long a write without response waits for the proxy's response before it counts as accepted.
        static let unconfirmed = Duration.milliseconds(300)
        /// How long an access is repeated while the proxy is busy.
        static let busy = Duration.seconds(5)
        /// The pause between the repetitions.
        static let busyPause = Duration.milliseconds(50)
        /// How long a refused access waits for the encryption that the device or the proxy has started.
        static let securing = Duration.seconds(5)
        /// Timeout of a pairing. The user may have to press the tag's button.
        static let pairing = Duration.seconds(60)
        /// Timeout of the removal of a bond.
        static let forgetting = Duration.seconds(5)
        /// How long the proxy has nothing to do before its subscription ends, with which it passes on each advertisement around.
        static let unused = Duration.seconds(30)
    }

    /// A device that advertises.
    struct Received: Sendable {
        var data: AdvertisementData
        var addressType: UInt32
        var at: Instant
    }

    /// The removal of a bond, for this number of requests.
    struct Forgetting: Sendable {
        let until: Instant
        var requests = 1
    }

    /// The most devices of which the last advertisement is kept. The one that was not received for the longest time is
    /// dropped first.
    static let mostReceived = 128

    /// The name in events.
    let name: String
    var effects = Effects()
    private(set) var state = CentralState.unknown
    private(set) var info = ProxyInfo()
    /// The number of free links; nil if the proxy has not sent it.
    private(set) var freeLinks: UInt32?
    /// The number of links; nil if the proxy has not sent it.
    private(set) var allLinks: UInt32?
    var allocated: Set<UInt64> = []
    var scanner = ScannerState.running
    /// The devices that this proxy has a bond with, as far as it is known: the proxy has no list.
    var bonds: Set<BluetoothAddress>
    /// The address of the proxy's Bluetooth controller; nil if it is unknown.
    var controller: BluetoothAddress?
    /// The known bonds of proxies, by the address of their controllers.
    var bondsByController: [BluetoothAddress: Set<BluetoothAddress>]
    var links: [BluetoothAddress: ProxyLink] = [:]
    /// The devices to connect, in the order of the requests.
    var order: [BluetoothAddress] = []
    /// Links that have ended and that the proxy has not cleaned up yet.
    var releasing: [BluetoothAddress: Instant] = [:]
    /// Devices whose bond is being removed.
    var forgetting: [BluetoothAddress: Forgetting] = [:]
    var scanned: BluetoothUUID?
    var watched: BluetoothUUID?
    var isReportedScanning = false
    var reportedAdapters: [Adapter]?
    /// Why the proxy cannot be used; nil while it can be, and before the first attempt.
    private(set) var fault: AdapterFault?
    var received: [BluetoothAddress: Received] = [:]
    /// Whether this client is subscribed to the proxy, which it is at first.
    private var isSubscribed = true
    /// Since when the proxy has had nothing to do; nil while it has, and without a session.
    private var unusedSince: Instant?

    /// Creates the state of a proxy that is not connected.
    ///
    /// - Parameters:
    ///   - name: the name in events.
    ///   - bonds: the devices with a bond, as known from earlier runs; for a proxy whose controller is unknown.
    ///   - bondsByController: the known bonds of all proxies, by the address of their controllers.
    init(
        name: String, bonds: Set<BluetoothAddress> = [],
        bondsByController: [BluetoothAddress: Set<BluetoothAddress>] = [:]
    ) {
        self.name = name
        self.bonds = bonds
        self.bondsByController = bondsByController
    }

    /// When to call ``timeReached(at:)``; nil if never.
    var deadline: Instant? {
        var next: Instant?
        for link in links.values { next.lower(to: link.deadline) }
        for forget in forgetting.values { next.lower(to: forget.until) }
        // Only a waiting device needs the end of a clean-up.
        for (address, until) in releasing where links[address]?.phase == .waiting { next.lower(to: until) }
        if let attempt, isContended { next.lower(to: contentionEnd(attempt)) }
        if isSubscribed, let unusedSince { next.lower(to: unusedSince + Limit.unused) }
        return next
    }

    /// Whether ``takeEffects()`` returns anything.
    var hasEffects: Bool {
        !effects.events.isEmpty || !effects.messages.isEmpty || effects.isSubscribed != nil
    }

    /// Returns and removes what follows from the last call.
    mutating func takeEffects() -> Effects {
        defer { effects = Effects() }
        return effects
    }

    mutating func report(_ event: CentralEvent) {
        effects.events.append(event)
    }

    mutating func send(_ message: ProxyMessage) {
        effects.messages.append(message)
    }

    // MARK: The session

    /// Whether the proxy scans, or has a link or its end to report.
    private var isUsed: Bool {
        scanned != nil || !links.isEmpty || !forgetting.isEmpty || !releasing.isEmpty
    }

    /// Subscribes when the proxy gets something to do, and ends the subscription when it has had nothing to do for a while.
    private mutating func adjustSubscription(at now: Instant) {
        guard state == .poweredOn else { return }
        if isUsed {
            unusedSince = nil
            setSubscribed(true)
        } else if let unusedSince {
            if unusedSince + Limit.unused <= now { setSubscribed(false) }
        } else {
            unusedSince = now
        }
    }

    private mutating func setSubscribed(_ isWanted: Bool) {
        guard isSubscribed != isWanted else { return }
        isSubscribed = isWanted
        effects.isSubscribed = isWanted
    }

    /// Handles a proxy that serves this client.
    mutating func opened(_ info: ProxyInfo, at now: Instant) {
        self.info = info
        state = .poweredOn
        (isSubscribed, unusedSince) = (true, nil)
        fault = nil
        publishAdapters()
        identify(BluetoothAddress(info.bluetoothAddress))
        report(.bonds(bonds))
        report(.stateChanged(.poweredOn))
        reportScanning()
        connectNext(at: now)
        adjustSubscription(at: now)
    }

    /// Handles the end of the session: all links are lost.
    ///
    /// - Parameters:
    ///   - next: the new state.
    ///   - error: why, for the devices.
    ///   - fault: why, for the user.
    mutating func closed(_ next: CentralState, _ error: BluetoothError, _ fault: AdapterFault? = nil) {
        let previous = state
        state = next
        self.fault = fault
        for address in links.keys.sorted(by: { $0.number < $1.number }) {
            if previous == .poweredOn { ended(address, error) }
        }
        for address in forgetting.keys.sorted(by: { $0.number < $1.number }) { forgotten(address, error) }
        releasing = [:]
        received = [:]
        unusedSince = nil
        (freeLinks, allLinks, allocated) = (nil, nil, [])
        publishAdapters()
        if next != previous { report(.stateChanged(next)) }
        reportScanning()
    }

    // MARK: Requests

    /// Performs a request, or starts it.
    mutating func perform(_ request: CentralRequest, at now: Instant) {
        defer { adjustSubscription(at: now) }
        switch request {
        case .scan(let service):
            scanned = service
            reportScanning()
        case .watch(let service): watched = service
        case .connect(let address): connect(address, at: now)
        case .disconnect(let address): disconnect(address, because: nil, at: now)
        case .pair(let address): pair(address, at: now)
        case .forget(let address): forget(address, at: now)
        // A proxy is one radio, and it accepts the pairing requests of all devices that it is asked to connect.
        case .beginPairing, .checkBond, .endPairing, .acceptPairing: break
        case .discover(let service, let characteristics, of: let address):
            discover(ProxyLink.Search(service: service, characteristics: characteristics), of: address, at: now)
        case .subscribe(let id, of: let address): subscribe(id, of: address, at: now)
        case .write(let value, to: let id, of: let address, let type):
            write(value, to: id, of: address, type, at: now)
        }
    }

    // MARK: Messages

    /// Handles a message of the proxy.
    mutating func receive(_ message: ProxyMessage, at now: Instant) {
        defer { adjustSubscription(at: now) }
        switch message {
        case .advertisements(let all):
            for one in all { receive(one, at: now) }
            connectNext(at: now)
        case .scannerState(let next):
            scanner = next
            reportScanning()
            publishAdapters()
        case .connectionsFree(let free, let limit, let all):
            (freeLinks, allLinks, allocated) = (free, limit, Set(all))
            releasing = releasing.filter { allocated.contains($0.key.number) }
            publishAdapters()
            connectNext(at: now)
        case .connection(let number, let isConnected, let mtu, let error):
            let address = BluetoothAddress(number: number)
            if isConnected { linked(address, mtu: mtu, at: now) } else { unlinked(address, error, at: now) }
        case .paired(let number, let isPaired, let error):
            paired(BluetoothAddress(number: number), isPaired, error, at: now)
        case .unpaired(let number, _, _): forgotten(BluetoothAddress(number: number))
        case .services(let number, let services): receive(services, of: BluetoothAddress(number: number))
        case .servicesDone(let number): servicesDone(of: BluetoothAddress(number: number))
        case .written(let number, let handle), .notifySet(let number, let handle):
            succeeded(BluetoothAddress(number: number), handle, message, at: now)
        case .failed(let number, let handle, let error):
            failed(BluetoothAddress(number: number), handle, error, at: now)
        case .value(let number, let handle, let value):
            let address = BluetoothAddress(number: number)
            if let id = links[address]?.notifying[handle] { report(.notified(address, id, value)) }
        default: break
        }
    }

    /// Handles the time of ``deadline``.
    mutating func timeReached(at now: Instant) {
        for address in order { timeReached(address, at: now) }
        for (address, forget) in forgetting where forget.until <= now {
            forgotten(address, BluetoothError(.timeout, text: "the proxy has not removed the bond in time"))
        }
        releasing = releasing.filter { $0.value > now }
        connectNext(at: now)
        adjustSubscription(at: now)
    }

    private mutating func timeReached(_ address: BluetoothAddress, at now: Instant) {
        guard let link = links[address] else { return }
        switch link.phase {
        case .connecting(let until) where until <= now || (isContended && contentionEnd(until) <= now):
            let error = BluetoothError(.timeout, text: "no link in time")
            return disconnect(address, because: error, at: now)
        case .disconnecting(let error, let until) where until <= now:
            releasing[address] = now + Limit.disconnecting
            return ended(address, error)
        case .linked: linkTimeReached(address, at: now)
        default: break
        }
    }
}
