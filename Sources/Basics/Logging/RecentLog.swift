internal import Synchronization
public import Text
public import Time

/// Passes records on to another sink, and keeps the newest ones for readers that come later.
///
/// It keeps only records that reach the threshold of the other sink and have a time (``LogTap``).
public final class RecentLog: LogSink {
    /// Upper bound on the kept records. The oldest one is removed first.
    static let most = 256
    /// Upper bound on the bytes of the kept records, with ``overhead``.
    static let mostBytes = 64 << 10
    /// The bytes that a record occupies beside its texts.
    static let overhead = 128

    private let sink: any LogSink
    private let kept: Mutex<RecentRecords>

    /// Creates a sink without records.
    ///
    /// - Parameters:
    ///   - sink: receives all records.
    ///   - begin: the current time. Nothing is known about the time before.
    public init(_ sink: any LogSink, since begin: Instant) {
        self.sink = sink
        kept = Mutex(RecentRecords(start: begin))
    }

    /// The threshold of the other sink.
    public var level: LogLevel {
        get { sink.level }
        set { sink.level = newValue }
    }

    /// Writes the record to the other sink, and keeps it.
    public func write(_ record: LogRecord) {
        sink.write(record)
        guard record.time != nil else { return }
        kept.withLock { $0.append(record) }
    }

    /// Returns the kept records from a time on.
    ///
    /// - Parameters:
    ///   - threshold: the lowest level of the records.
    ///   - earliest: the time.
    /// - Returns: the records, oldest first, and since when they are complete: `earliest`, or later if older records were removed.
    public func records(at threshold: LogLevel, since earliest: Instant) -> (records: [LogRecord], since: Instant) {
        let (all, start) = kept.withLock { ($0.records, $0.start) }
        let selected = all.filter { $0.level >= threshold && ($0.time?.instant ?? start) >= earliest }
        return (selected, max(earliest, start))
    }
}

/// The kept records.
private struct RecentRecords {
    /// Since when the records are complete.
    private(set) var start: Instant
    /// Oldest first. Most bridges log little, so no memory is reserved.
    private(set) var records: [LogRecord] = []
    private var bytes = 0

    init(start: Instant) {
        self.start = start
    }

    mutating func append(_ record: LogRecord) {
        let size = Self.size(of: record)
        while !records.isEmpty, records.count == RecentLog.most || bytes + size > RecentLog.mostBytes { removeFirst() }
        records.append(record)
        bytes += size
    }

    private mutating func removeFirst() {
        let record = records.removeFirst()
        bytes -= Self.size(of: record)
        start = record.time?.instant ?? start
    }

    private static func size(of record: LogRecord) -> Int {
        record.metadata.reduce(record.label.utf8.count + record.message.utf8.count + RecentLog.overhead) {
            $0 + $1.value.utf8.count
        }
    }
}
