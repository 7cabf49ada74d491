public import Text

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
