import EventLoop
import Glibc
import TestSupport

/// A server of a few lines: takes connections, keeps what comes, and answers as the test says.
@LoopActor
final class FakeBroker {
    enum Answer {
        case send([UInt8])
        case close
        case nothing
    }

    var port: UInt16 { place.number }
    private(set) var received: [[UInt8]] = []
    private let place: ReservedPort
    private let listener: CInt
    private var source: DescriptorSource?
    private var connections: [CInt: DescriptorSource] = [:]
    private let answer: ([UInt8]) -> Answer

    /// Listens on a free port and asks `answer` what to do about bytes that have come.
    init(_ answer: @escaping ([UInt8]) -> Answer) throws {
        self.answer = answer
        place = try ReservedPort()
        listener = try place.listen()
        source = try DescriptorSource(listener, for: .readable) { [weak self] _ in self?.accept() }
    }

    private func accept() {
        let connection = Glibc.accept(listener, nil, nil)
        // A broker that another test starts meanwhile would hold the connection open.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        connections[connection] = try? DescriptorSource(connection, for: .readable) { [weak self] _ in
            self?.read(connection)
        }
    }

    private func read(_ connection: CInt) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(connection, &buffer, buffer.count)
        guard count > 0 else { return end(connection) }
        let bytes = Array(buffer.prefix(count))
        received.append(bytes)
        switch answer(bytes) {
        case .send(let bytes): _ = write(connection, bytes, bytes.count)
        case .close: end(connection)
        case .nothing: break
        }
    }

    /// Resets all connections.
    func reset() {
        for connection in connections.keys {
            // Without a time to linger the end of a connection is a reset.
            var hasty = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &hasty, socklen_t(MemoryLayout<linger>.size))
            end(connection)
        }
    }

    private func end(_ connection: CInt) {
        connections.removeValue(forKey: connection)?.cancel()
        close(connection)
    }

    isolated deinit {
        connections.keys.forEach(end)
        source?.cancel()
        close(listener)
    }
}

/// Bytes of MQTT packets.
enum Packet {
    /// CONNACK of MQTT 5 that accepts, without properties.
    static let accepted5: [UInt8] = [0x20, 0x03, 0x00, 0x00, 0x00]
    /// CONNACK of MQTT 5: unsupported protocol version.
    static let refused5: [UInt8] = [0x20, 0x03, 0x00, 0x84, 0x00]
    /// CONNACK of MQTT 3.1.1 that accepts.
    static let accepted311: [UInt8] = [0x20, 0x02, 0x00, 0x00]
    /// CONNACK of MQTT 3.1.1: unacceptable protocol version.
    static let refused311: [UInt8] = [0x20, 0x02, 0x00, 0x01]

    /// The protocol level of a CONNECT, 5 or 4: it follows the type, one byte of length and `MQTT` with its length.
    static func level(of connect: [UInt8]) -> UInt8? {
        connect.first == 0x10 && connect.count > 8 ? connect[8] : nil
    }

    /// The flags of a CONNECT; 0x02 is clean start.
    static func isCleanStart(_ connect: [UInt8]) -> Bool {
        connect.count > 9 && connect[9] & 0x02 != 0
    }

    /// Whether a CONNECT has a will: flag 0x04.
    static func hasWill(_ connect: [UInt8]) -> Bool {
        connect.count > 9 && connect[9] & 0x04 != 0
    }
}
