import Bluetooth
import DBus
import EventLoop
import Logging

/// Switches an adapter off and on that receives nothing, and makes sure that it is on again: after a failed call, an end of
/// bluetoothd, or an end of this process.
@LoopActor
final class AdapterReset {
    /// The address of the adapter that was switched off, by this process or an earlier one, until it is on again.
    var address: BluetoothAddress?
    /// Called and awaited before an adapter is switched off, and called with nil when it is on again.
    var onChange: (@LoopActor (BluetoothAddress?) async -> Void)?

    private let context: CentralContext
    private let isAllowed: Bool
    /// The path of the adapter that this process has switched off, or is about to.
    private(set) var path: String?
    private(set) lazy var switchingOn = RetryTimer(context.timing) { [unowned self] in finish() }

    /// - Parameters:
    ///   - context: what the central's parts share.
    ///   - isAllowed: whether the user permits it.
    init(_ context: CentralContext, isAllowed: Bool) {
        self.context = context
        self.isAllowed = isAllowed
    }

    /// Whether the adapter in use may be switched off for a moment: no device is connected through it.
    var isPossible: Bool {
        guard isAllowed, path == nil, !context.isAttempting, let adapter = context.adapter else { return false }
        return context.connection.tree.connectedCount(of: adapter) == 0
    }

    /// Switches the adapter in use off and on.
    func begin() {
        guard let adapter = context.adapter else { return }
        context.log.warning("nothing received, switching the adapter off and on", [(.path, adapter)])
        path = adapter
        address = context.connection.tree.adapters[adapter]?.address
        guard let onChange else { return switchOff(adapter) }
        EventLoop.shared.begin {
            await onChange(self.address)
            self.switchOff(adapter)
        }
    }

    /// Switches the adapter off, unless it is in use meanwhile.
    private func switchOff(_ adapter: String) {
        guard path == adapter, !context.isStopped, !context.isAttempting,
            context.connection.tree.connectedCount(of: adapter) == 0
        else {
            path = nil
            return forget()
        }
        setPowered(adapter, false) { [weak self] _ in self?.finish() }
    }

    /// Switches on an adapter that bluetoothd, or a process that was killed, has left switched off during a reset.
    func resume() {
        guard path == nil, let address,
            let (adapter, object) = context.connection.tree.adapters.first(where: { $0.value.address == address })
        else { return }
        guard !object.isPowered else { return forget() }
        context.log.notice("switching the adapter on after a reset that was interrupted", [(.path, adapter)])
        path = adapter
        finish()
    }

    private func forget() {
        address = nil
        guard let onChange else { return }
        EventLoop.shared.begin { await onChange(nil) }
    }

    /// Makes the last attempt to switch the adapter on, if it is off.
    func stop() {
        switchingOn.stop()
        finish()
    }

    /// Switches the adapter on again, and retries until it succeeds.
    private func finish() {
        guard let adapter = path else { return }
        setPowered(adapter, true) { [weak self] result in
            guard let self, path == adapter else { return }
            guard case .failure(let error) = result, context.connection.isOpen,
                context.connection.tree.adapters[adapter] != nil, !context.isStopped
            else {
                path = nil
                if case .success = result { forget() }
                return switchingOn.reset()
            }
            if switchingOn.isFresh {
                context.log.error("switching the adapter on failed", [(.path, adapter), (.error, error.description)])
            }
            switchingOn.failed()
        }
    }

    private func setPowered(
        _ adapter: String, _ isOn: Bool, completion: @escaping @LoopActor (Result<DBusMessage, DBusError>) -> Void
    ) {
        context.connection.set("Powered", of: adapter, BlueZNames.adapter, to: isOn, completion: completion)
    }
}
