import Bluetooth
import EventLoop

/// The rest at bluetoothd of subscriptions of links that have ended, and the number of descriptors on their way.
@LoopActor
final class NotifySessions {
    /// The characteristics with a session of this client by signals, by path. bluetoothd keeps a session beyond its link.
    var own: Set<String> = []
    /// Calls of `AcquireNotify` that were not answered before the end of their link.
    var unanswered = UnansweredAcquisitions()
    /// The devices with calls in progress that may get a descriptor, and some whose calls have ended.
    private(set) var acquiring: [BluetoothAddress: Peripheral] = [:]

    /// Handles the end of bluetoothd, which ends all sessions.
    func serviceLost() {
        unanswered.removeAll()
        own = []
    }

    /// Notes the start of a call that may get a descriptor.
    func acquires(_ peripheral: Peripheral) {
        acquiring[peripheral.address] = peripheral
    }

    /// Handles the end of a link.
    func ended(_ peripheral: Peripheral) {
        unanswered.keep(peripheral.subscriptions.acquiring, of: peripheral.address)
        acquiring[peripheral.address] = nil
    }

    /// The number of calls in progress that may get a descriptor.
    var pendingAcquisitions: Int {
        acquiring = acquiring.filter { $0.value.pendingAcquisitions > 0 }
        return acquiring.values.reduce(0) { $0 + $1.pendingAcquisitions }
    }
}
