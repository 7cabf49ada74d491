/// The lowest level that is logged, with the names of the configuration.
public enum LogThreshold: String, Hashable, Sendable, CaseIterable {
    /// Failures.
    case error
    /// Conditions that may lead to failures.
    case warning
    /// Significant events for operators.
    case notice
    /// Normal operation.
    case info
    /// Details for debugging.
    case debug
    /// Everything.
    case trace
}
