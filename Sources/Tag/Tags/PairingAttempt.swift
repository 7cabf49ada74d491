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

/// State machine of a pairing, or of the check of a bond, from the request to the first connection.
struct PairingAttempt {
    /// The action to perform after an event.
    enum Step {
        case nothing
        case report(PairingStep)
        /// Connect without a pause, and note that with ``PairingAttempt/pauseEnded()``.
        case endPause
        case end(TagConnectionError?)
    }

    /// Whether no bond is made: one of the next links must succeed.
    let isCheck: Bool
    /// Whether the link that exists is dropped, and does not count.
    private var isDropping: Bool
    private var isFound = false
    /// The number of links of a check that have failed.
    private var failedLinks = 0
    /// Whether the next link is made without a pause.
    private var isHurried = false
    private var isBonded: Bool
    /// Why the last attempt failed. It is the error of the pairing unless a later attempt succeeds.
    private(set) var lastError: TagConnectionError?

    /// The number of failed links that end a check. BlueZ does not say that a tag refuses a bond; its central takes three links that
    /// end at once for a refusal.
    private static let mostLinks = 3

    /// Creates a pairing, or a check while the tag has a link or not.
    init(isCheck: Bool = false, isLinked: Bool = false) {
        (self.isCheck, isBonded, isDropping) = (isCheck, isCheck, isCheck && isLinked)
    }

    /// Handles a change of the tag's connection.
    mutating func changed(_ connection: TagConnection, at address: BluetoothAddress?) -> Step {
        switch connection.state {
        case .preparingToConnect: return lost(connection.error)
        case _ where isDropping && connection.state != .disconnected: return .nothing
        case .connecting:
            return address.map { linked(at: $0) } ?? .nothing
        case .connected: return isBonded ? .end(nil) : .nothing
        case .disconnected:
            return .end(connection.error ?? TagConnectionError(.bluetoothConnectionError, "the pairing was cancelled"))
        case .initializing, .configuring: return .nothing
        }
    }

    /// Handles the end of a link or of an attempt. A check ends with a bond that is not accepted.
    private mutating func lost(_ error: TagConnectionError?) -> Step {
        if error?.stackName == BluetoothError.otherRadioName {
            (isFound, isDropping, isHurried) = (false, false, true)
            return .endPause
        }
        isDropping = false
        lastError = error ?? lastError
        guard isCheck, let error else { return isHurried ? .endPause : .nothing }
        if isFound {
            failedLinks += 1
            isHurried = true
        }
        isFound = false
        let isRefused = error.stackName == BluetoothError.bondRefusedName || failedLinks == Self.mostLinks
        return isRefused ? .end(error) : isHurried ? .endPause : .nothing
    }

    /// Handles the end of the pause: another failure is followed by a pause.
    mutating func pauseEnded() { isHurried = false }

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
