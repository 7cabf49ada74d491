public import Bluetooth
import JacquardProtocol

/// How far a pairing has come.
public enum PairingStage: Hashable, Sendable {
    /// The tag is looked for. Its button, held for three seconds, makes it heard.
    case searching
    /// It was heard, and a link is made.
    case found(BluetoothAddress)
    /// There is a bond.
    case bonded
}

/// A pairing by command, from the wish to the first connection: a value that follows what is told of the tag.
struct PairingAttempt {
    /// What to do about an event.
    enum Step {
        case nothing
        case tell(PairingStage)
        case end(TagConnectionError?)
    }

    private var isFound = false
    private var isBonded = false
    /// Why the last try failed; the next one may succeed, and otherwise this is what to tell.
    private(set) var lastError: TagConnectionError?

    /// The tag's connection has changed.
    mutating func changed(_ connection: TagConnection, at address: BluetoothAddress?) -> Step {
        switch connection.state {
        case .preparingToConnect:
            lastError = connection.error ?? lastError
            return .nothing
        case .connecting:
            return address.map { linked(at: $0) } ?? .nothing
        case .connected: return isBonded ? .end(nil) : .nothing
        case .disconnected:
            return .end(connection.error ?? TagConnectionError(.bluetoothConnectionError, "the pairing was given up"))
        case .initializing, .configuring: return .nothing
        }
    }

    /// There is a link with the tag.
    mutating func linked(at address: BluetoothAddress) -> Step {
        guard !isFound else { return .nothing }
        isFound = true
        return .tell(.found(address))
    }

    /// There is a bond.
    ///
    /// - Parameter isConnected: whether the tag had been connected before; then the pairing is complete with the bond.
    /// - Returns: what to do, in this order.
    mutating func bonded(isConnected: Bool) -> [Step] {
        guard !isBonded else { return [] }
        isBonded = true
        return isConnected ? [.tell(.bonded), .end(nil)] : [.tell(.bonded)]
    }

    /// The time is over.
    var overdue: TagConnectionError {
        lastError ?? TagConnectionError(.connectionTimeout, "the tag was not found")
    }
}
