import EventLoop
import Glibc
import TestSupport

/// A server that takes connections and answers the first bytes of each as a test says.
@LoopActor
final class ScriptedServer {
    enum Answer {
        case send([UInt8])
        case close
        case nothing
    }

    let place: ReservedPort
    private let listener: CInt
    private let answer: ([UInt8]) -> Answer
    private var source: DescriptorSource?
    private var connections: [CInt: DescriptorSource] = [:]

    init(_ answer: @escaping ([UInt8]) -> Answer) throws {
        self.answer = answer
        place = try ReservedPort()
        listener = try place.listen()
        source = try DescriptorSource(listener, for: .readable) { [weak self] _ in self?.accept() }
    }

    private func accept() {
        let connection = Glibc.accept(listener, nil, nil)
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        connections[connection] = try? DescriptorSource(connection, for: .readable) { [weak self] _ in
            self?.read(connection)
        }
    }

    private func read(_ connection: CInt) {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(connection, &buffer, buffer.count)
        guard count > 0 else { return end(connection) }
        switch answer(Array(buffer.prefix(count))) {
        case .send(let bytes): _ = write(connection, bytes, bytes.count)
        case .close: end(connection)
        case .nothing: break
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
