/// Which of the two outputs of a process a line belongs to.
enum OutputChannel: Hashable, Sendable {
    /// What was asked for.
    case standardOutput
    /// What went wrong.
    case standardError
}
