import Bluetooth
import DBus
import Time

/// A requested subscription to a characteristic of one link.
struct Subscription {
    /// Refusals of `AcquireNotify` that do not fail the subscription at once.
    enum Refusal {
        /// Not supported for this characteristic, or by this BlueZ. Signals are used instead.
        case never
        /// Another client may have the descriptor. A `StopNotify` of this client would close it.
        case taken
        /// A client has a session by signals, perhaps this one from an earlier link.
        case sessionLeft

        /// - Returns: nil for an error that `StartNotify` would return, too.
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

    let characteristic: BluetoothUUID
    let path: String
}

/// Drops the copies of a value that bluetoothd sends while several clients are subscribed to one characteristic: one
/// signal per client, in quick succession, to every client. Observed with bluetoothd 5.66.
///
/// Equal values that a device sends within ``time`` are dropped, too. So the filter is used in that case only.
struct EchoFilter {
    /// Copies arrive within 1 ms on a fast machine and within 20 ms on an emulated one. A user cannot repeat a gesture
    /// in this time.
    static let time = Duration.milliseconds(50)

    private var last: (value: [UInt8], at: Instant)?

    /// Whether a value is not a copy of the previous one.
    mutating func admits(_ value: [UInt8], at now: Instant) -> Bool {
        if let last, last.value == value, now - last.at < Self.time { return false }
        last = (value, now)
        return true
    }
}

/// A write in progress.
struct Write {
    /// The pauses between attempts, and when to stop.
    struct Retries {
        var pauses: Backoff
        let deadline: Instant

        init(_ timing: Timing, at now: Instant) {
            pauses = Backoff(first: timing.busyPause, longest: timing.longestBusyPause)
            deadline = now + timing.busy
        }
    }

    let writer: CharacteristicWriter
    let value: [UInt8]
    let type: WriteType
    /// Set at the first attempt that BlueZ could not accept.
    var retries: Retries?
}

extension DBusError {
    /// Whether the same call may succeed soon: another write to the characteristic is in progress, or a limit of the
    /// bus is reached. Nothing was sent to the device.
    var isTransient: Bool {
        switch name {
        case "org.bluez.Error.InProgress", "org.freedesktop.DBus.Error.LimitsExceeded",
            "org.freedesktop.DBus.Error.NoMemory":
            true
        default: false
        }
    }
}
