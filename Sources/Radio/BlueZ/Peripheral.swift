import Bluetooth
import DBus
import EventLoop
import Logging
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

    let address: BluetoothAddress
    let context: CentralContext
    let pairing: DevicePairing
    let sessions: NotifySessions
    /// Called when the link or the attempt has ended, with the cause; nil if it was requested.
    private let onEnd: @LoopActor (Peripheral, BluetoothError?) -> Void

    var phase = Phase.waiting
    /// Whether its end was reported. Nothing changes afterwards.
    var isOver = false
    /// Why it is being disconnected; nil if it was requested.
    var cause: BluetoothError?
    /// Why its link has ended; nil while it is up, and if BlueZ does not say.
    var linkEnd: BluetoothError?
    /// Whether the link was made by an earlier run of this program.
    var isFormer = false
    /// Whether its `Connect` is in progress. Nothing else may be done with the link meanwhile.
    var isAttempted = false
    /// When its `Connect` began.
    var attemptedAt = Instant.now
    /// Whether BlueZ has refused `Connect` although the link was up.
    var wasRefused = false
    /// Whether to pair as soon as `Connect` has been answered.
    var wantsPairing = false
    /// When the link came up.
    var linkedAt = Instant.now
    /// Whether its services were resolved on this link.
    var wasResolved = false
    /// Whether there was a bond when the link came up, or a later bond was reported.
    var wasPaired = false
    /// The ATT MTU of this link; nil if it is unknown.
    private(set) var mtu: Int?
    var security = LinkSecurity()
    /// Paths of the discovered characteristics.
    var characteristics: [BluetoothUUID: String] = [:]
    var searches: [ServiceSearch] = []
    /// Checks the searches again at their deadline; nil without a search.
    var searchTimer: LoopTimer?
    var subscriptions = Subscriptions()
    /// One for each characteristic that was written to: almost always a single one.
    private var writers: [CharacteristicWriter] = []
    /// Repeats a write that BlueZ could not accept; nil if there is none.
    var writeTimer: LoopTimer?
    /// Limits the wait for the end of the link; nil before its descriptors were closed.
    private(set) var linkEndTimer: LoopTimer?

    /// - Parameters:
    ///   - address: the device's address.
    ///   - context: what the central's parts share.
    ///   - pairing: pairs with it.
    ///   - sessions: what earlier links have left.
    ///   - onEnd: called when the link or the attempt has ended, with the cause; nil if it was requested.
    init(
        _ address: BluetoothAddress, _ context: CentralContext, _ pairing: DevicePairing, _ sessions: NotifySessions,
        onEnd: @escaping @LoopActor (Peripheral, BluetoothError?) -> Void
    ) {
        self.address = address
        self.context = context
        self.pairing = pairing
        self.sessions = sessions
        self.onEnd = onEnd
    }

    /// Whether this is the current link with the device, and up. Answers to calls of an earlier link are ignored.
    var isLinked: Bool { phase == .linked && !isOver }

    /// The object of the device below the adapter in use; nil if there is none.
    var device: (path: String, object: ObjectTree.DeviceObject)? { context.device(address) }

    /// Whether BlueZ has a bond with the device.
    var isPaired: Bool { device?.object.isPaired ?? false }

    /// Returns the writer of a characteristic.
    func writer(of path: String) -> CharacteristicWriter {
        for writer in writers where writer.path == path { return writer }
        let writer = CharacteristicWriter(path, passesDescriptors: context.connection.passesDescriptors)
        writers.append(writer)
        return writer
    }

    /// The number of `AcquireWrite` and `AcquireNotify` calls in progress.
    var pendingAcquisitions: Int { writers.count { !$0.waiting.isEmpty } + subscriptions.pendingCount }

    /// Handles the MTU of the link. The value is the same for all characteristics.
    func mtuChanged(_ mtu: Int) {
        let range = CentralEvent.mtuRange
        let mtu = min(max(mtu, range.lowerBound), range.upperBound)
        guard mtu != self.mtu else { return }
        self.mtu = mtu
        context.report(.mtuChanged(address, mtu))
    }

    /// A device that requires encryption although BlueZ has a bond with it has lost its bond.
    func accessError(_ error: DBusError) -> BluetoothError {
        let failure = BluetoothError(error)
        guard failure.code == .authenticationFailed else { return failure }
        guard !isPaired else { return .bondLost(failure) }
        pairing.requirements.note(address, requiresBond: true)
        return failure
    }

    /// Calls a method of a characteristic.
    func callCharacteristic(
        _ path: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration? = nil,
        completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        context.connection.call(
            path, BlueZNames.gattCharacteristic, member, arguments, within: limit, completion: completion)
    }

    // MARK: The end

    /// Drops the link or cancels the attempt, and reports it when it is done.
    ///
    /// - Parameters:
    ///   - error: the cause; nil if it was requested.
    ///   - next: called last.
    func drop(because error: BluetoothError?, then next: @escaping @LoopActor () -> Void = {}) {
        phase = .disconnecting
        cause = error
        let end: @LoopActor () -> Void = { [weak self] in
            if let self { onEnd(self, error) }
            next()
        }
        guard !subscriptions.isShared else { return EventLoop.shared.atEndOfTurn(end) }
        context.disconnect(address, then: end)
    }

    /// Limits the wait for the end of the link after its descriptors were closed. A link that stays up is dropped: no more
    /// values would arrive.
    func awaitLinkEnd() {
        let timer =
            linkEndTimer
            ?? LoopTimer { [weak self] in
                guard let self, isLinked else { return }
                context.log.warning(
                    "BlueZ has ended the notifications of a connected device", [(.address, address.description)])
                drop(because: BluetoothError(.connectionFailed, text: "BlueZ has ended the notifications"))
            }
        timer.arm(after: context.timing.linkEnd)
        linkEndTimer = timer
    }

    /// Ends the wait for the end of the link: its descriptors were replaced.
    func cancelLinkEnd() {
        linkEndTimer?.disarm()
    }

    /// Ends all subscriptions, writes, searches and timers.
    func close() {
        searchTimer = nil
        linkEndTimer = nil
        writeTimer = nil
        security.close()
        closeSubscriptions()
        // Descriptors for writes close with their writers, which waiting writes refer to.
        for writer in writers { writer.waiting = [] }
        writers = []
        searches = []
    }
}
