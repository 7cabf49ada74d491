import Glibc

/// Where a command prints.
enum OutputChannel: Int32, Hashable, Sendable {
    /// What was asked for.
    case standardOutput = 1
    /// What went wrong.
    case standardError = 2

    /// Prints a line.
    ///
    /// - Returns: whether it could be printed; otherwise the line is lost.
    @discardableResult
    func write(_ line: String) -> Bool {
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
