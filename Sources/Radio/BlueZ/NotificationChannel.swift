import EventLoop
internal import Glibc

/// The descriptor of `AcquireNotify`: one packet per value of the characteristic, without the bus.
@LoopActor
final class NotificationChannel {
    private let descriptor: CInt
    private var source: DescriptorSource?
    private let onValue: @LoopActor ([UInt8]) -> Void
    private let onEnd: @LoopActor () -> Void

    /// Maximum number of values read per turn of the loop.
    private static let turn = 64
    /// More values than a socket can buffer.
    private static let most = 4_096
    /// The longest value of a characteristic. Source: Bluetooth Core Specification 5.3, volume 3, part F, 3.2.9.
    private nonisolated static let longest = 512

    /// The result of a read.
    private enum Packet {
        case value([UInt8])
        /// An empty value or the end. Only the hang-up event distinguishes them.
        case empty
        case nothing
        case failure
    }

    /// Takes ownership of the descriptor. If it throws, the descriptor is closed.
    ///
    /// - Throws: ``EventLoop/SystemError`` if the loop does not accept it.
    init(
        owning descriptor: CInt, onValue: @escaping @LoopActor ([UInt8]) -> Void, onEnd: @escaping @LoopActor () -> Void
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.onValue = onValue
        self.onEnd = onEnd
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] events in receive(events) }
    }

    private func receive(_ events: DescriptorSource.Events) {
        for _ in 0..<Self.turn {
            switch Self.read(descriptor) {
            case .value(let value): onValue(value)
            // A device may notify an empty value. At the end, epoll keeps reporting the hang-up.
            case .empty: return events.contains(.hangUp) ? end() : ()
            case .nothing: return
            case .failure: return end()
            }
            // The handler of the value may have closed the channel.
            guard source != nil else { return }
        }
    }

    /// Not isolated: the runtime checks an isolated closure each time the standard library calls it.
    private nonisolated static func read(_ descriptor: CInt) -> Packet {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 { return .value([UInt8](buffer[..<count])) }
            if count == 0 { return .empty }
            return errno == EAGAIN || errno == EINTR ? .nothing : .failure
        }
    }

    private func end() {
        drain()
        guard source != nil else { return }
        cancel()
        onEnd()
    }

    /// Delivers the values that are still buffered. Call it before ``cancel()`` if the end of the link is reported by
    /// signal.
    func drain() {
        for _ in 0..<Self.most {
            guard source != nil, Self.hasBytes(descriptor) else { return }
            switch Self.read(descriptor) {
            case .value(let value): onValue(value)
            // Values may follow an empty one, and an error, which a socket returns once.
            case .empty, .failure: continue
            case .nothing: return
            }
        }
    }

    private nonisolated static func hasBytes(_ descriptor: CInt) -> Bool {
        var count: CInt = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
    }

    /// Ends the delivery of values. bluetoothd disables the notifications when the descriptor closes.
    func cancel() {
        // Before the descriptor is closed, also while the source's own handler runs: another process may hold the same socket, and
        // the kernel would go on to report it.
        source?.cancel()
        source = nil
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }
}

/// Whether the process can afford a descriptor for a characteristic.
///
/// The last ones are needed for a new connection to the bus or the broker and for the state file. libdbus closes its
/// connection if it cannot store the descriptor of a message.
enum SpareDescriptors {
    /// The number of descriptors kept for other purposes.
    static let reserve = 8

    /// Counts free descriptor numbers from the highest one down, where most are free unless the process is short of
    /// them.
    ///
    /// - Parameter expected: the number of descriptors that pending calls may return.
    /// - Returns: whether there is room for one more.
    static func areAvailable(beside expected: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        var missing = reserve + expected + 1
        var number = CInt(clamping: limit.rlim_cur)
        while missing > 0, number > 0 {
            number -= 1
            if fcntl(number, F_GETFD) == -1 { missing -= 1 }
        }
        return missing == 0
    }
}
