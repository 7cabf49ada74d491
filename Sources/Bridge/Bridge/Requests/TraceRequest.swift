import JacquardProtocol
import Time

/// `request/trace`: the stages of the latest gestures and commands, or of one gesture.
struct TraceRequest: BridgeRequest {
    static let name = "trace"
    static let keys = ["tag", "seq", "count"]

    /// The tag; nil: all tags.
    let tag: TagID?
    /// How many gestures, commands and incidents.
    let count: Int
    private let query: TraceQuery

    /// Bounds the size of the result to about 70 kB.
    private static let counts = 1...100

    init(_ payload: CommandPayload, to bridge: borrowing BridgeState) throws(CommandFailure) {
        let arguments = try CommandArguments(emptyOrObject: payload, with: "tag, seq, count")
        let id = try arguments.text("tag", longest: TagID.longest)
        let sequence = try arguments.integer("seq", 1...UInt32.max)
        if sequence != nil, id == nil {
            throw CommandFailure(.invalidArgument, "\"seq\" counts the gestures of one tag; \"tag\" is missing")
        }
        let position: Int? = if let id { try bridge.tagPosition(id) } else { nil }
        count = try arguments.integer("count", Self.counts) ?? 20
        tag = position.map { bridge.tags[$0].entry.id }
        query = TraceQuery(tag: position.map { bridge.tags[$0].handle }, sequence: sequence, count: count)
    }

    /// The handle of the tag.
    var handle: TagHandle? { query.tag }

    /// Whether one gesture is requested: then the result contains nothing else.
    var isForOneGesture: Bool { query.sequence != nil }

    func begin(
        in bridge: inout BridgeState, token: UInt64, at now: Timestamp, _ effects: inout Effects
    ) -> BridgeRequestStep {
        effects.add(.trace(query, token: token))
        return .underWay
    }

    func succeeded(
        _ response: RequestResponse, in bridge: inout BridgeState, token: UInt64, at now: Timestamp,
        _ effects: inout Effects
    ) -> BridgeRequestStep {
        guard case .gestures(let gestures) = response else { return .failed(.neverEnded) }
        return .done(CommandData(TraceDocument(self, gestures, of: bridge, at: now)))
    }
}
