import Bluetooth
import Time

/// A search for a service of a connected device.
struct ServiceSearch {
    /// The result of a search.
    enum Outcome {
        case found([BluetoothUUID: ObjectTree.Characteristic])
        case failed(BluetoothError)
    }

    private let service: BluetoothUUID
    private let characteristics: [BluetoothUUID]
    private let grace: Duration
    /// Timeout of the search. It is shortened when BlueZ reports that all services are resolved.
    private(set) var deadline: Instant
    private var wasResolved = false

    init(
        _ service: BluetoothUUID, _ characteristics: [BluetoothUUID], timing: Timing,
        now: Instant
    ) {
        self.service = service
        self.characteristics = characteristics
        grace = timing.grace
        deadline = now + timing.resolving
    }

    /// Checks whether the characteristics are present now. `ServicesResolved` may be true before the objects exist, and
    /// objects may be left from an earlier connection, so both are required.
    ///
    /// - Returns: nil while the search continues.
    mutating func look(
        in tree: ObjectTree, at device: String, now: Instant
    ) -> Outcome? {
        let isResolved = tree.devices[device]?.isResolved ?? false
        let found = tree.characteristics(of: service, on: device)
        if isResolved, let found, characteristics.allSatisfy({ found[$0] != nil }) { return .found(found) }
        if isResolved != wasResolved {
            wasResolved = isResolved
            if isResolved { deadline = now + grace }
        }
        guard deadline <= now else { return nil }
        guard isResolved else {
            return .failed(BluetoothError(.timeout, text: "the services have not been resolved"))
        }
        return .failed(
            found == nil
                ? BluetoothError(.serviceMissing, text: "the device does not offer the service")
                : BluetoothError(.characteristicMissing, text: "a characteristic of the service is missing"))
    }
}
