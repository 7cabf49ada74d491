import Bluetooth
import Time

/// Selects the device to connect next. Devices that were heard come first: during an attempt for an absent device, the
/// radio does not receive the others.
struct ConnectQueue {
    /// Waiting times.
    struct Timing {
        /// How long to wait for the advertisement of a device that the stack knows before it is tried without one. Some
        /// controllers don't report devices on their own accept list.
        var unheard = Duration.seconds(15)
        /// The interval between attempts without an advertisement. The radio listens in between.
        var repetition = Duration.seconds(60)
        /// How long a device counts as heard. BlueZ removes a device after the same time.
        var memory = Duration.seconds(30)
    }

    /// The device to try.
    struct Turn: Equatable {
        let address: BluetoothAddress
        /// Whether it was heard recently.
        let isHeard: Bool
    }

    private struct Entry {
        let address: BluetoothAddress
        /// Until when it counts as heard; nil if it was not heard.
        var heardUntil: Instant?
        /// The earliest time of an attempt.
        let from: Instant
        /// The earliest time of an attempt without an advertisement.
        let unheardFrom: Instant

        func isHeard(at now: Instant) -> Bool { from <= now && heardUntil.map { now < $0 } ?? false }
    }

    private let patience: Timing
    /// The waiting devices, in order of arrival.
    private var waiting: [Entry] = []
    /// The earliest time of the next attempt without an advertisement, for any device.
    private var nextUnheard: Instant?

    init(_ patience: Timing = Timing()) {
        self.patience = patience
    }

    /// Whether no device waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// When a device may be tried that was not heard; nil if no device waits.
    var deadline: Instant? {
        guard let first = waiting.map(\.unheardFrom).min() else { return nil }
        return max(first, nextUnheard ?? first)
    }

    /// Appends a device.
    ///
    /// - Parameters:
    ///   - address: the device.
    ///   - isHeard: whether it was heard recently.
    ///   - start: the earliest time of an attempt; nil for now.
    ///   - now: the time.
    mutating func add(_ address: BluetoothAddress, isHeard: Bool, notBefore start: Instant? = nil, at now: Instant) {
        remove(address)
        let from = max(start ?? now, now)
        waiting.append(
            Entry(
                address: address, heardUntil: isHeard ? now + patience.memory : nil, from: from,
                unheardFrom: from + patience.unheard))
    }

    /// Removes a device.
    mutating func remove(_ address: BluetoothAddress) {
        waiting.removeAll { $0.address == address }
    }

    /// A device was heard.
    mutating func heard(_ address: BluetoothAddress, at now: Instant) {
        guard let index = waiting.firstIndex(where: { $0.address == address }) else { return }
        waiting[index].heardUntil = now + patience.memory
    }

    /// Removes the device to connect now: devices that were heard first, each group in order of arrival.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - isKnown: whether the stack has an object for the device.
    /// - Returns: the device; nil if none is to be tried now.
    mutating func next(at now: Instant, isKnown: (BluetoothAddress) -> Bool) -> Turn? {
        if let index = waiting.firstIndex(where: { $0.isHeard(at: now) && isKnown($0.address) }) {
            return Turn(address: waiting.remove(at: index).address, isHeard: true)
        }
        guard let deadline, deadline <= now else { return nil }
        // Set even if no device is known to the stack, so that the search is not repeated at each call.
        nextUnheard = now + patience.repetition
        guard let index = waiting.firstIndex(where: { $0.unheardFrom <= now && isKnown($0.address) }) else {
            return nil
        }
        return Turn(address: waiting.remove(at: index).address, isHeard: false)
    }
}
