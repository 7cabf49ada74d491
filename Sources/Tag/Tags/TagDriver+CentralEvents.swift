import Bluetooth
import EventLoop
import JacquardProtocol

extension TagDriver {
    /// Handles an event of the central for this tag's address.
    func handle(_ event: CentralEvent) {
        switch event {
        case .notified(_, let uuid, let value):
            guard let characteristic = JacquardGATT.characteristic(uuid) else { return }
            drive { session, now in session.received(value, on: characteristic, at: now) }
        case .written: drive { session, now in session.written(at: now) }
        case .writeFailed(_, let error):
            let cause = connectionError(error)
            drive { session, now in
                session.writeFailed(
                    cause, isNotPermitted: error.code == .notPermitted, isUnsent: error.code == .busy, at: now)
            }
        case .connected:
            lastSign = .now
            drive { session, now in session.linkUp(at: now) }
        case .disconnected(_, let error):
            lastSign = .now
            let cause = error.map(connectionError)
            drive { session, now in session.linkDown(cause, at: now) }
        case .characteristicsDiscovered(_, let found):
            let properties = Self.properties(of: found[JacquardGATT.uuid(.command)] ?? [])
            drive { session, now in session.discovered(properties, at: now) }
        case .discoveryFailed(_, let error):
            let cause = connectionError(error)
            drive { session, now in session.discoveryFailed(cause, at: now) }
        case .subscribed: drive { session, now in session.subscribed(at: now) }
        case .subscribeFailed(_, _, let error):
            let cause = subscriptionError(error)
            drive { session, now in session.subscribeFailed(cause, at: now) }
        case .paired:
            isPaired = true
            drive { session, now in session.bonded(at: now) }
        case .pairFailed(_, let error):
            drive { session, now in session.bondingFailed(TagConnectionError(error), at: now) }
        case .mtuChanged(_, let mtu): drive { session, _ in session.mtuChanged(to: mtu) }
        case .stateChanged, .faultChanged, .adaptersChanged, .scanning, .discovered, .remembered, .bonds, .forgotten:
            break
        }
    }

    /// Continues without the requested bond, so that a failed pairing does not prevent the connection.
    ///
    /// `bonded(at:)` is the session's event for "stop waiting for a bond", whether or not there is one.
    func waiveBond() {
        drive { session, now in session.bonded(at: now) }
    }

    private func connectionError(_ error: BluetoothError) -> TagConnectionError {
        isBondLost(error) ? .bondLost(error) : TagConnectionError(error)
    }

    private func subscriptionError(_ error: BluetoothError) -> TagConnectionError {
        switch error.code {
        case .inUse, .subscriptionStuck: TagConnectionError(error)
        case _ where isBondLost(error): .bondLost(error)
        default: TagConnectionError(.bluetoothNotificationUpdateError, error)
        }
    }

    /// Whether a failed authentication means that the tag has lost its bond. During a pairing it does not.
    private func isBondLost(_ error: BluetoothError) -> Bool {
        error.code == .authenticationFailed && isPaired && !isPairing
    }

    private static func properties(of properties: CharacteristicProperties) -> TagSession.Properties {
        var result: TagSession.Properties = []
        if properties.contains(.write) { result.insert(.write) }
        if properties.contains(.writeWithoutResponse) { result.insert(.writeWithoutResponse) }
        return result
    }
}
