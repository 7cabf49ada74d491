internal import Synchronization
public import Time

/// Lets one condition be told once a minute, however often it is told.
///
/// A condition is a record of level `info` or above with the same part, message and variables, whatever number of attempt
/// or wait it tells. What was held back is counted, and the next record of the condition has the count in `repeated`.
///
/// Changes of state are all let through, for the last one tells what is true now.
public final class CalmSink: LogSink {
    private let sink: any LogSink
    private let answering: Set<String>
    private let now: @Sendable () -> Instant
    private let book = Mutex(RepeatBook())

    /// A sink in front of another one.
    ///
    /// - Parameters:
    ///   - sink: gets what is let through.
    ///   - answering: parts whose records answer somebody who has asked, and are all let through.
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

    /// Hands the record on unless its condition was told less than a minute ago.
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

/// When each condition was told last, and how often it was held back since.
struct RepeatBook {
    /// What makes two records tell the same.
    struct Condition: Hashable {
        private let text: String

        init(_ record: LogRecord) {
            let varying: Set<LogKey> = [.attempt, .retryIn]
            let steady = LogRecord(
                level: record.level, label: record.label, message: record.message,
                metadata: record.metadata.filter { !varying.contains($0.key) })
            text = "\(record.level.rawValue) \(steady.line)"
        }
    }

    private var told: [Condition: (at: Instant, held: Int)] = [:]

    /// How long a condition is not told again.
    static let pause = Duration.seconds(60)
    /// How many conditions are remembered; beyond, the oldest are forgotten.
    static let most = 256

    /// A condition is to be told.
    ///
    /// - Returns: how often it was held back before; nil when it is held back now.
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
