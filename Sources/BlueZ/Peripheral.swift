import Bluetooth
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
    /// The ATT MTU of this link; nil while BlueZ has not said it.
    var mtu: Int?
    var searches: [ServiceSearch] = []
    /// Paths of its characteristics, once they are discovered.
    var characteristics: [BluetoothUUID: String] = [:]
    var notifications: [BluetoothUUID: Notifications] = [:]
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
        for case .byDescriptor(let channel) in notifications.values { channel.cancel() }
        notifications = [:]
        searches = []
    }
}
