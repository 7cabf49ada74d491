import Bluetooth
import DBus
import EventLoop
import Logging

/// The common parts of a central: the connection to BlueZ, the adapter in use, and the way of their events.
@LoopActor
final class CentralContext {
    let connection: BlueZConnection
    let timing: Timing
    let log: Logger
    /// The handler of the central's events.
    var onEvent: ((CentralEvent) -> Void)?
    /// The path of the adapter in use; nil while there is none.
    var adapter: String?
    /// The state of the adapter in use.
    var state = CentralState.unknown
    /// Whether a device is being connected.
    var isAttempting = false
    /// Whether the central has been stopped.
    var isStopped = false

    /// Events that are reported at the end of the turn.
    private var laterEvents: [CentralEvent] = []
    private lazy var laterReport = EndOfTurnSource { [unowned self] in reportLaterEvents() }

    init(_ connection: BlueZConnection, _ timing: Timing, log: Logger) {
        self.connection = connection
        self.timing = timing
        self.log = log
    }

    /// Reports an event.
    func report(_ event: CentralEvent) {
        onEvent?(event)
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

    /// Returns the object of a device below the adapter in use.
    func device(_ address: BluetoothAddress) -> (path: String, object: ObjectTree.DeviceObject)? {
        adapter.flatMap { connection.tree.device(address, of: $0) }
    }

    /// Calls `Disconnect` of a device. BlueZ answers when the link or the attempt has ended.
    func disconnect(_ address: BluetoothAddress, then next: @escaping @LoopActor () -> Void) {
        guard let path = device(address)?.path else { return EventLoop.shared.atEndOfTurn(next) }
        disconnect(path) { _ in next() }
    }

    /// Calls `Disconnect` of a device.
    ///
    /// - Parameters:
    ///   - path: the path of the device.
    ///   - next: called with whether the link has ended.
    func disconnect(_ path: String, then next: @escaping @LoopActor (_ hasEnded: Bool) -> Void) {
        connection.call(path, BlueZNames.device, "Disconnect") { [log] result in
            guard case .failure(let error) = result else { return next(true) }
            log.debug("disconnecting failed", [(.path, path), (.error, error.description)])
            next(false)
        }
    }
}
