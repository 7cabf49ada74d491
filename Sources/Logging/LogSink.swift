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
    /// Whether it tells a change of state, such as a connection that is lost.
    var isChange = false

    /// `label: message key=value key="two words"`: one line, whatever the values hold.
    public var line: String {
        metadata.reduce(into: "\(label): \(message)") { line, variable in
            line += " \(variable.key.name)=\(Self.quoted(variable.value))"
        }
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
        guard !isPlain || value.isEmpty else { return value }
        return "\"" + JSONText.escaped(value) + "\""
    }
}

/// Where records go. Any thread may write.
public protocol LogSink: AnyObject, Sendable {
    /// Records below this level are not made. May be changed at any time.
    var level: LogLevel { get set }

    /// Takes a record; never blocks for long and never fails.
    func write(_ record: LogRecord)
}
