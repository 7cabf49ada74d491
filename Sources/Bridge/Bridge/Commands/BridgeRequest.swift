import JacquardProtocol
import Text
import Time

/// A validated request to the bridge. Each request has one type and one row in ``BridgeRequestTable``.
///
/// It acts on the state of the bridge, and adds the actions of the driver to the effects.
protocol BridgeRequest: Sendable {
    /// The last level of its topic, such as `scan`.
    static var name: String { get }

    /// Its keys, besides those of all commands.
    static var keys: [String] { get }

    /// Whether it means nothing without a payload.
    static var needsPayload: Bool { get }

    /// Parses the request from its payload.
    ///
    /// - Throws: `invalid_argument`, `invalid_json`, or why it cannot be executed now.
    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure)

    /// Whether it needs the radio, and so waits until the state of Bluetooth is known.
    var needsBluetooth: Bool { get }

    /// Checks the conditions again before the request begins, because it may have been queued.
    ///
    /// - Throws: why it cannot be executed now.
    func checkBeginning(in bridge: borrowing BridgeState) throws(CommandFailure)

    /// How long the driver may take; exceeding it is a defect.
    var responseLimit: Duration { get }

    /// Begins the request. Actions of the driver carry the token, which returns with the driver's response.
    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep

    /// Handles the driver's response.
    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep

    /// Returns the failure for an error of the driver.
    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure

    /// Handles a failure or an unknown result. The result follows the effects.
    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    )

    /// Handles the refusal of an invalid request. The result follows the effects.
    static func refused(
        _ failure: CommandFailure, of payload: CommandPayload, in bridge: inout BridgeState, at now: Timestamp,
        _ effects: inout Effects
    )

    /// Handles a refusal before the request began. The result follows the effects.
    func refused(
        _ failure: CommandFailure, in bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    )
}

/// The progress of a request.
enum BridgeRequestStep: Sendable {
    /// The driver performs an action among the effects; its response follows.
    case underWay
    /// The request has succeeded. The result follows the effects.
    case done(CommandData)
    /// The request has failed.
    case failed(CommandFailure)
}

extension BridgeRequest {
    static var keys: [String] { [] }
    static var needsPayload: Bool { false }
    var needsBluetooth: Bool { false }
    var responseLimit: Duration { .seconds(60) }

    func checkBeginning(in bridge: borrowing BridgeState) throws(CommandFailure) {}
    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure {
        bridge.stack.failure(of: error)
    }
    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep { .done(.none) }
    func failed(
        _ failure: CommandFailure, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) {}
    static func refused(
        _ failure: CommandFailure, of payload: CommandPayload, in bridge: inout BridgeState, at now: Timestamp,
        _ effects: inout Effects
    ) {}
    func refused(
        _ failure: CommandFailure, in bridge: inout BridgeState, at now: Timestamp, _ effects: inout Effects
    ) {}
}
