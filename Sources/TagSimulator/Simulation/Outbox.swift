import EventLoop
import JacquardProtocol

/// The values of one tag that wait for room in a client's socket.
///
/// bluetoothd drops such a value. A radio would not have sent it so fast in the first place, so here it waits, unless
/// losses are wanted.
@LoopActor
final class Outbox {
    /// How many values found no place.
    private(set) var dropped = 0
    private let isLossy: Bool
    private var waiting: [(value: [UInt8], channel: TagCharacteristic)] = []

    /// A client that does not read is not waited for without end.
    private static let limit = 256

    init(isLossy: Bool) {
        self.isLossy = isLossy
    }

    /// Whether nothing waits.
    var isEmpty: Bool { waiting.isEmpty }

    func send(_ value: [UInt8], on channel: TagCharacteristic, over link: any PeripheralLink) {
        if waiting.isEmpty, link.notify(value, on: channel.uuid) != .full { return }
        if isLossy || waiting.count >= Self.limit {
            dropped += 1
        } else {
            waiting.append((value, channel))
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: whether the queue is empty.
    func flush(over link: any PeripheralLink) -> Bool {
        while let first = waiting.first {
            guard link.notify(first.value, on: first.channel.uuid) != .full else { return false }
            waiting.removeFirst()
        }
        return true
    }

    /// Forgets what waits: the link has gone.
    func clear() {
        waiting = []
    }
}
