/// The severity of a log record, and the least severity that is logged. The raw values are used in the configuration, by
/// `--log-level`, by `request/log_level` and in log records.
///
/// Libraries use `trace` and `debug`, and `info` only for facts that they cannot report otherwise. The daemon uses
/// `notice` and above.
@frozen public enum LogLevel: String, Comparable, CaseIterable, Sendable {
    /// A failure.
    case error
    /// A problem that does not stop the operation.
    case warning
    /// Normal, but of interest to an operator.
    case notice
    /// Normal operation.
    case info
    /// Details for developers.
    case debug
    /// Every step, including bytes.
    case trace

    /// From `trace` up to `error`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank > right.rank }

    /// The position in `allCases`, from 0 for `error`.
    public var rank: Int {
        switch self {
        case .error: 0
        case .warning: 1
        case .notice: 2
        case .info: 3
        case .debug: 4
        case .trace: 5
        }
    }
}
