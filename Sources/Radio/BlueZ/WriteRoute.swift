import Bluetooth
import DBus

/// How values are written to a characteristic of one link: by the descriptor of `AcquireWrite`, or by `WriteValue`.
///
/// BlueZ provides a descriptor for writes without response only, and refuses every `WriteValue` meanwhile. So the
/// descriptor is requested with the first write without response, once per link. If BlueZ provides none, or if a later
/// value cannot be written to it, all further values are written by `WriteValue`.
///
/// `AcquireWrite` has no counterpart that would cancel it: if the link ends before BlueZ has answered, BlueZ refuses
/// writes on later links, too. It answers at once if the services are resolved, and characteristics are not discovered
/// before. Source: BlueZ 5.66, `characteristic_acquire_write` in `src/gatt-client.c`.
struct WriteRoute {
    /// The treatment of a value.
    enum Step: Equatable {
        /// Call `AcquireWrite`. The value waits for ``acquired(mtu:)`` or ``refused()``.
        case acquire
        /// Wait for the answer to `AcquireWrite`.
        case wait
        /// Write to the descriptor.
        case descriptor
        /// Close the descriptor, then call `WriteValue`.
        case release
        /// Call `WriteValue`.
        case call
    }

    private enum State {
        case unused
        case acquiring
        case descriptor(maximumLength: Int)
        /// `wasAcquired`: a descriptor was closed on this link. BlueZ may not have noticed it yet.
        case calls(wasAcquired: Bool)
    }

    /// Operation code and handle, which each write contains. Bluetooth Core Specification 5.3, volume 3, part F, 3.4.5.3.
    private static let headerLength = 3

    private var state: State

    /// - Parameter passesDescriptors: whether BlueZ can pass a descriptor.
    init(passesDescriptors: Bool = true) {
        state = passesDescriptors ? .unused : .calls(wasAcquired: false)
    }

    /// Returns what to do with a value.
    ///
    /// - Parameters:
    ///   - type: whether the device confirms the write.
    ///   - length: the length of the value. BlueZ discards one that is too long for the link, and takes an empty one as
    ///     the end.
    /// - Returns: the step. The caller performs it.
    mutating func next(_ type: WriteType, length: Int) -> Step {
        switch (state, type) {
        case (.unused, .withResponse), (.calls, _): return .call
        case (.unused, .withoutResponse):
            state = .acquiring
            return .acquire
        case (.acquiring, _): return .wait
        case (.descriptor(let maximumLength), .withoutResponse) where (1...maximumLength).contains(length):
            return .descriptor
        case (.descriptor, _):
            state = .calls(wasAcquired: true)
            return .release
        }
    }

    /// Handles a descriptor.
    ///
    /// - Parameter mtu: the link's ATT MTU, at least 23.
    mutating func acquired(mtu: Int) {
        state = .descriptor(maximumLength: max(mtu - Self.headerLength, 1))
    }

    /// Handles a refused `AcquireWrite`.
    mutating func refused() {
        state = .calls(wasAcquired: false)
    }

    /// Handles a descriptor that BlueZ has closed, or an `AcquireWrite` without an answer. The descriptor of a late
    /// answer is closed at once.
    mutating func ended() {
        state = .calls(wasAcquired: true)
    }

    /// Whether `WriteValue` may succeed soon after this error: another write to the characteristic is in progress, a
    /// limit of the bus is reached, or BlueZ has not noticed yet that the descriptor is closed. Nothing was sent to the
    /// device.
    func isTransient(_ error: DBusError) -> Bool {
        if case .calls(wasAcquired: true) = state, error.isWriteAcquired { return true }
        return error.isTransient
    }
}

extension DBusError {
    /// Whether `WriteValue` was refused because a client has a descriptor for writes to the characteristic.
    var isWriteAcquired: Bool { name == "org.bluez.Error.NotPermitted" && text == "Write acquired" }
}
