internal import Synchronization

/// Keeps records, for tests that ask what was logged.
public final class MemorySink: LogSink {
    private let state: Mutex<(level: LogLevel, records: [LogRecord])>

    /// An empty sink.
    public init(level: LogLevel = .trace) {
        state = Mutex((level, []))
    }

    /// What has been written so far.
    public var records: [LogRecord] { state.withLock { $0.records } }

    /// The present threshold.
    public var level: LogLevel {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Keeps the record.
    public func write(_ record: LogRecord) {
        state.withLock { $0.records.append(record) }
    }
}
