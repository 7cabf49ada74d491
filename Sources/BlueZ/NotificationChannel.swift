import EventLoop
internal import Glibc

/// The descriptor of `AcquireNotify`: a value of the characteristic for each packet, past the bus.
@LoopActor
final class NotificationChannel {
    private let descriptor: CInt
    private var source: DescriptorSource?
    private let onValue: ([UInt8]) -> Void
    private let onEnd: () -> Void

    /// How many values are read before others get their turn.
    private static let turn = 64
    /// The longest value of a characteristic.
    private static let longest = 512

    /// Takes the descriptor over.
    ///
    /// - Throws: ``EventLoop/SystemError`` when the loop does not take it; it is closed then.
    init(
        owning descriptor: CInt, onValue: @escaping ([UInt8]) -> Void, onEnd: @escaping () -> Void
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.onValue = onValue
        self.onEnd = onEnd
        source = try DescriptorSource(descriptor, for: .readable) { [unowned self] events in receive(events) }
    }

    private func receive(_ events: DescriptorSource.Events) {
        for _ in 0..<Self.turn {
            let (value, count) = read()
            guard count > 0 else { return count == 0 ? end() : () }
            onValue(value)
            // Whoever got the value may have closed the channel.
            guard source != nil else { return }
        }
    }

    private func read() -> (value: [UInt8], count: Int) {
        var count = 0
        let value = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, filled in
            count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            filled = max(0, count)
        }
        // Nothing more for now is no end; any other failure is one.
        if count < 0, errno != EAGAIN, errno != EINTR { count = 0 }
        return (value, count)
    }

    private func end() {
        cancel()
        onEnd()
    }

    /// No more values; bluetoothd switches the notifications off when the descriptor closes.
    func cancel() {
        source?.cancel()
        source = nil
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }
}
