internal import JSON
internal import Synchronization
public import Text
public import Time

/// A log record.
public struct LogRecord: Sendable {
    /// The severity.
    public let level: LogLevel
    /// The part of the program.
    public let label: String
    /// The fixed text.
    public let message: String
    /// The variables in their original order.
    public let metadata: [Logger.Metadata]
    /// Whether the record is a state change, such as a lost connection.
    let isChange: Bool
    /// When a ``LogTap`` received the record; nil before.
    public private(set) var time: LogTime?

    /// The longest value of a variable, in bytes. Longer ones are truncated, such as topics and texts of peers.
    static let longestValue = 1_024

    init(
        level: LogLevel, label: String, message: String, metadata: [Logger.Metadata], isChange: Bool = false,
        time: LogTime? = nil
    ) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata =
            metadata.contains { $0.value.utf8.count > Self.longestValue } ? metadata.map(Self.cut) : metadata
        self.isChange = isChange
        self.time = time
    }

    /// Returns the record with the time at which it was written.
    func written(at time: LogTime) -> LogRecord {
        var record = self
        record.time = time
        return record
    }

    private static func cut(_ variable: Logger.Metadata) -> Logger.Metadata {
        guard variable.value.utf8.count > longestValue else { return variable }
        return (variable.key, String(decoding: variable.value.utf8.prefix(longestValue), as: UTF8.self) + "...")
    }

    /// `label: message key=value key="two words"`, always on one line.
    public var line: String {
        metadata.reduce(into: "\(label): \(message)") { line, variable in
            line += " \(variable.key.name)=\(Self.quoted(variable.value))"
        }
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\"") }
        guard !isPlain || value.isEmpty || !TerminalText.isSafe(value) else { return value }
        return TerminalText.quoted(value)
    }
}

/// A point in time on two clocks.
public struct LogTime: Hashable, Sendable {
    /// For the age of a record. Unaffected by wall-clock changes.
    public let instant: Instant
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let unixMilliseconds: Int64

    /// Creates a time.
    public init(_ instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }
}

/// A destination of log records. Can be used on any thread.
public protocol LogSink: AnyObject, Sendable {
    /// The threshold. Records below it are not created. Can be changed at any time.
    var level: LogLevel { get set }

    /// Writes a record. Must not block for long or fail.
    func write(_ record: LogRecord)
}

extension LogLevel {
    /// The priority of syslog and the journal, 3 (error) to 7 (debug and trace).
    public var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }
}

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
