import EventLoop
import Glibc

/// Reads standard input by lines on the loop.
@LoopActor
final class LineReader {
    /// Called with each line, without its end.
    var onLine: ((String) -> Void)?
    /// Called when nothing more will come.
    var onEnd: (() -> Void)?

    private var source: DescriptorSource?
    private var buffer: [UInt8] = []

    /// A line may be so long; what is longer is thrown away.
    private static let limit = 65536

    /// Begins to read.
    func start() {
        source = try? DescriptorSource(STDIN_FILENO, for: .readable) { [unowned self] _ in
            if !readSome() { finish() }
        }
        guard source == nil else { return }
        // A file is always readable, and epoll does not take it: it is read to its end in a later turn.
        EventLoop.shared.atEndOfTurn { [weak self] in
            while self?.readSome() == true {}
            self?.finish()
        }
    }

    /// - Returns: false at the end.
    private func readSome() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) }
        buffer += bytes.prefix(count)
        while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: buffer[..<end], as: UTF8.self)
            buffer.removeSubrange(...end)
            onLine?(line)
        }
        if buffer.count > Self.limit { buffer = [] }
        return true
    }

    private func finish() {
        source?.cancel()
        source = nil
        if !buffer.isEmpty { onLine?(String(decoding: buffer, as: UTF8.self)) }
        buffer = []
        onEnd?()
    }
}
