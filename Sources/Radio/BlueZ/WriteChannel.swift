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
    var route: WriteRoute
    /// The descriptor; nil while there is none.
    var channel: WriteChannel?
    /// Writes that wait for the answer to `AcquireWrite`.
    var waiting: [Write] = []
    /// The call `WriteValue` without arguments, to be copied; nil while there is a descriptor, and before the first call.
    private var template: DBusMessage?

    init(_ path: String, passesDescriptors: Bool) {
        self.path = path
        route = WriteRoute(passesDescriptors: passesDescriptors)
    }

    /// Writes to the descriptor from now on.
    func acquired(_ channel: WriteChannel) {
        self.channel = channel
        template = nil
    }

    /// Returns the call `WriteValue`.
    func call(_ arguments: [DBusValue]) -> DBusMessage {
        // The copy has no more memory than it needs. libdbus reuses messages, and a new one has the buffers of a used one.
        let call =
            template
            ?? DBusMessage.call(to: BlueZNames.service, path, BlueZNames.gattCharacteristic, "WriteValue").copy(with: []
            )
        template = call
        return call.copy(with: arguments)
    }
}
