import Bluetooth
import DBus
import EventLoop
import Time

/// A device that somebody has asked to be connected, from that request to its `disconnected`.
///
/// The object is the proof that an answer belongs to the present connection: a later one has another object.
@LoopActor
final class Peripheral {
    enum Phase {
        /// It waits to be heard, or for its turn.
        case waiting
        /// A link that somebody else has made is being dropped, to make one of our own.
        case renewing
        /// `Connect` is under way.
        case connecting
        /// The link is up.
        case linked
        /// `Disconnect` is under way.
        case disconnecting
    }

    /// How a characteristic's notifications stand.
    enum Notifications {
        /// Being switched on, for so many requests.
        case beginning(requests: Int)
        /// On, by a descriptor of its own.
        case byDescriptor(NotificationChannel)
        /// On, by signals.
        case bySignal
    }

    /// Whether the device accepts a subscription on this link without a further pairing.
    enum Security {
        case unknown
        /// Being found out by a read, or being brought about by a bond.
        case settling
        case settled
    }

    let address: BluetoothAddress
    var phase = Phase.waiting
    /// Why it is being disconnected; nil when that was asked for.
    var cause: BluetoothError?
    /// Whether to pair as soon as `Connect` has been answered.
    var wantsPairing = false
    /// Whether BlueZ has refused `Connect` although the link was up.
    var wasRefused = false
    /// When the link came up.
    var linkedAt = Instant.now
    /// Whether its services have been resolved on this link.
    var wasResolved = false
    /// Whether there was a bond when the link came up, or the bond that was made since has been reported.
    var wasPaired = false
    var security = Security.unknown
    /// What begins when ``security`` is settled.
    var secured: [@LoopActor () -> Void] = []
    /// Whether a read finds out whether the device wants a bond.
    var isProbing = false
    /// Whether a pairing has begun on this link that nobody has asked for.
    var isPairingBegun = false
    /// Ends the wait for that read, or for a pairing that BlueZ makes by itself.
    var securityTimer: LoopTimer?
    /// Characteristics, by path, that some client has acquired the notifications of since the link came up.
    var acquired: Set<String> = []
    /// Characteristics, by path, whose `AcquireNotify` has not been answered.
    var acquiring: Set<String> = []
    /// Subscriptions that were refused because the notifications are acquired.
    var taken: [(subscription: Subscription, error: DBusError)] = []
    /// When ``taken`` is decided.
    var takenTimer: LoopTimer?
    /// Whether another client uses the link, which therefore stays up.
    var isShared = false
    /// When its `Connect` began.
    var attemptedAt = Instant.now
    /// The ATT MTU of this link; nil while BlueZ has not said it.
    var mtu: Int?
    var searches: [ServiceSearch] = []
    /// Paths of its characteristics, once they are discovered.
    var characteristics: [BluetoothUUID: String] = [:]
    var notifications: [BluetoothUUID: Notifications] = [:]
    /// Repeats a write that BlueZ could not take; nil while there is none.
    var writeTimer: LoopTimer?
    /// Looks at the searches again.
    let searchTimer: LoopTimer
    /// Waits for the word that the link is down.
    let deafTimer: LoopTimer

    /// - Parameters:
    ///   - address: whose it is.
    ///   - onSearchDue: called when a search has reached its deadline.
    ///   - onDeaf: called when the link should have gone.
    init(
        _ address: BluetoothAddress, onSearchDue: @escaping @LoopActor () -> Void,
        onDeaf: @escaping @LoopActor () -> Void
    ) {
        self.address = address
        searchTimer = LoopTimer(handler: onSearchDue)
        deafTimer = LoopTimer(handler: onDeaf)
    }

    /// Hands over what it has sent before its end. The bus and the descriptors are two ways: the word that the link is
    /// down may overtake the last values.
    func drain() {
        for case .byDescriptor(let channel) in notifications.values { channel.drain() }
    }

    /// Nothing comes from it any more.
    func close() {
        searchTimer.disarm()
        deafTimer.disarm()
        writeTimer = nil
        securityTimer = nil
        takenTimer = nil
        secured = []
        taken = []
        for case .byDescriptor(let channel) in notifications.values { channel.cancel() }
        notifications = [:]
        searches = []
    }
}
