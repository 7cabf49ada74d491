import EventLoop
import Foundation

/// The socket on which a service reports its state to the service manager (sd_notify(3)).
@LoopActor
final class NotifySocket {
    /// The value of `NOTIFY_SOCKET`.
    let path: String
    private let descriptor: CInt
    private var messages: [String] = []

    init(in folder: String) throws {
        path = folder + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    }

    /// All messages received so far.
    var received: [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return messages
    }

    isolated deinit {
        close(descriptor)
    }
}
