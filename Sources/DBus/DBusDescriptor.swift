internal import Glibc
internal import Synchronization

/// A file descriptor that came in a message, or goes out in one. Closed with its last owner unless it was taken.
public final class DBusDescriptor: Sendable {
    private let number: Atomic<CInt>

    /// Takes over an open descriptor.
    public init(owning descriptor: CInt) {
        number = Atomic(descriptor)
    }

    /// Hands the descriptor to the caller, who closes it.
    ///
    /// - Returns: nil when it has been taken already.
    public func take() -> CInt? {
        let descriptor = number.exchange(-1, ordering: .relaxed)
        return descriptor < 0 ? nil : descriptor
    }

    /// The number, for a call that does not keep it.
    var borrowed: CInt { number.load(ordering: .relaxed) }

    deinit {
        if let descriptor = take() { close(descriptor) }
    }
}
