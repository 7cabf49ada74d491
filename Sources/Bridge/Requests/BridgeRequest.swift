/// A validated request to the bridge. Each request has one type and one row in ``BridgeRequestTable``.
protocol BridgeRequest: Sendable {
    /// The last level of its topic, such as `scan`.
    static var name: String { get }

    /// Parses the request from its payload.
    ///
    /// - Throws: `invalid_argument`, `invalid_json`, or why it cannot be executed now.
    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure)

    /// Whether it needs the radio, and so waits until the state of Bluetooth is known.
    var needsBluetooth: Bool { get }

    /// Checks the conditions again before the request begins, because it may have been queued.
    ///
    /// - Throws: why it cannot be executed now.
    func checkBeginning(in bridge: BridgeState) throws(CommandFailure)

    /// How long the driver may take; exceeding it is a defect.
    var answerLimit: Duration { get }

    /// Begins the request. Actions of the driver carry the token, which returns through ``carriedOut(_:in:token:at:)``.
    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep

    /// Handles the driver's answer.
    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep

    /// Called when the request failed or its result is unknown. The result follows the returned actions.
    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction]

    /// A request was refused before it began. The result follows the returned actions.
    static func refused(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction]
}

/// The progress of a request.
enum BridgeRequestStep: Sendable {
    /// The driver performs the actions; its answer follows.
    case underWay([BridgeAction])
    /// The request has succeeded: the result's data, and the actions to perform before the result is published.
    case done(CommandData, [BridgeAction])
    /// The request has failed.
    case failed(CommandFailure)
}

extension BridgeRequest {
    var needsBluetooth: Bool { false }
    var answerLimit: Duration { .seconds(60) }

    func checkBeginning(in bridge: BridgeState) throws(CommandFailure) {}

    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep {
        .done(.none, [])
    }

    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction] { [] }

    static func refused(
        _ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment
    ) -> [BridgeAction] { [] }
}

/// All requests to the bridge.
enum BridgeRequestTable {
    /// In the order of error texts.
    static let rows: [any BridgeRequest.Type] = [
        ForgetRequest.self,
        HealthRequest.self,
        LogLevelRequest.self,
        PairRequest.self,
        PairSerialRequest.self,
        ScanRequest.self,
        TagsRequest.self,
    ]

    /// Returns the request with a verb.
    ///
    /// - Throws: `unknown_command`, with the existing verbs.
    static func row(_ name: String) throws(CommandFailure) -> any BridgeRequest.Type {
        for row in rows where row.name == name { return row }
        // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
        let names = rows.map { $0.name }.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no request \(name.quoted); there are \(names)")
    }
}
