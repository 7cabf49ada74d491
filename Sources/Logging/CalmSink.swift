internal import Synchronization
public import Time

/// Writes a repeated condition once a minute.
///
/// A condition is a record of level `info` or above with the same part, message and variables, apart from the numbers of
/// attempts and waits. Suppressed records are counted, and the next record of the condition has the count in `repeated`.
///
/// Changes of state are always written: the last one is what is true now.
public final class CalmSink: LogSink {
    private let sink: any LogSink
    private let answering: Set<String>
    private let now: @Sendable () -> Instant
    private let book = Mutex(RepeatBook())

    /// A sink in front of another one.
    ///
    /// - Parameters:
    ///   - sink: gets what is let through.
    ///   - answering: parts whose records are the answer to a request of the user; they are always written.
    ///   - now: the clock.
    public init(
        _ sink: any LogSink, answering: Set<String> = [], now: @escaping @Sendable () -> Instant
    ) {
        self.sink = sink
        self.answering = answering
        self.now = now
    }

    /// That of the other sink.
    public var level: LogLevel {
        get { sink.level }
        set { sink.level = newValue }
    }

    /// Writes the record unless its condition was written less than a minute ago.
    public func write(_ record: LogRecord) {
        let isFree = record.level < .info || record.isChange || answering.contains(record.label)
        guard !isFree else { return sink.write(record) }
        let held = book.withLock { $0.tell(RepeatBook.Condition(record), at: now()) }
        guard let held else { return }
        sink.write(held == 0 ? record : record.adding((.repeated, "\(held)")))
    }
}

extension LogRecord {
    fileprivate func adding(_ variable: Logger.Metadata) -> LogRecord {
        LogRecord(level: level, label: label, message: message, metadata: metadata + [variable])
    }
}

/// When each condition was written last, and how often it was suppressed since.
struct RepeatBook {
    /// What two records of the same condition have in common.
    struct Condition: Hashable {
        /// The hash of the record: values come from peers, and 256 of them at full length would be megabytes.
        private let hash: Int

        init(_ record: LogRecord) {
            let varying: Set<LogKey> = [.attempt, .retryIn, .after]
            let steady = LogRecord(
                level: record.level, label: record.label, message: record.message,
                metadata: record.metadata.filter { !varying.contains($0.key) })
            hash = "\(record.level.rawValue) \(steady.line)".hashValue
        }
    }

    private var told: [Condition: (at: Instant, held: Int)] = [:]

    /// How long a condition is suppressed after it was written.
    static let pause = Duration.seconds(60)
    /// How many conditions are remembered; beyond, the oldest are forgotten.
    static let most = 256

    /// A record of a condition is about to be written.
    ///
    /// - Returns: how often the condition was suppressed before; nil to suppress it now.
    mutating func tell(_ condition: Condition, at now: Instant) -> Int? {
        if let last = told[condition], now - last.at < Self.pause {
            told[condition]?.held += 1
            return nil
        }
        let held = told[condition]?.held ?? 0
        if told[condition] == nil, told.count >= Self.most { forgetOldest() }
        told[condition] = (now, 0)
        return held
    }

    private mutating func forgetOldest() {
        guard let oldest = told.min(by: { $0.value.at < $1.value.at })?.key else { return }
        told[oldest] = nil
    }
}
