/// A request to the bridge that has been read and found to be right; one type for each, one row in
/// ``BridgeRequestTable``.
protocol BridgeRequest: Sendable {
    /// The last level of its topic, such as `scan`.
    static var name: String { get }

    /// Reads it.
    ///
    /// - Throws: `invalid_argument`, `invalid_json`, or why it cannot be carried out now.
    init(_ payload: CommandPayload, to bridge: BridgeState) throws(CommandFailure)

    /// Whether it is carried out by radio, and so waits until the bridge knows whether Bluetooth is on.
    var needsBluetooth: Bool { get }

    /// Looks once more when it is about to begin, for it may have waited.
    ///
    /// - Throws: why it cannot be carried out now.
    func checkBeginning(in bridge: BridgeState) throws(CommandFailure)

    /// How long the driver may take before that is a defect.
    var answerLimit: Duration { get }

    /// Begins. What needs the driver goes out with the token and comes back by ``carriedOut(_:in:token:at:)``.
    func begin(in bridge: inout BridgeState, token: UInt64, at now: Moment) -> BridgeRequestStep

    /// The driver has done its part.
    func carriedOut(
        _ answer: CommandAnswer, in bridge: inout BridgeState, token: UInt64, at now: Moment
    ) -> BridgeRequestStep

    /// It was not carried out, or nobody knows. The result follows what is given back.
    func failed(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction]

    /// A request was refused before it began. The result follows the returned actions.
    static func refused(_ failure: CommandFailure, in bridge: inout BridgeState, at now: Moment) -> [BridgeAction]
}

/// How far a request has got.
enum BridgeRequestStep: Sendable {
    /// Somebody carries it out.
    case underWay([BridgeAction])
    /// It was carried out: what the result holds, and what is to be done before it is told.
    case done(CommandData, [BridgeAction])
    /// It was not.
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

/// Every request to the bridge that this version carries out.
enum BridgeRequestTable {
    /// In the order in which an error text lists them.
    static let rows: [any BridgeRequest.Type] = [
        ForgetRequest.self,
        HealthRequest.self,
        LogLevelRequest.self,
        PairRequest.self,
        PairSerialRequest.self,
        ScanRequest.self,
        TagsRequest.self,
    ]

    /// The request of a verb.
    ///
    /// - Throws: `unknown_command`, with the verbs that there are.
    static func row(_ name: String) throws(CommandFailure) -> any BridgeRequest.Type {
        for row in rows where row.name == name { return row }
        // A key path here crashes the compiler (Swift 6.3.1, static member of an existential metatype).
        let names = rows.map { $0.name }.joined(separator: ", ")
        throw CommandFailure(.unknownCommand, "There is no request \(name.quoted); there are \(names)")
    }
}
