import Glibc

/// A stream that a command prints to.
public enum OutputChannel: Int32, Hashable, Sendable {
    /// For results.
    case standardOutput = 1
    /// For errors and progress.
    case standardError = 2

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
                guard count > 0 || errno == EINTR else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
            return true
        }
    }
}
