import Bluetooth
import Time

/// Which device to connect to next. One attempt at a time, and for a device that has been heard: an attempt for one that
/// is away makes the radio deaf to the others.
struct ConnectQueue {
    /// How long to wait for what.
    struct Patience {
        /// How long a device that the stack knows may stay unheard before it is tried without having been heard; some
        /// controllers do not report what they have on a list of their own.
        var unheard = Duration.seconds(15)
        /// How long before anybody is tried so again: the radio listens in between.
        var repetition = Duration.seconds(60)
        /// How long a device counts as heard. BlueZ forgets one that it has not seen for as long.
        var memory = Duration.seconds(30)
    }

    /// The device to try.
    struct Turn: Equatable {
        let address: BluetoothAddress
        /// Whether it has been heard of late.
        let isHeard: Bool
    }

    private struct Entry {
        let address: BluetoothAddress
        /// Until when it counts as heard; nil while it has not been.
        var heardUntil: Instant?
        /// Before this it is not tried.
        let from: Instant
        /// When it may be tried although it has not been heard.
        let unheardFrom: Instant

        func isHeard(at now: Instant) -> Bool { from <= now && heardUntil.map { now < $0 } ?? false }
    }

    private let patience: Patience
    /// Who waits, longest first.
    private var waiting: [Entry] = []
    /// Before this no device is tried that was not heard.
    private var nextUnheard: Instant?

    init(_ patience: Patience = Patience()) {
        self.patience = patience
    }

    /// Whether no device waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// When a device may be tried that was not heard.
    var deadline: Instant? {
        guard let first = waiting.map(\.unheardFrom).min() else { return nil }
        return max(first, nextUnheard ?? first)
    }

    /// Puts a device behind the others.
    ///
    /// - Parameters:
    ///   - address: of the device.
    ///   - isHeard: whether it was heard of late.
    ///   - start: before this it is not tried; nil if it may be tried at once.
    ///   - now: the time.
    mutating func add(_ address: BluetoothAddress, isHeard: Bool, notBefore start: Instant? = nil, at now: Instant) {
        remove(address)
        let from = max(start ?? now, now)
        waiting.append(
            Entry(
                address: address, heardUntil: isHeard ? now + patience.memory : nil, from: from,
                unheardFrom: from + patience.unheard))
    }

    /// Takes a device out, if it is in.
    mutating func remove(_ address: BluetoothAddress) {
        waiting.removeAll { $0.address == address }
    }

    /// A device was heard.
    mutating func heard(_ address: BluetoothAddress, at now: Instant) {
        guard let index = waiting.firstIndex(where: { $0.address == address }) else { return }
        waiting[index].heardUntil = now + patience.memory
    }

    /// Takes out whom to connect to now: who was heard comes before who was not, and who waits longer before who came
    /// later.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isKnown: whether the stack has an object for the device.
    /// - Returns: nil while there is no device to try.
    mutating func next(at now: Instant, isKnown: (BluetoothAddress) -> Bool) -> Turn? {
        if let index = waiting.firstIndex(where: { $0.isHeard(at: now) && isKnown($0.address) }) {
            return Turn(address: waiting.remove(at: index).address, isHeard: true)
        }
        guard let deadline, deadline <= now else { return nil }
        // Also if no device is known: an unknown one cannot be tried, and is not looked for at every turn.
        nextUnheard = now + patience.repetition
        guard let index = waiting.firstIndex(where: { $0.unheardFrom <= now && isKnown($0.address) }) else {
            return nil
        }
        return Turn(address: waiting.remove(at: index).address, isHeard: false)
    }
}
