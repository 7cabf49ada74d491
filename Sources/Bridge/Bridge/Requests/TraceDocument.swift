import JSON
import JacquardProtocol
import Time

/// The data of the result of `request/trace`. Every list is in the order of time.
struct TraceDocument: Encodable {
    let gestures: [GestureTraceDocument]
    let commands: [CommandTraceDocument]
    let incidents: [IncidentDocument]
    /// The requested tag, otherwise the tags that are not connected.
    let tags: [TracedTagDocument]

    /// Maximum number of tags.
    private static let maxTags = 20

    init(_ request: TraceRequest, _ gestures: [GestureTrace], of bridge: borrowing BridgeState, at now: Timestamp) {
        let tags = bridge.tags.filter { request.tag == nil ? !$0.isConnected : $0.entry.id == request.tag }
        let ids = Dictionary(bridge.tags.map { ($0.handle, $0.entry.id.text) }) { first, _ in first }
        let (tracing, names) = (bridge.tracing, bridge.reactions.gestures.chordNames)
        let clock = bridge.diagnostics.clock.checked(at: now)
        self.gestures = gestures.compactMap { trace in
            ids[trace.tag].map { GestureTraceDocument(trace, of: $0, names, tracing, clock, at: now) }
        }
        self.tags = tags.prefix(Self.maxTags).map { TracedTagDocument($0, at: now) }
        guard !request.isForOneGesture else {
            (commands, incidents) = ([], [])
            return
        }
        commands = bridge.pendingCommands.traces.latest(of: request.tag?.text, request.count)
            .map { CommandTraceDocument($0, clock, at: now) }
        incidents = bridge.diagnostics.incidents.latest(of: request.handle, request.count).compactMap { incident in
            ids[incident.tag].map { IncidentDocument(incident, of: $0, clock) }
        }
    }
}

/// A gesture and the times of its stages.
struct GestureTraceDocument: JoinedDocument {
    let gesture: TracedGestureDocument
    let stages: GestureStagesDocument

    init(
        _ trace: GestureTrace, of tag: String, _ names: ChordNames, _ tracing: TraceContext?, _ clock: TraceClock,
        at now: Timestamp
    ) {
        gesture = TracedGestureDocument(trace, of: tag, names, tracing, clock, at: now)
        stages = GestureStagesDocument(trace)
    }

    var parts: [any Encodable] { [gesture, stages] }
}

/// A gesture, and how far it has come.
struct TracedGestureDocument: Encodable {
    let tag: String
    let eventType: String
    let seq: UInt32
    /// When the descriptor was readable; of a gesture that was held back, when it was decoded.
    let time: String
    /// The last stage: `waiting`, `queued`, `written`, `acknowledged`, `refused`, `expired`, `dropped`, `unsendable` or
    /// `closing`.
    let stage: String
    /// The reason of MQTT 5's PUBACK.
    @OrNull var reason: Int?
    /// `broker`, `window` or `chord`.
    @OrNull var waitedFor: String?
    /// Whether it was sent again after a lost connection.
    let repeated: Bool
    /// Age in milliseconds.
    let age: Int64
    /// The trace id of `traceparent`.
    @OrNull var trace: String?

    init(
        _ trace: GestureTrace, of tag: String, _ names: ChordNames, _ tracing: TraceContext?, _ clock: TraceClock,
        at now: Timestamp
    ) {
        self.tag = tag
        eventType = names.name(of: trace.name)
        seq = trace.sequence
        time = clock.text(of: TraceTicks.instant(trace.received))
        stage = trace.stage
        reason = trace.remarks.contains(.hasReason) ? Int(trace.reason) : nil
        waitedFor =
            trace.remarks.contains(.waitedForBroker)
            ? "broker"
            : trace.remarks.contains(.waitedForWindow) ? "window" : trace.remarks.contains(.wasHeld) ? "chord" : nil
        repeated = trace.remarks.contains(.isRepeated)
        age = max(0, (TraceTicks.microseconds(TraceTicks.at(now.instant) - trace.received) + 500) / 1_000)
        self.trace = tracing?.traceID(tag: trace.tag, sequence: UInt64(trace.sequence))
    }

    private enum CodingKeys: String, CodingKey {
        case tag, seq, time, stage, reason, repeated, trace
        case eventType = "event_type"
        case waitedFor = "waited_for"
        case age = "age_ms"
    }
}

/// When a gesture reached its stages: distances in microseconds from the `time` of its ``TracedGestureDocument``; `null` for a stage that
/// was not reached.
struct GestureStagesDocument: Encodable {
    let read: Int64
    let reassembled: Int64
    /// When a gesture that was held back was released.
    @OrNull var released: Int64?
    @OrNull var queued: Int64?
    @OrNull var written: Int64?
    @OrNull var ended: Int64?

    init(_ trace: GestureTrace) {
        let wasHeld = trace.remarks.contains(.wasHeld)
        read = TraceTicks.microseconds(Int64(trace.read))
        reassembled = wasHeld ? 0 : TraceTicks.microseconds(Int64(trace.reassembled))
        released = wasHeld ? TraceTicks.microseconds(Int64(trace.reassembled)) : nil
        queued = Self.microseconds(trace.queued)
        written = Self.microseconds(trace.written)
        ended = Self.microseconds(trace.ended)
    }

