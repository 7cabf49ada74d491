/// How much a record matters. Libraries use `trace` and `debug`, and `info` where nobody else can tell; the daemon uses
/// `notice` and above.
public enum LogLevel: String, Comparable, CaseIterable, Sendable {
    /// Every step, bytes included.
    case trace
    /// What a developer looks for.
    case debug
    /// What happens in ordinary work.
    case info
    /// What an operator should know, and need not act on.
    case notice
    /// Something is wrong and the process goes on.
    case warning
    /// Something has failed.
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
