import JSON
import JacquardProtocol
import Time

/// The data of the result of `request/trace`. Every list is in the order of time.
struct TraceDocument: JSONRecord {
    private let gestures: [GestureTraceDocument]
    private let commands: [CommandTraceDocument]
    private let incidents: [IncidentDocument]
    /// The requested tag, otherwise the tags that are not connected.
    private let tags: [TracedTagDocument]

    /// Maximum number of tags.
    private static let maxTags = 20

    init(_ request: TraceRequest, _ gestures: [GestureTrace], of bridge: borrowing BridgeState, at now: Timestamp) {
        let tags = bridge.tags.filter { request.tag == nil ? !$0.isConnected : $0.entry.id == request.tag }
        let ids = Dictionary(bridge.tags.map { ($0.handle, $0.entry.id.text) }) { first, _ in first }
        let (tracing, names) = (bridge.tracing, bridge.reactions.gestures.chordNames)
        let clock = bridge.diagnostics.clock.checked(at: now)
        self.gestures = gestures.compactMap { trace in
            ids[trace.tag].map {
                GestureTraceDocument(trace: trace, tag: $0, names: names, tracing: tracing, clock: clock, now: now)
            }
        }
        self.tags = tags.prefix(Self.maxTags).map { TracedTagDocument(tag: $0, now: now) }
        guard !request.isForOneGesture else {
            (commands, incidents) = ([], [])
            return
        }
        commands = bridge.pendingCommands.traces.latest(of: request.tag?.text, request.count)
            .map { CommandTraceDocument(trace: $0, clock: clock, now: now) }
        incidents = bridge.diagnostics.incidents.latest(of: request.handle, request.count).compactMap { incident in
            ids[incident.tag].map { IncidentDocument(incident: incident, tag: $0, clock: clock) }
        }
    }

    func addMembers(to object: inout JSONWriter) {
        object.add("commands", commands)
        object.add("gestures", gestures)
        object.add("incidents", incidents)
        object.add("tags", tags)
    }
}

/// A gesture, and how far it has come. The times of its stages are distances in microseconds from `time`, `null` for a stage that was not
/// reached.
struct GestureTraceDocument: JSONRecord {
    let trace: GestureTrace
    let tag: String
    let names: ChordNames
    let tracing: TraceContext?
    let clock: TraceClock
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        let age = TraceTicks.microseconds(TraceTicks.at(now.instant) - trace.received)
        let complete = TraceTicks.microseconds(Int64(trace.reassembled))
        let wasHeld = trace.remarks.contains(.wasHeld)
        object.add("age_ms", max(0, (age + 500) / 1_000))
        object.add("ended_us", Self.microseconds(trace.ended))
        object.add("event_type", names.name(of: trace.name))
        object.add("queued_us", Self.microseconds(trace.queued))
        object.add("read_us", TraceTicks.microseconds(Int64(trace.read)))
        object.add("reassembled_us", wasHeld ? 0 : complete)
        // The reason of MQTT 5's PUBACK.
        object.add("reason", trace.remarks.contains(.hasReason) ? Int(trace.reason) : nil)
        // When a gesture that was held back was released.
        object.add("released_us", wasHeld ? complete : nil)
        // Whether it was sent again after a lost connection.
        object.add("repeated", trace.remarks.contains(.isRepeated))
        object.add("seq", trace.sequence)
        object.add("stage", trace.stage)
        object.add("tag", tag)
        // When the descriptor was readable; of a gesture that was held back, when it was decoded.
        object.add("time", clock.text(of: TraceTicks.instant(trace.received)))
        // The trace id of `traceparent`.
        object.add("trace", tracing?.traceID(tag: trace.tag, sequence: UInt64(trace.sequence)))
        object.add("waited_for", trace.remarks.waitedFor)
        object.add("written_us", Self.microseconds(trace.written))
    }

    private static func microseconds(_ ticks: UInt32) -> Int64? {
        ticks != TraceTicks.never ? TraceTicks.microseconds(Int64(ticks)) : nil
    }
}

extension GestureTrace.Remarks {
    fileprivate var waitedFor: String? {
        if contains(.waitedForBroker) { return "broker" }
        return contains(.waitedForWindow) ? "window" : contains(.wasHeld) ? "chord" : nil
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
private struct CommandTraceDocument: JSONRecord {
    let trace: CommandTrace
    let clock: TraceClock
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        let (stage, code) = trace.stage
        object.add("age_ms", max(0, (now.instant - trace.received).milliseconds))
        object.add("code", code?.rawValue)
        // Such as `led/set`.
        object.add("command", trace.name)
        object.add("ended_us", trace.ended.map { ($0 - trace.received).microseconds })
        object.add("id", trace.id)
        // Whether it repeats a command with the same `id`: `stored` or `pending`.
        object.add("repetition", trace.repetition?.rawValue)
        object.add("sent_us", trace.sent.map { ($0 - trace.received).microseconds })
        object.add("stage", stage)
        object.add("tag", trace.tag)
        object.add("time", clock.text(of: trace.received))
    }
}

extension CommandTrace {
    /// The last stage, and the code of the error.
    fileprivate var stage: (String, CommandFailure.Code?) {
        switch outcome {
        case .success: ("answered", nil)
        case .failure(let failure): ("failed", failure)
        case .elsewhere: ("elsewhere", nil)
        case nil where sent != nil: ("sent", nil)
        // An accepted one waits for the tag.
        case nil: (isAccepted ? "accepted" : "received", nil)
        }
    }
}

/// An incident of a tag.
private struct IncidentDocument: JSONRecord {
    let incident: TagIncidents.Incident
    let tag: String
    let clock: TraceClock

    func addMembers(to object: inout JSONWriter) {
        let (type, code) = incident.kind.words
        // Of the error that ended the connection.
        object.add("code", code)
        object.add("tag", tag)
        object.add("time", clock.text(of: incident.time))
        object.add("type", type)
    }
}

extension TagIncidents.Kind {
    fileprivate var words: (type: String, code: String?) {
        switch self {
        case .fragmentLost: ("fragment_lost", nil)
        case .connected: ("connected", nil)
        case .disconnected(let error): ("disconnected", error?.word)
        }
    }
}

/// A tag, with its policy and the document of `T/connection`.
private struct TracedTagDocument: JSONRecord {
    let tag: TagMirror
    let now: Timestamp

    func addMembers(to object: inout JSONWriter) {
        object.add("connect", tag.entry.connect.rawValue)
        object.add("connection", tag.connectionDocument(at: now))
        // Why the last attempt failed, also after the bridge has stopped trying.
        object.add("error", tag.link.failure.map(tag.link.document))
        object.add("held", tag.link.intent.isHeld)
        object.add("id", tag.entry.id.text)
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