    private static func microseconds(_ ticks: UInt32) -> Int64? {
        ticks != TraceTicks.never ? TraceTicks.microseconds(Int64(ticks)) : nil
    }

    private enum CodingKeys: String, CodingKey {
        case read = "read_us"
        case reassembled = "reassembled_us"
        case released = "released_us"
        case queued = "queued_us"
        case written = "written_us"
        case ended = "ended_us"
    }
}

extension GestureTrace {
    /// The last stage.
    fileprivate var stage: String {
        switch outcome {
        case .pending where queued == TraceTicks.never: "waiting"
        case .pending where written == TraceTicks.never: "queued"
        case .pending: "written"
        case .acknowledged: "acknowledged"
        case .expired: "expired"
        case .dropped: "dropped"
        case .refused: "refused"
        case .unsendable: "unsendable"
        case .closing: "closing"
        }
    }
}

/// The stages of a command to a tag. Times in microseconds are distances from `time`.
struct CommandTraceDocument: Encodable {
    let tag: String
    /// Such as `led/set`.
    let command: String
    @OrNull var id: String?
    /// When it was received.
    let time: String
    /// The last stage: `received`, `accepted` (it waits for the tag), `sent`, `answered`, `failed` or `elsewhere`.
    let stage: String
    @OrNull var sent: Int64?
    @OrNull var ended: Int64?
    /// The code of the error.
    @OrNull var code: String?
    /// Whether it repeats a command with the same `id`: `stored` or `pending`.
    @OrNull var repetition: String?
    /// Age in milliseconds.
    let age: Int64

    init(_ trace: CommandTrace, _ clock: TraceClock, at now: Timestamp) {
        tag = trace.tag
        command = trace.name
        id = trace.id
        age = max(0, (now.instant - trace.received).milliseconds)
        time = clock.text(of: trace.received)
        sent = trace.sent.map { ($0 - trace.received).microseconds }
        ended = trace.ended.map { ($0 - trace.received).microseconds }
        repetition = trace.repetition?.rawValue
        switch trace.outcome {
        case .success: (stage, code) = ("answered", nil)
        case .failure(let failure): (stage, code) = ("failed", failure.rawValue)
        case .elsewhere: (stage, code) = ("elsewhere", nil)
        case nil where trace.sent != nil: (stage, code) = ("sent", nil)
        case nil: (stage, code) = (trace.isAccepted ? "accepted" : "received", nil)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case tag, command, id, time, stage, code, repetition
        case sent = "sent_us"
        case ended = "ended_us"
        case age = "age_ms"
    }
}

/// An incident of a tag.
struct IncidentDocument: Encodable {
    let tag: String
    /// `fragment_lost`, `connected` or `disconnected`.
    let type: String
    let time: String
    /// The code of the error that ended the connection.
    @OrNull var code: String?

    init(_ incident: TagIncidents.Incident, of tag: String, _ clock: TraceClock) {
        self.tag = tag
        time = clock.text(of: incident.time)
        switch incident.kind {
        case .fragmentLost: (type, code) = ("fragment_lost", nil)
        case .connected: (type, code) = ("connected", nil)
        case .disconnected(let error): (type, code) = ("disconnected", error?.word)
        }
    }
}

/// A tag, with its policy and the document of `T/connection`.
struct TracedTagDocument: Encodable {
    let id: String
    /// `always`, `on_demand` or `never`.
    let connect: String
    /// Whether the user has disconnected the tag.
    let held: Bool
    let connection: ConnectionDocument
    /// Why the last attempt failed, also after the bridge has stopped trying.
    @OrNull var error: ConnectionErrorDocument?

    init(_ tag: TagMirror, at now: Timestamp) {
        id = tag.entry.id.text
        connect = tag.entry.connect.rawValue
        held = tag.link.intent.isHeld
        connection = tag.connectionDocument(at: now)
        error = tag.link.failure.map(tag.link.document)
    }
}

/// Converts the times of traces to the time of day, with the same result at each request: from one pair of times, which
/// is replaced when the time of day was set.
struct TraceClock: Hashable, Sendable {
    private let origin: Timestamp

    init(_ origin: Timestamp) {
        self.origin = origin
    }

    /// Returns the clock to use from now on. The time of day is known to a millisecond only.
    func checked(at now: Timestamp) -> TraceClock {
        abs(unixMilliseconds(of: now.instant) - now.unixMilliseconds) <= 1 ? self : TraceClock(now)
    }

    /// Returns the time of day in the contract's format.
    func text(of instant: Instant) -> String { TimeText.utc(unixMilliseconds(of: instant)) }

    private func unixMilliseconds(of instant: Instant) -> Int64 {
        let microseconds = (instant - origin.instant).microseconds
        // Rounded down, also before the origin.
        return origin.unixMilliseconds + (microseconds >= 0 ? microseconds / 1_000 : (microseconds - 999) / 1_000)
    }
}
