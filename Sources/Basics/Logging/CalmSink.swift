internal import Synchronization
public import Text
public import Time

/// Limits repeated records to one per minute.
///
/// A condition is a record of level `info` or above with the same label, message and variables, apart from the numbers
/// of attempts and waits. Suppressed records are counted, and the next record of the condition has the count in
/// `repeated`.
///
/// State changes are always written, because the last one describes the current state.
public final class CalmSink: LogSink {
    private let sink: any LogSink
    private let answering: Set<String>
    private let now: @Sendable () -> Instant
    private let repeats = Mutex(RepeatLimiter())

    /// Creates a sink in front of another one.
    ///
    /// - Parameters:
    ///   - sink: receives the records that are not suppressed.
    ///   - answering: labels whose records are always written, because they respond to a request of the user.
    ///   - now: the clock.
    public init(
        _ sink: any LogSink, answering: Set<String> = [], now: @escaping @Sendable () -> Instant
    ) {
        self.sink = sink
        self.answering = answering
        self.now = now
    }

    /// The level of the other sink.
    public var level: LogLevel {
        get { sink.level }
        set { sink.level = newValue }
    }

    /// Writes the record unless its condition was written less than a minute ago.
    public func write(_ record: LogRecord) {
        let isFree = record.level < .info || record.isChange || answering.contains(record.label)
        guard !isFree else { return sink.write(record) }
        let suppressed = repeats.withLock { $0.admit(RepeatLimiter.Condition(record), at: now()) }
        guard let suppressed else { return }
        sink.write(suppressed == 0 ? record : record.adding((.repeated, "\(suppressed)")))
    }
}

extension LogRecord {
    fileprivate func adding(_ variable: Logger.Metadata) -> LogRecord {
        LogRecord(level: level, label: label, message: message, metadata: metadata + [variable], time: time)
    }
}

/// State machine of ``CalmSink``: when each condition was last written, and how often it was suppressed since.
struct RepeatLimiter {
    /// Identifies a condition.
    struct Condition: Hashable {
        /// A hash of the record. Values come from peers, and 256 of them at full length would take megabytes.
        private let hash: Int

        private static let varying: [LogKey] = [.attempt, .retryIn, .after]

        init(_ record: LogRecord) {
            var hasher = Hasher()
            hasher.combine(record.level)
            hasher.combine(record.label)
            hasher.combine(record.message)
            for (key, value) in record.metadata where !Self.varying.contains(key) {
                hasher.combine(key)
                hasher.combine(value)
            }
            hash = hasher.finalize()
        }
    }

    private var written: [Condition: (at: Instant, suppressed: Int)] = [:]

    /// How long a condition is suppressed after it was written.
    static let pause = Duration.seconds(60)
    /// Upper bound on remembered conditions. Beyond it, the oldest are removed.
    static let most = 256

    /// Decides whether to write a record of a condition.
    ///
    /// - Returns: the number of records suppressed before this one; nil to suppress it.
    mutating func admit(_ condition: Condition, at now: Instant) -> Int? {
        if let last = written[condition], now - last.at < Self.pause {
            written[condition]?.suppressed += 1
            return nil
        }
        let suppressed = written[condition]?.suppressed ?? 0
        if written[condition] == nil, written.count >= Self.most { removeOldest() }
        written[condition] = (now, 0)
        return suppressed
    }

    private mutating func removeOldest() {
        guard let oldest = written.min(by: { $0.value.at < $1.value.at })?.key else { return }
        written[oldest] = nil
    }
}
