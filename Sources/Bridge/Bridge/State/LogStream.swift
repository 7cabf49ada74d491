import JSON
import JacquardProtocol
public import Text
import Time

/// A log record of the program.
public struct LogEntry: Equatable, Sendable {
    /// A variable of a record.
    public struct Field: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: String

        /// Creates a variable.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    public let unixMilliseconds: Int64
    /// The severity.
    public let level: LogLevel
    /// The part of the program.
    public let label: String
    /// The fixed text.
    public let message: String
    /// The variables in their order; for a repeated name the last one counts.
    public let fields: [Field]

    /// Creates a record.
    public init(
        at unixMilliseconds: Int64, level: LogLevel, label: String, message: String, fields: [Field] = []
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.level = level
        self.label = label
        self.message = message
        self.fields = fields
    }
}

/// Earlier log records of the program.
public struct RecalledLog: Equatable, Sendable {
    /// Oldest first.
    public let entries: [LogEntry]
    /// From when on they are complete, in milliseconds since 1970-01-01T00:00:00Z.
    public let since: Int64

    /// Creates records.
    public init(_ entries: [LogEntry], since: Int64) {
        self.entries = entries
        self.since = since
    }
}

/// Selects the log records to publish: those of one tag or all, at most 50 a second, until a time.
struct LogStream: Sendable {
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
        return LogDocument(entry, omitted: omitted, bridge: bridge)
    }
}

/// `G/log`.
struct LogDocument: Encodable {
    let bridge: String
    let fields: [String: String]
    let label: String
    let level: LogLevel
    let message: String
    /// The number of records that were omitted before this one.
    let omitted: UInt64
    /// Whether the record was written before it was requested.
    let past: Bool
    let time: String

    init(_ entry: LogEntry, omitted: UInt64 = 0, bridge: String, isPast: Bool = false) {
        self.bridge = bridge
        fields = Dictionary(
            entry.fields.map { ($0.name, $0.value.shortened(toBytes: LogStream.longestValue)) }
        ) { $1 }
        label = entry.label
        level = entry.level
        message = entry.message
        self.omitted = omitted
        past = isPast
        time = TimeText.utc(entry.unixMilliseconds)
    }
}

extension LogLevel: Encodable {}

// MARK: The bridge

extension BridgeState {
    /// Starts, replaces or ends the publication of log records.
    mutating func followLog(
        _ selection: (level: LogLevel, tag: TagID?, duration: Duration)?, past: RecalledLog?, at now: Timestamp
    ) -> [BridgeAction] {
        guard let selection else { return endLog(at: now) }
        logStream = LogStream(
            selection.level, tag: selection.tag, since: past?.since ?? now.unixMilliseconds,
            until: now + selection.duration)
        return [.followLog(selection.level)] + publish(recalled(past))
    }

    /// Publishes earlier log records. The driver bounds their number, and they don't count for the rate.
    private func recalled(_ past: RecalledLog?) -> [Publication] {
        guard let stream = logStream, let past else { return [] }
        return selected(past.entries, by: stream).map {
            logPublication(LogDocument($0, bridge: configuration.instance, isPast: true))
        }
    }

    /// Ends the publication of log records.
    mutating func endLog(at now: Timestamp) -> [BridgeAction] {
        guard logStream != nil else { return [] }
        logStream = nil
        return [.followLog(nil)]
    }

    /// Publishes log records.
    mutating func logged(_ entries: [LogEntry], omitted: Int, at now: Timestamp) -> [Publication] {
        guard let stream = logStream else { return [] }
        // Records of other tags are not missed.
        if stream.tag == nil { logStream?.lost(omitted) }
        return selected(entries, by: stream).compactMap { entry in
            logStream?.take(entry, bridge: configuration.instance, at: now).map { logPublication($0) }
        }
    }

    /// Returns the records of the stream's tag. Those about messages to `G/log` itself are ignored, so that a failure to publish
    /// them does not cause further ones.
    private func selected(_ entries: [LogEntry], by stream: LogStream) -> [LogEntry] {
        let address = stream.tag.flatMap(tags.position).flatMap { tags[$0].sighting.address }
        return entries.filter { entry in
            !entry.fields.contains { $0.name == "topic" && $0.value == topics.log }
                && (stream.tag == nil || entry.concerns(stream.tag, address))
        }
    }

    /// Publishes the number of omitted records, and ends the publication after its duration.
    mutating func logDue(at now: Timestamp) -> [BridgeAction] {
        guard let until = logStream?.until else { return [] }
        let omitted = logStream?.deadlineReached(bridge: configuration.instance, at: now).map { logPublication($0) }
        let last = omitted.map { [BridgeAction.publish($0)] } ?? []
        return last + (until.instant <= now.instant ? endLog(at: now) : [])
    }

    private func logPublication(_ document: LogDocument) -> Publication {
        .stream(topics.log, document)
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
