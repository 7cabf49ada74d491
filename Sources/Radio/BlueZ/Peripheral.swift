import Bluetooth
import DBus
import EventLoop
import Time

/// A device from the request to connect it until its `disconnected`.
///
/// Each connection has its own object, so an answer to a call of an earlier connection can be recognised.
@LoopActor
final class Peripheral {
    enum Phase {
        /// Waiting to be heard, or for its turn.
        case waiting
        /// A link of another client is being dropped, in order to make a new one.
        case replacing
        /// `Connect` is in progress.
        case connecting
        /// The link is up.
        case linked
        /// `Disconnect` is in progress.
        case disconnecting
    }

    /// The state of a characteristic's notifications.
    enum Notifications {
        /// Being enabled, for this number of requests.
        case beginning(requests: Int)
        /// Enabled, by a descriptor.
        case byDescriptor(NotificationChannel)
        /// Enabled, by signals.
        case bySignal
    }

    /// Whether the device accepts a subscription on this link without another pairing.
    enum Security {
        case unknown
        /// A read or a pairing is in progress.
        case settling
        case settled
    }

    let address: BluetoothAddress
    var phase = Phase.waiting
    /// Why it is being disconnected; nil if it was requested.
    var cause: BluetoothError?
    /// Whether to pair as soon as `Connect` has been answered.
    var wantsPairing = false
    /// Whether BlueZ has refused `Connect` although the link was up.
    var wasRefused = false
    /// When the link came up.
    var linkedAt = Instant.now
    /// Whether its services were resolved on this link.
    var wasResolved = false
    /// Whether there was a bond when the link came up, or a later bond was reported.
    var wasPaired = false
    var security = Security.unknown
    /// Continuations to call when ``security`` is settled.
    var secured: [@LoopActor () -> Void] = []
    /// Whether a read that checks for a required bond is in progress.
    var isProbing = false
    /// Whether bluetoothd or the device has started a pairing on this link.
    var isPairingBegun = false
    /// Timeout of that read, or of a pairing that BlueZ has started.
    var securityTimer: LoopTimer?
    /// Paths of characteristics whose notifications any client has acquired since the link came up.
    var acquired: Set<String> = []
    /// Paths of characteristics whose `AcquireNotify` has not been answered.
    var acquiring: Set<String> = []
    /// Subscriptions that were refused because the notifications are acquired.
    var taken: [(subscription: Subscription, error: DBusError)] = []
    /// Decides about ``taken``.
    var takenTimer: LoopTimer?
    /// Whether another client uses the link, which is therefore not disconnected.
    var isShared = false
    /// When its `Connect` began.
    var attemptedAt = Instant.now
    /// The ATT MTU of this link; nil if it is unknown.
    var mtu: Int?
    var searches: [ServiceSearch] = []
    /// Paths of the discovered characteristics.
    var characteristics: [BluetoothUUID: String] = [:]
    var notifications: [BluetoothUUID: Notifications] = [:]
    /// One for each characteristic that was written to: almost always a single one.
    private var writers: [CharacteristicWriter] = []
    /// Repeats a write that BlueZ could not accept; nil if there is none.
    var writeTimer: LoopTimer?
    private let onSearchDue: @LoopActor () -> Void
    /// Checks the searches again at their deadline; nil without a search.
    private var searchTimer: LoopTimer?
    private let onLinkEndDue: @LoopActor () -> Void
    /// Limits the wait for the end of the link; nil before its descriptors were closed.
    private var linkEndTimer: LoopTimer?

    /// - Parameters:
    ///   - address: the device's address.
    ///   - onSearchDue: called when a search has reached its deadline.
    ///   - onLinkEndDue: called if the link has stayed up without its descriptors.
    init(
        _ address: BluetoothAddress, onSearchDue: @escaping @LoopActor () -> Void,
        onLinkEndDue: @escaping @LoopActor () -> Void
    ) {
        self.address = address
        self.onSearchDue = onSearchDue
        self.onLinkEndDue = onLinkEndDue
    }

    /// Sets when to check the searches again; nil if there is none.
    func checkSearches(at deadline: Instant?) {
        guard let deadline else { return searchTimer = nil }
        let timer = searchTimer ?? LoopTimer(handler: onSearchDue)
        timer.arm(at: deadline)
        searchTimer = timer
    }

    /// Waits for the end of the link after its descriptors were closed.
    func awaitLinkEnd(within limit: Duration) {
        let timer = linkEndTimer ?? LoopTimer(handler: onLinkEndDue)
        timer.arm(after: limit)
        linkEndTimer = timer
    }

    /// Notes the answer to an `AcquireNotify`.
    func endAcquiring(_ path: String) {
        acquiring.remove(path)
        // An empty set keeps its memory.
        if acquiring.isEmpty { acquiring = [] }
    }

    /// Returns the writer of a characteristic.
    func writer(of path: String) -> CharacteristicWriter {
        for writer in writers where writer.path == path { return writer }
        let writer = CharacteristicWriter(path)
        writers.append(writer)
        return writer
    }

    /// The number of `AcquireWrite` and `AcquireNotify` calls in progress.
    var pendingAcquisitions: Int {
        writers.count { !$0.waiting.isEmpty }
            + notifications.values.count { if case .beginning = $0 { true } else { false } }
    }

    /// Delivers the values that the device has sent before its end. Signals and descriptors are independent: the end of
    /// the link may be reported before the last values are read.
    func drain() {
        for case .byDescriptor(let channel) in notifications.values { channel.drain() }
    }

    /// Ends all subscriptions, writes, searches and timers.
    func close() {
        searchTimer = nil
        linkEndTimer = nil
        writeTimer = nil
        securityTimer = nil
        takenTimer = nil
        secured = []
        taken = []
        for case .byDescriptor(let channel) in notifications.values { channel.cancel() }
        notifications = [:]
        // Descriptors for writes close with their writers, which waiting writes refer to.
        for writer in writers { writer.waiting = [] }
        writers = []
        searches = []
    }
}
