import EventLoop
import Glibc

/// The lines that the user types while a command runs.
@LoopActor
final class KeyboardLines {
    private var source: DescriptorSource?
    private var lines: [String] = []
    private var bytes: [UInt8] = []
    private let onLine: @LoopActor () -> Void

    /// A longer line is deleted.
    private static let longest = 1_024

    /// Starts to read standard input. A file or a closed input has no lines.
    ///
    /// - Parameter onLine: called after each line.
    init(onLine: @escaping @LoopActor () -> Void) {
        self.onLine = onLine
        source = try? DescriptorSource(STDIN_FILENO, for: .readable) { [unowned self] _ in receive() }
    }

    /// Returns the oldest line that was not taken yet; nil if there is none.
    func take() -> String? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Ends reading.
    func end() { source = nil }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) ? () : end() }
        bytes += buffer.prefix(count)
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: bytes[..<end], as: UTF8.self))
            bytes.removeSubrange(...end)
            onLine()
        }
        if bytes.count > Self.longest { bytes = [] }
    }
}
