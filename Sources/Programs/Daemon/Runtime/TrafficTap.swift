import Bluetooth
import Bridge
import EventLoop
import GATTRecording
import JacquardProtocol
import Radios
import Tags

/// Reports the Bluetooth traffic of one device while a recording is requested.
///
/// It stands between the central and the manager only meanwhile, so that a notification costs nothing otherwise.
@LoopActor
final class TrafficTap {
    private let central: any BridgeCentral
    private let previous: ((CentralEvent) -> Void)?

    /// Begins to report.
    ///
    /// - Parameters:
    ///   - central: the central whose traffic is reported.
    ///   - isDevice: whether an address is that of the device now.
    ///   - report: called for each event of the device, before the manager handles it.
    init(
        _ central: any BridgeCentral, of isDevice: @escaping @LoopActor (BluetoothAddress) -> Bool,
        report: @escaping @LoopActor (TrafficRecord.Event) -> Void
    ) {
        self.central = central
        let previous = central.onEvent
        self.previous = previous
        central.onEvent = { event in
            if let (address, record) = TrafficRecord.Event.of(event), isDevice(address) { report(record) }
            previous?(event)
        }
        central.onRequest = { request in
            if case .write(let value, to: let uuid, of: let address, let type) = request, isDevice(address),
                let characteristic = TagCharacteristic(uuid)
            {
                report(.write(value, on: characteristic, withResponse: type == .withResponse))
            }
        }
    }

    /// Ends it.
    func end() {
        central.onEvent = previous
        central.onRequest = nil
    }
}

extension BridgeService {
    /// Reports the Bluetooth traffic of a tag from now on; nil: of none.
    func recordTraffic(of tag: TagHandle?) {
        tap?.end()
        tap = nil
        guard let tag else { return }
        tap = TrafficTap(central, of: { [unowned self] in manager.address(of: tag) == $0 }) {
            [unowned self] in handle(.traffic(tag, $0))
        }
    }
}

extension TrafficRecord.Event {
    /// Converts an event of the central.
    ///
    /// - Returns: the device's address and the event; nil if it is not part of the traffic with a device.
    fileprivate static func of(_ event: CentralEvent) -> (BluetoothAddress, TrafficRecord.Event)? {
        switch event {
        case .connected(let address): (address, .connected)
        case .disconnected(let address, let error): (address, .disconnected(reason: error.map(\.reason)))
        case .mtuChanged(let address, let mtu): (address, .mtu(mtu))
        case .characteristicsDiscovered(let address, let found): (address, .characteristics(properties(of: found)))
        case .subscribed(let address, let uuid): TagCharacteristic(uuid).map { (address, .subscribed($0)) }
        case .subscribeFailed(let address, let uuid, let error):
            TagCharacteristic(uuid).map { (address, .subscribeFailed($0, reason: error.reason)) }
        case .written(let address): (address, .written)
        case .writeFailed(let address, let error): (address, .writeFailed(reason: error.reason))
        case .notified(let address, let uuid, let value):
            TagCharacteristic(uuid).map { (address, .notified(value, on: $0)) }
        case .stateChanged, .faultChanged, .adaptersChanged, .scanning, .discovered, .remembered, .bonds, .paired,
            .pairFailed,
            .forgotten, .discoveryFailed:
            nil
        }
    }

    private static func properties(
        of found: [BluetoothUUID: CharacteristicProperties]
    ) -> [TagCharacteristic: Set<TrafficProperty>] {
        let all: [(CharacteristicProperties, TrafficProperty)] = [
            (.write, .write), (.writeWithoutResponse, .writeWithoutResponse), (.notify, .notify),
        ]
        let known = found.compactMap { uuid, properties in
            TagCharacteristic(uuid).map { characteristic in
                (characteristic, Set(all.filter { properties.contains($0.0) }.map(\.1)))
            }
        }
        return Dictionary(known) { first, _ in first }
    }
}

extension TagCharacteristic {
    fileprivate init?(_ uuid: BluetoothUUID) {
        self.init(rawValue: uuid.description)
    }
}

extension BluetoothError {
    /// The stack's name and text, for a recording.
    fileprivate var reason: String { name.isEmpty ? text : "\(name): \(text)" }
}
