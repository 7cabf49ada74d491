import JSON
import JacquardProtocol
import Text
import Time

/// The publication of log records on `G/log`.
struct LogStream: Sendable {
    private let topic: String
    private let bridge: String
    /// The selected records; nil without a request.
    private(set) var selection: LogSelection?

    init(topic: String, bridge: String) {
        self.topic = topic
        self.bridge = bridge
    }

    /// When ``deadlineReached(at:)`` has something to do.
    var deadline: Instant? { selection?.deadline }

    /// Starts, replaces or ends the publication.
    mutating func follow(
        _ request: (level: LogLevel, tag: TagID?, duration: Duration)?, past: RecalledLog?, of tags: TagTable,
        at now: Timestamp, _ effects: inout Effects
    ) {
        guard let request else { return end(&effects) }
        let selection = LogSelection(
            request.level, tag: request.tag, since: past?.since ?? now.unixMilliseconds, until: now + request.duration)
        self.selection = selection
        effects.add(.followLog(request.level))
        // The driver bounds the number of earlier records, and they don't count for the rate.
        for entry in selected(past?.entries ?? [], by: selection, tags) {
            effects.publish(publication(LogDocument(entry: entry, bridge: bridge, isPast: true)))
        }
    }

    /// Ends the publication.
    mutating func end(_ effects: inout Effects) {
        guard selection != nil else { return }
        selection = nil
        effects.add(.followLog(nil))
    }

    /// Publishes log records.
    mutating func logged(
        _ entries: [LogEntry], omitted: Int, of tags: TagTable, at now: Timestamp, _ effects: inout Effects
    ) {
        guard let selection else { return }
        // Records of other tags are not missed.
        if selection.tag == nil { self.selection?.lost(omitted) }
        for entry in selected(entries, by: selection, tags) {
            if let document = self.selection?.take(entry, bridge: bridge, at: now) {
                effects.publish(publication(document))
            }
        }
    }

    /// Publishes the number of omitted records, and ends the publication after its duration.
    mutating func deadlineReached(at now: Timestamp, _ effects: inout Effects) {
        guard let until = selection?.until else { return }
        if let omitted = selection?.deadlineReached(bridge: bridge, at: now) { effects.publish(publication(omitted)) }
        if until.instant <= now.instant { end(&effects) }
    }

    /// Returns the records of the selected tag. Those about messages to `G/log` itself are ignored, so that a failure to
    /// publish them does not cause further ones.
    private func selected(_ entries: [LogEntry], by selection: LogSelection, _ tags: TagTable) -> [LogEntry] {
        let address = selection.tag.flatMap(tags.position).flatMap { tags[$0].sighting.address }
        return entries.filter { entry in
            !entry.fields.contains { $0.name == "topic" && $0.value == topic }
                && (selection.tag == nil || entry.concerns(selection.tag, address))
        }
    }

    private func publication(_ document: LogDocument) -> Publication { .stream(topic, document) }
}

/// Selects the log records to publish: those of one tag or all, at most 50 a second, until a time.
struct LogSelection: Sendable {
    /// Maximum number of messages a second.
    static let mostPerSecond = 50
    /// The longest value of a variable in bytes.
    static let longestValue = 256

    let level: LogLevel
    /// The tag whose records are published; nil for all records.
    let tag: TagID?
    /// From when on all records are published, in milliseconds since 1970-01-01T00:00:00Z.
    let since: Int64
    let until: Timestamp

    private var windowEnd = Instant(sinceBoot: .zero)
    private var sent = 0
    private var omitted: UInt64 = 0

    init(_ level: LogLevel, tag: TagID?, since: Int64, until: Timestamp) {
        self.level = level
        self.tag = tag
        self.since = since
        self.until = until
    }

    /// When the omitted records are published, or the stream ends.
    var deadline: Instant { omitted > 0 ? min(windowEnd, until.instant) : until.instant }

    /// Returns the document of a record; nil if it is omitted.
    mutating func take(_ entry: LogEntry, bridge: String, at now: Timestamp) -> LogDocument? {
        admits(at: now.instant) ? document(of: entry, bridge) : nil
    }

    /// Counts records that were lost before.
    mutating func lost(_ count: Int) { omitted += UInt64(clamping: count) }

    /// Returns a message with the number of omitted records if it is due.
    mutating func deadlineReached(bridge: String, at now: Timestamp) -> LogDocument? {
        guard omitted > 0, deadline <= now.instant else { return nil }
        sent = 1
        windowEnd = now.instant + .seconds(1)
        let entry = LogEntry(
            at: now.unixMilliseconds, level: .notice, label: "log", message: "records omitted")
        return document(of: entry, bridge)
    }

    private mutating func admits(at now: Instant) -> Bool {
        if now >= windowEnd {
            windowEnd = now + .seconds(1)
            sent = 0
        }
        guard sent < Self.mostPerSecond else {
            omitted += 1
            return false
        }
        sent += 1
        return true
    }

    private mutating func document(of entry: LogEntry, _ bridge: String) -> LogDocument {
        defer { omitted = 0 }
        return LogDocument(entry: entry, omitted: omitted, bridge: bridge)
    }
}

/// `G/log`.
struct LogDocument: JSONRecord {
    let entry: LogEntry
    /// The number of records that were omitted before this one.
    var omitted: UInt64 = 0
    let bridge: String
    /// Whether the record was written before it was requested.
    var isPast = false

    func addMembers(to object: inout JSONWriter) {
        let fields = entry.fields.map { ($0.name, $0.value.shortened(toBytes: LogSelection.longestValue)) }
        object.add("bridge", bridge)
        object.add("fields", Dictionary(fields) { $1 })
        object.add("label", entry.label)
        object.add("level", entry.level.rawValue)
        object.add("message", entry.message)
        object.add("omitted", omitted)
        object.add("past", isPast)
        object.add("time", TimeText.utc(entry.unixMilliseconds))
    }
}

extension LogEntry {
    /// Returns whether a variable names the tag or its address.
    fileprivate func concerns(_ tag: TagID?, _ address: String?) -> Bool {
        fields.contains {
            $0.name == "tag" && ExactText($0.value) == tag.map { ExactText($0.text) }
                || $0.name == "address" && address != nil && $0.value == address
        }
    }
}
