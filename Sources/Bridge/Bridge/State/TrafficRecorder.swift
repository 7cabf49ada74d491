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

    private let topic: String

    init(topic: String) {
        self.topic = topic
    }

    /// Begins a recording.
    mutating func begin(
        _ tag: TagID, _ handle: TagHandle?, for duration: Duration, at now: Timestamp, _ effects: inout Effects
    ) {
        recording = Recording(tag: tag, startedAt: now.instant, until: now + duration)
        effects.add(.recordTraffic(of: handle))
    }

    /// Publishes an event of a tag if it is being recorded, and ends the recording at its maximum size.
    mutating func record(
        _ event: TrafficRecord.Event, of tag: TagID?, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let tag, recording?.tag == tag, !isFull, let document = document(of: event, at: now) else { return }
        effects.publish(.stream(topic, document))
        if isFull { end(.size, at: now, &effects) }
    }

    /// Ends the recording, if there is one.
    mutating func end(_ reason: End, at now: Timestamp, _ effects: inout Effects) {
        defer { recording = nil }
        guard let document = document(of: .end(reason: reason.rawValue), at: now) else { return }
        effects.add(.recordTraffic(of: nil))
        effects.publish(
            Publication(topic: topic, payload: JSONText.bytes(of: document), kind: .event(lifetime: .seconds(60))))
    }

    /// Ends the recording once its duration has passed.
    mutating func deadlineReached(at now: Timestamp, _ effects: inout Effects) {
        guard let until = recording?.until, until.instant <= now.instant else { return }
        end(.duration, at: now, &effects)
    }

    /// Whether the recording has its maximum size.
    var isFull: Bool {
        guard let recording else { return false }
        return recording.count >= TrafficRecording.maxRecords || recording.bytes >= TrafficRecording.maxValueBytes
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

extension TrafficRecorder {
    /// The data of the result of `request/gatt`.
    var data: CommandData {
        CommandData { object in
            object.add("recording", recording != nil)
            object.add("tag", recording?.tag.text)
            object.add("until", recording?.until)
        }
    }
}
