/// From which level on the program logs, by the words of the configuration.
public enum LogThreshold: String, Hashable, Sendable, CaseIterable {
    /// What does not work.
    case error
    /// What may not work soon.
    case warning
    /// What an operator wants to see.
    case notice
    /// The usual course.
    case info
    /// What happens inside.
    case debug
    /// Every message.
    case trace
}
