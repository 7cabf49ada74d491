import Bluetooth
import DBus
import Time

/// A characteristic of one link whose notifications are wanted.
struct Subscription {
    /// How BlueZ may answer the wish for a descriptor, where it is no failure.
    enum Refusal {
        /// Not for this characteristic, or not at all: signals are left.
        case never
        /// Somebody else may have the descriptor. BlueZ would take it from him for a `StopNotify` of ours.
        case taken
        /// Somebody has a session by signals, perhaps we from an earlier link.
        case sessionLeft

        /// - Returns: nil for an error that signals would meet as well.
        init?(_ error: DBusError) {
            switch error.name {
            case "org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod",
                "org.freedesktop.DBus.Error.NotSupported":
                self = .never
            case "org.bluez.Error.InProgress": self = .sessionLeft
            case "org.bluez.Error.NotPermitted" where error.text == "Notify acquired": self = .taken
            default: return nil
            }
        }
    }

    let peripheral: Peripheral
    let characteristic: BluetoothUUID
    let path: String
    /// Set where values come by signals and somebody else is notified as well.
    var echoes: EchoFilter?
}

/// Leaves out the copies of a value that bluetoothd sends while several clients are notified of one characteristic: one
/// signal for each of them, right behind each other, to everybody. Seen with bluetoothd 5.66.
///
/// A device that sends equal values within the time would lose all but one of them, so the filter is for that case only.
struct EchoFilter {
    /// Copies come within a millisecond on a fast machine, and within twenty in an emulated one; a person does nothing twice
    /// in this time.
    static let time = Duration.milliseconds(50)

    private var last: (value: [UInt8], at: Instant)?

    /// Whether a value is one of its own, and no copy of the one before.
    mutating func admits(_ value: [UInt8], at now: Instant) -> Bool {
        if let last, last.value == value, now - last.at < Self.time { return false }
        last = (value, now)
        return true
    }
}
