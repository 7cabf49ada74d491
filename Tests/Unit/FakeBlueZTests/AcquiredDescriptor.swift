import DBus
import Glibc
import JacquardProtocol
import Testing

/// A client's end of what AcquireNotify or AcquireWrite gives.
final class AcquiredDescriptor {
    let number: CInt
    let mtu: Int

    init(_ reply: [DBusValue]) throws {
        guard case .descriptor(let descriptor) = try #require(reply.first) else {
            throw DBusError.malformed("no descriptor")
        }
        number = try #require(descriptor.take())
        mtu = try #require(reply.last?.integer)
    }

    /// The values that have come; nil once the other end is closed.
    func values() -> [[UInt8]]? {
        var values: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = recv(number, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            if count == 0 { return nil }
            guard count > 0 else { return values }
            values.append(Array(bytes.prefix(count)))
        }
    }

    deinit {
        close(number)
    }
}
