import JacquardProtocol
import Text

/// A validated request to the bridge. Each request has one type and one row in ``BridgeRequestTable``.
///
/// A request reads the bridge's state and decides. It changes nothing: ``BridgeState`` performs the returned effects.
protocol BridgeRequest: Sendable {
    /// The last level of its topic, such as `scan`.
    static var name: String { get }

    /// Its keys, besides those of all commands.
    static var keys: [String] { get }

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
    func begin(in bridge: borrowing BridgeState, token: UInt64) -> BridgeRequestStep

    /// Handles the driver's response.
    func succeeded(_ response: RequestResponse, token: UInt64) -> BridgeRequestStep

    /// Returns the failure for an error of the driver.
    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure

    /// Returns the effects of a failure or an unknown result. The result follows them.
    func failed(_ failure: CommandFailure, token: UInt64) -> [BridgeRequestEffect]

    /// Returns the effects of a refusal before the request began. The result follows them.
    static func refused(_ failure: CommandFailure) -> [BridgeRequestEffect]
}

/// The progress of a request.
enum BridgeRequestStep: Sendable {
    /// The driver performs an action among the effects; its response follows.
    case underWay([BridgeRequestEffect])
    /// The request has succeeded. The result follows the effects.
    case done(BridgeRequestResult, [BridgeRequestEffect])
    /// The request has failed.
    case failed(CommandFailure)
}

/// An effect of a request on the bridge.
enum BridgeRequestEffect: Sendable {
    /// The driver performs an action.
    case action(BridgeAction)
    /// The requested scan changes.
    case scan(ScanState.Event)
    /// A pairing changes.
    case pairing(PairingProgress.Event)
    /// The driver pairs a tag, or checks its bond.
    case pair(TagEntry, within: Duration, radio: String?, isCheck: Bool, token: UInt64)
    /// A tag is bonded: it is added, unless it is known.
    case paired(TagEntry, TagSighting)
    /// The driver begins or ends the removal of a tag's bond.
    case forgetting(TagID, Bool)
    /// A tag's bond is removed. The result follows when the tag's topics are cleared.
    case forgotten(TagEntry, token: UInt64)
    /// The process was measured.
    case measured(HealthMeasurement)
    /// The driver examines the host for this request, unless an examination is in progress.
    case examine(token: UInt64)
    /// The examination for this request has ended; nil if it has failed.
    case examined(RequestResponse?, token: UInt64)
    /// Log records are published from now on, after the selected ones of earlier records; nil: no longer.
    case log((level: LogLevel, tag: TagID?, duration: Duration)?, past: RecalledLog? = nil)
    /// All facts are published again.
    case refreshed
    /// The recording of a tag's Bluetooth traffic begins.
    case recording(TagID, Duration)
    /// The recording ends, if there is one.
    case recordingStopped
}

/// The data of a successful request.
enum BridgeRequestResult: Sendable {
    /// A document.
    case data(CommandData)
    /// The document of `G/scan`, after the effects.
    case scan
    /// The document of `G/health`, after the effects.
    case health
    /// The findings of the driver and of the bridge.
    case doctor(HostReport, TagID?)
    /// Which log records are published, after the effects.
    case log
    /// The document of `request/trace`, with the gestures of the driver.
    case trace(TraceRequest, [GestureTrace])
    /// A part of the metrics: the tags after one, or the first part.
    case metrics(after: String?, HealthMeasurement)
    /// The state of the recording of Bluetooth traffic, after the effects.
    case recording
}

extension BridgeRequest {
    static var keys: [String] { [] }
    var needsBluetooth: Bool { false }
    var responseLimit: Duration { .seconds(60) }

    func checkBeginning(in bridge: borrowing BridgeState) throws(CommandFailure) {}
    func failure(_ error: RequestError, in bridge: borrowing BridgeState) -> CommandFailure { CommandFailure(error) }
    func succeeded(_ response: RequestResponse, token: UInt64) -> BridgeRequestStep { .done(.data(.none), []) }
    func failed(_ failure: CommandFailure, token: UInt64) -> [BridgeRequestEffect] { [] }
    static func refused(_ failure: CommandFailure) -> [BridgeRequestEffect] { [] }
}

/// All requests to the bridge.
enum BridgeRequestTable {
    /// In the order of error texts.
    static let rows: [any BridgeRequest.Type] = [
        DoctorRequest.self,
        ForgetRequest.self,
        GATTRequest.self,
        HealthRequest.self,
        LogRequest.self,
        LogLevelRequest.self,
        MetricsRequest.self,
        PairRequest.self,
        PairSerialRequest.self,
        RefreshRequest.self,
        ScanRequest.self,
        TagsRequest.self,
        TraceRequest.self,
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
