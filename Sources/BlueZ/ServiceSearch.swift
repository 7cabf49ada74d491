import Bluetooth
import Time

/// A service that is looked for on a linked device.
struct ServiceSearch {
    /// How it ends.
    enum Outcome {
        case found([BluetoothUUID: ObjectTree.Characteristic])
        case failed(BluetoothError)
    }

    private let service: BluetoothUUID
    private let characteristics: [BluetoothUUID]
    private let grace: Duration
    /// When it has taken too long; nearer once BlueZ says that all services are resolved.
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

    /// Looks whether what is wanted is there now. `ServicesResolved` may be true before the objects are, and objects may
    /// be left from an earlier connection, so both count.
    ///
    /// - Returns: nil while there is hope.
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
