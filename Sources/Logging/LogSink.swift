internal import JSON

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

    /// The longest value of a variable, in bytes. Longer ones are truncated, such as topics and texts of peers.
    static let longestValue = 1_024

    init(
        level: LogLevel, label: String, message: String, metadata: [Logger.Metadata], isChange: Bool = false
    ) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata =
            metadata.contains { $0.value.utf8.count > Self.longestValue } ? metadata.map(Self.cut) : metadata
        self.isChange = isChange
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

/// A destination of log records. Can be used on any thread.
public protocol LogSink: AnyObject, Sendable {
    /// The threshold. Records below it are not created. Can be changed at any time.
    var level: LogLevel { get set }

    /// Writes a record. Must not block for long or fail.
    func write(_ record: LogRecord)
}
