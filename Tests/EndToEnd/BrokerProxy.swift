import Foundation
import Synchronization
import TestSupport

/// A network between the daemon and the broker that can fail in other ways than by its ends.
///
/// Every direction of every connection has a thread of its own, which reads, perhaps waits, and writes.
final class BrokerProxy: Sendable {
    /// The fate of bytes.
    enum Mode {
        /// They arrive.
        case passes
        /// They are lost, and connections stay open: a black hole.
        case swallows
        /// They arrive eight at a time, two milliseconds apart.
        case trickles
        /// They arrive, but for acknowledgements of messages (PUBACK).
        case withholdsAcknowledgements
        /// A CONNECT of MQTT 5 is answered with these bytes, and its connection is closed. Others arrive.
        case refusesVersion5([UInt8])
    }

    /// The port that the daemon connects to.
    var port: UInt16 { place.number }
    private let place: ReservedPort
    private let target: UInt16
    private let listener: CInt
    private let state = Mutex((mode: Mode.passes, sockets: Set<CInt>(), accepted: 0))

    /// Listens on a free port of the loopback interface.
    ///
    /// - Throws: when there is no port.
    init(to target: UInt16) throws {
        self.target = target
        place = try ReservedPort()
        listener = try place.listen()
        Thread.detachNewThread { [self] in takeConnections() }
    }

    /// The fate of bytes from now on, of present and of future connections.
    func set(_ mode: Mode) {
        state.withLock { $0.mode = mode }
    }

    /// How many connections there have been.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Resets all connections, as a router does that has lost its memory.
    func reset() {
        state.withLock { state in
            for socket in state.sockets {
                // Without a time to linger the end of a connection is a reset.
                var hasty = linger(l_onoff: 1, l_linger: 0)
                setsockopt(socket, SOL_SOCKET, SO_LINGER, &hasty, socklen_t(MemoryLayout<linger>.size))
                var none = sockaddr()
                none.sa_family = sa_family_t(AF_UNSPEC)
                connect(socket, &none, socklen_t(MemoryLayout<sockaddr>.size))
            }
        }
    }

    /// Ends all connections, and takes no more.
    func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        state.withLock { for socket in $0.sockets { shutdown(socket, CInt(SHUT_RDWR)) } }
    }

    private func takeConnections() {
        while true {
            let near = accept(listener, nil, nil)
            guard near >= 0 else { break }
            // A program that another test starts meanwhile would hold the connection open.
            _ = fcntl(near, F_SETFD, FD_CLOEXEC)
            let far = Loopback.socket()
            state.withLock { $0.accepted += 1 }
            guard Loopback.connect(far, to: target) else {
                close(near)
                close(far)
                continue
            }
            join(near, far)
        }
        close(listener)
    }

    /// Each of both threads ends with its reading; the second one closes.
    private func join(_ near: CInt, _ far: CInt) {
        state.withLock { $0.sockets.formUnion([near, far]) }
        let open = OpenEnds()
        for (source, sink) in [(near, far), (far, near)] {
            Thread.detachNewThread { [self] in
                carry(from: source, to: sink)
                shutdown(sink, CInt(SHUT_RDWR))
                guard open.isLast() else { return }
                state.withLock { state in
                    state.sockets.subtract([near, far])
                    close(near)
                    close(far)
                }
            }
        }
    }

    private func carry(from source: CInt, to sink: CInt) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let isSlow = if case .trickles = state.withLock({ $0.mode }) { true } else { false }
            let count = read(source, &bytes, isSlow ? 8 : bytes.count)
            guard count > 0 else { return }
            switch state.withLock({ $0.mode }) {
            case .swallows: continue
            case .trickles: usleep(2000)
            case .refusesVersion5(let answer):
                guard Self.level(of: bytes[..<count]) == 5 else { break }
                _ = send(source, answer, answer.count, CInt(MSG_NOSIGNAL))
                return
            case .withholdsAcknowledgements:
                let rest = Self.withoutAcknowledgements(bytes[..<count])
                guard rest.isEmpty || send(sink, rest, rest.count, CInt(MSG_NOSIGNAL)) == rest.count else { return }
                continue
            case .passes: break
            }
            guard send(sink, bytes, count, CInt(MSG_NOSIGNAL)) == count else { return }
        }
    }
}

extension BrokerProxy {
    /// What remains of whole packets; a packet that the bytes end in is the last.
    private static func withoutAcknowledgements(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest: [UInt8] = []
        var bytes = bytes
        while let type = bytes.first {
            // The length has seven bits in each byte; the last one has no highest bit.
            let digits = bytes.dropFirst().prefix(4).prefix { $0 >= 0x80 }.count + 1
            let length = bytes.dropFirst().prefix(digits).reversed().reduce(0) { $0 << 7 | Int($1 & 0x7F) }
            let packet = bytes.prefix(1 + digits + length)
            if type >> 4 != 4 { rest += packet }
            bytes = bytes.dropFirst(packet.count)
        }
        return rest
    }

    /// The protocol level of a CONNECT packet; nil for anything else.
    private static func level(of bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.first == 0x10, let name = bytes.firstRange(of: [0x00, 0x04] + Array("MQTT".utf8)) else {
            return nil
        }
        return name.upperBound < bytes.endIndex ? bytes[name.upperBound] : nil
    }
}

/// Which of two threads is the last.
private final class OpenEnds: Sendable {
    private let count = Mutex(2)

    func isLast() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}
