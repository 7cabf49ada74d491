import Bluetooth
import DBus

/// A characteristic of one link whose notifications are wanted.
struct Subscription {
    /// How BlueZ may answer the wish for a descriptor, where it is no failure.
    enum Refusal {
        /// Not for this characteristic, or not at all: signals are left.
        case never
        /// Somebody has a session by signals, perhaps we from an earlier link.
        case sessionLeft

        /// - Returns: nil for an error that signals would meet as well.
        init?(_ error: DBusError) {
            switch error.name {
            case "org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod",
                "org.freedesktop.DBus.Error.NotSupported":
                self = .never
            case "org.bluez.Error.InProgress": self = .sessionLeft
            default: return nil
            }
        }
    }

    let peripheral: Peripheral
    let characteristic: BluetoothUUID
    let path: String
}
