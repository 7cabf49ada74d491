import EventLoop
import Glibc

/// Reads standard input by lines on the loop.
@LoopActor
final class LineReader {
    /// Called with each line, without its end.
    var onLine: ((String) -> Void)?
    /// Called once for a line that is too long.
    var onOverlongLine: (() -> Void)?
    /// Called when nothing more will come.
    var onEnd: (() -> Void)?

    private var source: DescriptorSource?
    private var buffer: [UInt8] = []
    /// Whether the rest of a line that is too long is dropped.
    private var isOverlong = false
    /// Reads a file piece by piece, so that the loop handles signals in between.
    private lazy var nextPiece = LoopTimer { [unowned self] in readPiece() }

    /// The longest line.
    static let limit = 65536

    /// Begins to read.
    func start() {
        source = try? DescriptorSource(STDIN_FILENO, for: .readable) { [unowned self] _ in
            if !readSome() { finish() }
        }
        guard source == nil else { return }
        // A file is always readable, and epoll does not take it: it is read in later turns.
        nextPiece.arm(after: .zero)
    }

    private func readPiece() {
        if readSome() { nextPiece.arm(after: .zero) } else { finish() }
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
            if isOverlong { isOverlong = false } else { onLine?(line) }
        }
        guard buffer.count > Self.limit || isOverlong else { return true }
        buffer = []
        if !isOverlong { onOverlongLine?() }
        isOverlong = true
        return true
    }

    private func finish() {
        source?.cancel()
        source = nil
        nextPiece.disarm()
        if !buffer.isEmpty { onLine?(String(decoding: buffer, as: UTF8.self)) }
        buffer = []
        onEnd?()
    }
}
