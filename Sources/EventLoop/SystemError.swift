internal import Glibc

/// A system call that failed: what was tried, and the number of the C library.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `errno`, positive.
    public let number: CInt
    /// What was tried, such as "watch a descriptor".
    public let action: String

    /// Describes a failure.
    public init(number: CInt, action: String) {
        self.number = number
        self.action = action
    }

    /// The failure of the call just made.
    public static func last(_ action: String) -> SystemError {
        SystemError(number: errno, action: action)
    }

    /// What the C library says of the number.
    public var description: String {
        "cannot \(action): \(strerror(number).map { String(cString: $0) } ?? "error \(number)")"
    }

    /// Turns the negative number that libsystemd returns into an error.
    static func check(_ status: CInt, _ action: String) throws(SystemError) {
        if status < 0 { throw SystemError(number: -status, action: action) }
    }
}
