import Glibc

/// Where a command prints.
enum OutputChannel: Int32, Hashable, Sendable {
    /// What was asked for.
    case standardOutput = 1
    /// What went wrong.
    case standardError = 2

    /// Prints a line; what cannot be printed is lost, for there is nobody to tell.
    func write(_ line: String) {
        var line = line + "\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(rawValue, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
        }
    }
}
