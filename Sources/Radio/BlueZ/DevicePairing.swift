import Bluetooth
import DBus
import EventLoop
import Logging

/// Pairing with devices, by request or because a device requires a bond.
@LoopActor
final class DevicePairing {
    /// How `Pair` has ended.
    enum Outcome {
        /// There is a bond.
        case bonded
        /// The device has requested a pairing itself. `Paired` changes when there is a bond.
        case begun
        case failed(DBusError)

        init(_ result: Result<DBusMessage, DBusError>) {
            switch result {
            case .success: self = .bonded
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": self = .bonded
            case .failure(let error) where error.name == "org.bluez.Error.InProgress": self = .begun
            case .failure(let error): self = .failed(error)
            }
        }
    }

    /// The devices whose pairing requests are accepted.
    var accepted: Set<BluetoothAddress> = []
    /// Which devices require a bond.
    var requirements = BondRequirements()
    /// Called with a device that requests a pairing, or for which bluetoothd does.
    var onRequest: ((BluetoothAddress) -> Void)?

    private let context: CentralContext
    /// The devices with a requested pairing in progress.
    private(set) var requested: Set<BluetoothAddress> = []
    private lazy var agent = PairingAgent(log: context.log) { [weak self] in self?.mayPair($0) ?? false }

    init(_ context: CentralContext) {
        self.context = context
    }

    /// Registers the agent with a new bluetoothd.
    func register(with owner: String, on bus: DBusConnection) {
        agent.register(on: bus, with: owner)
    }

    /// Whether a device may pair at its own request, or at that of bluetoothd.
    private func mayPair(_ path: String) -> Bool {
        guard let address = context.connection.tree.devices[path]?.address else { return false }
        onRequest?(address)
        return accepted.contains(address) || requested.contains(address)
    }

    /// Pairs with a device, and reports it.
    ///
    /// - Parameters:
    ///   - peripheral: the device; nil if it is not connected.
    ///   - address: its address.
    func pair(_ peripheral: Peripheral?, _ address: BluetoothAddress) {
        guard let peripheral, peripheral.isLinked, peripheral.device != nil else {
            return context.reportLater(.pairFailed(address, .notConnected))
        }
        requested.insert(address)
        // Waits until `Connect` has ended. Before the link is complete, the kernel logs "security requested but not
        // available" and the pairing hangs. Observed with Linux 6.1 and bluetoothd 5.66.
        guard !peripheral.isAttempted else { return peripheral.wantsPairing = true }
        // bluetoothd 5.66 does not always answer a `Pair` on a link that uses a bond.
        guard !peripheral.isPaired else { return bonded(peripheral) }
        pair(peripheral, within: context.timing.pair) { [weak self] peripheral, outcome in
            switch outcome {
            case .bonded: self?.bonded(peripheral)
            case .begun: break
            case .failed(let error):
                guard let self, requested.remove(address) != nil else { return }
                context.report(.pairFailed(address, BluetoothError(error)))
            }
        }
    }

    /// Calls `Pair`.
    ///
    /// - Parameters:
    ///   - peripheral: a linked device.
    ///   - limit: the timeout.
    ///   - next: called once with the outcome, unless the link ends first.
    func pair(
        _ peripheral: Peripheral, within limit: Duration, then next: @escaping @LoopActor (Peripheral, Outcome) -> Void
    ) {
        guard let path = peripheral.device?.path else { return }
        context.connection.call(path, BlueZNames.device, "Pair", within: limit) { [weak peripheral] result in
            if let peripheral, peripheral.isLinked { next(peripheral, Outcome(result)) }
        }
    }

    /// Handles a new bond: `Pair` has succeeded or `Paired` has become true, whichever is first. bluetoothd never
    /// answers a `Pair` whose keys are exchanged while it discovers the services for `Connect` (5.66,
    /// `device_browse_gatt`).
    func bonded(_ peripheral: Peripheral) {
        guard !peripheral.isAttempted else { return }
        // A device may also be bonded without a request, at the first access to it.
        guard requested.remove(peripheral.address) != nil || !peripheral.wasPaired else { return }
        peripheral.wasPaired = true
        if let path = peripheral.device?.path { trust(peripheral, path) }
    }

    /// Sets `Trusted`, so that the device can reconnect by itself without authorization.
    private func trust(_ peripheral: Peripheral, _ path: String) {
        context.connection.set("Trusted", of: path, BlueZNames.device, to: true) { [context, weak peripheral] result in
            guard let peripheral, peripheral.isLinked else { return }
            if case .failure(let error) = result {
                context.log.warning("setting Trusted failed", [(.path, path), (.error, error.description)])
            }
            context.report(.paired(peripheral.address))
            peripheral.bondExists()
        }
    }

    /// Handles the end of a link or an attempt.
    func ended(_ address: BluetoothAddress) {
        requested.remove(address)
    }
}
