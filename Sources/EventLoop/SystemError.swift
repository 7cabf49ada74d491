internal import Glibc

/// The error of a system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The positive `errno`.
    public let number: CInt
    /// What failed, such as "watch a descriptor".
    public let action: String

    /// Creates an error.
    public init(number: CInt, action: String) {
        self.number = number
        self.action = action
    }

    /// Returns the error of the last call, from `errno`.
    public static func last(_ action: String) -> SystemError {
        SystemError(number: errno, action: action)
    }

    /// The action and the C library's text for the number.
    public var description: String {
        "cannot \(action): \(strerror(number).map { String(cString: $0) } ?? "error \(number)")"
    }

    /// Throws the error for a negative result of libsystemd.
    static func check(_ status: CInt, _ action: String) throws(SystemError) {
        if status < 0 { throw SystemError(number: -status, action: action) }
    }
}
