import DBus
import EventLoop
internal import Glibc

/// The descriptor of `AcquireWrite`: one packet per value, without the bus.
///
/// It is not watched. BlueZ closes its end when the link ends, which it reports by a signal, too.
final class WriteChannel: Sendable {
    /// The result of a write.
    enum Outcome: Equatable {
        case written
        /// The socket is full, because bluetoothd does not read. Nothing was written.
        case full
        /// BlueZ has closed its end. Nothing was written.
        case closed
    }

    private let descriptor: CInt

    /// Takes ownership of the descriptor.
    init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    func write(_ value: [UInt8]) -> Outcome {
        while send(descriptor, value, value.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)) < 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS, ENOMEM: return .full
            default: return .closed
            }
        }
        return .written
    }

    deinit {
        close(descriptor)
    }
}

/// The writes to one characteristic of one link.
@LoopActor
final class CharacteristicWriter {
    let path: String
    var route = WriteRoute()
    /// The descriptor; nil while there is none.
    var channel: WriteChannel?
    /// Writes that wait for the answer to `AcquireWrite`.
    var waiting: [Write] = []
    /// The call `WriteValue` without arguments.
    private(set) lazy var call = DBusMessage.call(
        to: BlueZNames.service, path, BlueZNames.gattCharacteristic, "WriteValue")

    init(_ path: String) {
        self.path = path
    }
}
