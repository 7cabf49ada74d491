import Bluetooth

/// Which device to connect to next. One attempt at a time, and only for a device that has been heard: an attempt for one
/// that is away holds the radio for tens of seconds.
struct ConnectQueue {
    /// How long a device that the stack knows may stay unheard before it is tried without having been heard; some
    /// controllers do not report what they have on a list of their own.
    static let patience = Duration.seconds(15)
    /// How long before it is tried so again.
    static let repetition = Duration.seconds(60)

    private struct Entry {
        let address: BluetoothAddress
        var isHeard: Bool
        /// When it is tried although it has not been heard.
        var dueUnheard: ContinuousClock.Instant
    }

    /// Who waits, longest first.
    private var waiting: [Entry] = []

    /// Whether nobody waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Who waits.
    var addresses: [BluetoothAddress] { waiting.map(\.address) }

    /// When somebody may be tried unheard.
    var deadline: ContinuousClock.Instant? { waiting.map(\.dueUnheard).min() }

    /// Puts a device behind the others.
    mutating func add(_ address: BluetoothAddress, isHeard: Bool, at now: ContinuousClock.Instant) {
        remove(address)
        waiting.append(Entry(address: address, isHeard: isHeard, dueUnheard: now + Self.patience))
    }

    /// Takes a device out.
    ///
    /// - Returns: whether it was waiting.
    @discardableResult
    mutating func remove(_ address: BluetoothAddress) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0.address == address }
        return waiting.count < count
    }

    /// A device was heard.
    mutating func heard(_ address: BluetoothAddress) {
        guard let index = waiting.firstIndex(where: { $0.address == address }) else { return }
        waiting[index].isHeard = true
    }

    /// Takes out whom to connect to now: who was heard comes before who was not.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isKnown: whether the stack has an object for the device.
    /// - Returns: nil while there is nobody to try.
    mutating func next(
        at now: ContinuousClock.Instant, isKnown: (BluetoothAddress) -> Bool
    ) -> BluetoothAddress? {
        let heard = waiting.firstIndex { $0.isHeard && isKnown($0.address) }
        let due = heard ?? waiting.firstIndex { $0.dueUnheard <= now && isKnown($0.address) }
        for index in waiting.indices where waiting[index].dueUnheard <= now {
            waiting[index].dueUnheard = now + Self.repetition
        }
        return due.map { waiting.remove(at: $0).address }
    }
}
