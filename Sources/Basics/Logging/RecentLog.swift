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
    private let ring: Mutex<Ring>

    /// Creates a sink without records.
    ///
    /// - Parameters:
    ///   - sink: receives all records.
    ///   - begin: the current time. Nothing is known about the time before.
    public init(_ sink: any LogSink, since begin: Instant) {
        self.sink = sink
        ring = Mutex(Ring(start: begin))
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
        ring.withLock { $0.append(record) }
    }

    /// Returns the kept records from a time on.
    ///
    /// - Parameters:
    ///   - threshold: the lowest level of the records.
    ///   - earliest: the time.
    /// - Returns: the records, oldest first, and since when they are complete: `earliest`, or later if older records were removed.
    public func records(at threshold: LogLevel, since earliest: Instant) -> (records: [LogRecord], since: Instant) {
        let (all, start) = ring.withLock { ($0.records, $0.start) }
        let selected = all.filter { $0.level >= threshold && ($0.time?.instant ?? start) >= earliest }
        return (selected, max(earliest, start))
    }
}

/// The kept records in a circular buffer.
private struct Ring {
    /// Since when the records are complete.
    private(set) var start: Instant
    private var places = [LogRecord?](repeating: nil, count: RecentLog.most)
    private var first = 0
    private var count = 0
    private var bytes = 0

    init(start: Instant) {
        self.start = start
    }

    /// Oldest first.
    var records: [LogRecord] { (0..<count).compactMap { places[position($0)] } }

    mutating func append(_ record: LogRecord) {
        let size = Self.size(of: record)
        while count > 0, count == places.count || bytes + size > RecentLog.mostBytes { removeFirst() }
        places[position(count)] = record
        count += 1
        bytes += size
    }

    private mutating func removeFirst() {
        if let record = places[first] {
            bytes -= Self.size(of: record)
            start = record.time?.instant ?? start
        }
        places[first] = nil
        first = position(1)
        count -= 1
    }

    private func position(_ index: Int) -> Int { (first + index) % places.count }

    private static func size(of record: LogRecord) -> Int {
        record.metadata.reduce(record.label.utf8.count + record.message.utf8.count + RecentLog.overhead) {
            $0 + $1.value.utf8.count
        }
    }
}
