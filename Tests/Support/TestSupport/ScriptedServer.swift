public import EventLoop
import Glibc

/// A server of a few lines: takes connections, keeps what comes, and answers as the test says.
@LoopActor
public final class ScriptedServer {
    /// The answer to received bytes.
    public enum Answer {
        case send([UInt8])
        case close
        case nothing
    }

    /// Its port on this host.
    public var port: UInt16 { place.number }
    /// The received bytes of all connections.
    public private(set) var received: [[UInt8]] = []
    private let place: ReservedPort
    private let listener: CInt
    private var source: DescriptorSource?
    private var connections: [CInt: DescriptorSource] = [:]
    private let answer: ([UInt8]) -> Answer

    /// Listens on a free port and asks `answer` what to do about bytes that have come.
    public init(_ answer: @escaping ([UInt8]) -> Answer) throws {
        self.answer = answer
        place = try ReservedPort()
        listener = try place.listen()
        source = try DescriptorSource(listener, for: .readable) { [weak self] _ in self?.accept() }
    }

    private func accept() {
        let connection = Glibc.accept(listener, nil, nil)
        // A program that another test starts meanwhile would hold the connection open.
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
    public func reset() {
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
