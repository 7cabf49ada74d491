/// The severity of a record. Libraries use `trace` and `debug`, and `info` only for facts that they cannot report
/// otherwise.
/// The daemon uses `notice` and above.
public enum LogLevel: String, Comparable, CaseIterable, Sendable {
    /// Every step, including bytes.
    case trace
    /// Details for developers.
    case debug
    /// Normal operation.
    case info
    /// Normal, but of interest to an operator.
    case notice
    /// A problem that does not stop the operation.
    case warning
    /// A failure.
    case error

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

    /// From `trace` up to `error`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        }
    }
}
