internal import Glibc
internal import Synchronization

/// A file descriptor that is received or sent in a message. Closed when the object is released, unless it was taken.
public final class DBusDescriptor: Sendable {
    private let number: Atomic<CInt>

    /// Takes ownership of an open descriptor.
    public init(owning descriptor: CInt) {
        number = Atomic(descriptor)
    }

    /// Transfers the descriptor to the caller, which must close it.
    ///
    /// - Returns: nil if it was taken already.
    public func take() -> CInt? {
        let descriptor = number.exchange(-1, ordering: .relaxed)
        return descriptor < 0 ? nil : descriptor
    }

    /// The number of the descriptor, valid during a call.
    var borrowed: CInt { number.load(ordering: .relaxed) }

    deinit {
        if let descriptor = take() { close(descriptor) }
    }
}
