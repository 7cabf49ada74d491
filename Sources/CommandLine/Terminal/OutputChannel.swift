import Glibc
import Synchronization

/// A stream that a command prints to.
public enum OutputChannel: Int32, Hashable, Sendable {
    /// For results.
    case standardOutput = 1
    /// For errors and progress.
    case standardError = 2

    /// The number of the first error that has cost standard output a line; 0: none. A reader that has seen enough is no error.
    static let lost = Atomic<Int32>(0)

    /// Prints a line.
    ///
    /// - Parameter line: the line without its newline.
    /// - Returns: whether the whole line was written.
    @discardableResult
    public func write(_ line: String) -> Bool {
        var line = line + "\n"
        return line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(rawValue, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else {
                    if self == .standardOutput, errno != EPIPE {
                        _ = Self.lost.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
                    }
                    return false
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
            return true
        }
    }
}
