import EventLoop
internal import Glibc

/// The descriptor of `AcquireNotify`: a packet for each value of the characteristic, past the bus.
@LoopActor
final class NotificationChannel {
    private let descriptor: CInt
    private var source: DescriptorSource?
    private let onValue: @LoopActor ([UInt8]) -> Void
    private let onEnd: @LoopActor () -> Void

    /// How many values are read before others get their turn.
    private static let turn = 64
    /// More values than a socket holds: where there are more, they still come.
    private static let most = 4_096
    /// The longest value of a characteristic. Source: Bluetooth Core Specification 5.3, volume 3, part F, 3.2.9.
    private nonisolated static let longest = 512

    /// What a read brought.
    private enum Packet {
        case value([UInt8])
        /// A value without bytes, or the end; only the hang-up tells them apart.
        case empty
        case nothing
        case failure
    }

    /// Takes the descriptor over, also when it throws: it is closed then.
    ///
    /// - Throws: ``EventLoop/SystemError`` when the loop does not take it.
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
            // A device may notify nothing at all, which is no end; behind the real one epoll goes on reporting it.
            case .empty: return events.contains(.hangUp) ? end() : ()
            case .nothing: return
            case .failure: return end()
            }
            // Whoever got the value may have closed the channel.
            guard source != nil else { return }
        }
    }

    /// Belongs to no actor: a closure that does is checked by the runtime when the standard library takes it.
    private nonisolated static func read(_ descriptor: CInt) -> Packet {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 { return .value([UInt8](buffer[..<count])) }
            if count == 0 { return .empty }
            return errno == EAGAIN || errno == EINTR ? .nothing : .failure
        }
    }

    private func end() {
        cancel()
        onEnd()
    }

    /// Hands over what waits: whoever learns of the end by another way does so before ``cancel()``.
    func drain() {
        for _ in 0..<Self.most {
            guard source != nil else { return }
            switch Self.read(descriptor) {
            case .value(let value): onValue(value)
            // Values may stand behind it; behind the end there is only more of the same.
            case .empty: continue
            case .nothing, .failure: return
            }
        }
    }

    /// No more values; bluetoothd switches the notifications off when the descriptor closes.
    func cancel() {
        source = nil
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }
}
