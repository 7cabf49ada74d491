internal import Synchronization

/// Stores records for tests.
public final class MemorySink: LogSink {
    private let state: Mutex<(level: LogLevel, records: [LogRecord])>

    /// Creates an empty sink.
    public init(level: LogLevel = .trace) {
        state = Mutex((level, []))
    }

    /// All records written so far.
    public var records: [LogRecord] { state.withLock { $0.records } }

    /// The current threshold.
    public var level: LogLevel {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    /// Stores a record.
    public func write(_ record: LogRecord) {
        state.withLock { $0.records.append(record) }
    }
}
