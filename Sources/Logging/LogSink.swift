internal import JSON

/// One thing that happened.
public struct LogRecord: Sendable {
    /// How much it matters.
    public let level: LogLevel
    /// The part of the program.
    public let label: String
    /// Fixed text.
    public let message: String
    /// What varies, in the order in which it was given.
    public let metadata: [Logger.Metadata]
    /// Whether it is a change of state, such as a lost connection.
    let isChange: Bool

    /// The longest value of a variable, in bytes. Topics and texts of peers can be longer; the rest is cut.
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

    /// `label: message key=value key="two words"`: one line, whatever the values hold.
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

/// Where records go. Any thread may write.
public protocol LogSink: AnyObject, Sendable {
    /// Records below this level are not made. May be changed at any time.
    var level: LogLevel { get set }

    /// Takes a record; never blocks for long and never fails.
    func write(_ record: LogRecord)
}
