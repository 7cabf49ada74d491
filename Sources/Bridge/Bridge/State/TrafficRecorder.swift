import GATTRecording
import JSON
import JacquardProtocol
import Time

/// The recording of the Bluetooth traffic with one tag, for `request/gatt`. At most one at a time.
struct TrafficRecorder: Sendable {
    /// Why a recording ends.
    enum End: String, Sendable {
        /// The requested time is over.
        case duration
        /// The recording has its maximum size.
        case size
        /// A request.
        case stopped
        /// The tag was removed, or the bridge stops.
        case removed
    }

    /// A running recording.
    struct Recording: Sendable {
        let tag: TagID
        let startedAt: Instant
        let until: Timestamp
        fileprivate(set) var count = 0
        fileprivate(set) var bytes = 0
    }

    /// The running recording; nil if there is none.
    private(set) var recording: Recording?

    /// Begins a recording.
    mutating func begin(_ tag: TagID, for duration: Duration, at now: Timestamp) {
        recording = Recording(tag: tag, startedAt: now.instant, until: now + duration)
    }

    /// Records an event of a tag.
    ///
    /// - Returns: the document to publish; nil if the tag is not being recorded.
    mutating func take(_ event: TrafficRecord.Event, of tag: TagID, at now: Timestamp) -> JSONValue? {
        guard recording?.tag == tag, !isFull else { return nil }
        return document(of: event, at: now)
    }

    /// Whether the recording has its maximum size.
    var isFull: Bool {
        guard let recording else { return false }
        return recording.count >= TrafficRecording.maxRecords || recording.bytes >= TrafficRecording.maxValueBytes
    }

    /// Ends the recording.
    ///
    /// - Returns: the document of its last record; nil if there was none.
    mutating func end(_ reason: End, at now: Timestamp) -> JSONValue? {
        defer { recording = nil }
        return document(of: .end(reason: reason.rawValue), at: now)
    }

    private mutating func document(of event: TrafficRecord.Event, at now: Timestamp) -> JSONValue? {
        guard var current = recording else { return nil }
        current.count += 1
        current.bytes += event.valueByteCount
        recording = current
        let record = TrafficRecord(
            number: current.count, microseconds: (now.instant - current.startedAt).microseconds, event: event)
        guard case .object(var members) = record.document else { return nil }
        members["tag"] = .string(current.tag.text)
        return .object(members)
    }
}

extension TrafficRecord.Event {
    fileprivate var valueByteCount: Int {
        switch self {
        case .write(let value, on: _, withResponse: _), .notified(let value, on: _): value.count
        default: 0
        }
    }
}

/// The data of the result of `request/gatt`.
struct TrafficRecorderDocument: Encodable {
    let recording: Bool
    @OrNull var tag: String?
    @OrNull var until: String?

    init(_ recorder: TrafficRecorder) {
        recording = recorder.recording != nil
        tag = recorder.recording?.tag.text
        until = recorder.recording?.until.text
    }
}

extension BridgeState {
    /// Begins a recording.
    mutating func beginRecording(_ tag: TagID, for duration: Duration, at now: Timestamp) -> [BridgeAction] {
        recorder.begin(tag, for: duration, at: now)
        return [.recordTraffic(of: handle(of: tag))]
    }

    /// Publishes an event of the Bluetooth traffic, and ends the recording at its maximum size.
    mutating func traffic(_ event: TrafficRecord.Event, of tag: TagHandle, at now: Timestamp) -> [BridgeAction] {
        guard let id = id(of: tag), let document = recorder.take(event, of: id, at: now) else { return [] }
        return publish([.stream(topics.gatt, document)]) + (recorder.isFull ? endRecording(.size, at: now) : [])
    }

    /// Ends the recording, if there is one.
    mutating func endRecording(_ reason: TrafficRecorder.End, at now: Timestamp) -> [BridgeAction] {
        guard let document = recorder.end(reason, at: now) else { return [] }
        let publication = Publication(
            topic: topics.gatt, payload: JSONText.bytes(of: document), kind: .event(lifetime: .seconds(60)))
        return [.recordTraffic(of: nil)] + publish([publication])
    }

    /// Ends the recording once its duration has passed.
    mutating func endRecordingInTime(at now: Timestamp) -> [BridgeAction] {
        guard let until = recorder.recording?.until, until.instant <= now.instant else { return [] }
        return endRecording(.duration, at: now)
    }
}
