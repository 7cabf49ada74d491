public import Bluetooth
import JacquardProtocol

/// The stage of a pairing.
public enum PairingStep: Hashable, Sendable {
    /// Scanning for the tag. The tag advertises after its button was held for three seconds.
    case searching
    /// The tag was found, and a link is being made.
    case found(BluetoothAddress)
    /// The tag is bonded.
    case bonded
}

/// State machine of a pairing, from the request to the first connection.
struct PairingAttempt {
    /// The action to perform after an event.
    enum Step {
        case nothing
        case report(PairingStep)
        case end(TagConnectionError?)
    }

    private var isFound = false
    private var isBonded = false
    /// Why the last attempt failed. It is the error of the pairing unless a later attempt succeeds.
    private(set) var lastError: TagConnectionError?

    /// Handles a change of the tag's connection.
    mutating func changed(_ connection: TagConnection, at address: BluetoothAddress?) -> Step {
        switch connection.state {
        case .preparingToConnect:
            lastError = connection.error ?? lastError
            return .nothing
        case .connecting:
            return address.map { linked(at: $0) } ?? .nothing
        case .connected: return isBonded ? .end(nil) : .nothing
        case .disconnected:
            return .end(connection.error ?? TagConnectionError(.bluetoothConnectionError, "the pairing was cancelled"))
        case .initializing, .configuring: return .nothing
        }
    }

    /// Handles a link with the tag.
    mutating func linked(at address: BluetoothAddress) -> Step {
        guard !isFound else { return .nothing }
        isFound = true
        return .report(.found(address))
    }

    /// Handles a new bond.
    ///
    /// - Parameter isConnected: whether the tag is connected already. If so, the bond completes the pairing.
    /// - Returns: the actions to perform, in order.
    mutating func bonded(isConnected: Bool) -> [Step] {
        guard !isBonded else { return [] }
        isBonded = true
        return isConnected ? [.report(.bonded), .end(nil)] : [.report(.bonded)]
    }

    /// The error of a pairing that has exceeded its time limit.
    var overdue: TagConnectionError {
        // A tag that is not found fails no attempt but by its time limit.
        if let lastError, isFound || lastError.code != .connectionTimeout { return lastError }
        return isFound
            ? TagConnectionError(.connectionTimeout, "the tag was found, but did not connect")
            : TagConnectionError(.bluetoothDeviceNotFound, "the tag was not found")
    }
}
