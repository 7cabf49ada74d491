/// The numbers of ended commands of reflexes since the start.
struct ReflexOutcomes: Hashable, Sendable {
    /// The tag has answered.
    private(set) var succeeded: UInt64 = 0
    /// The result is an error.
    private(set) var failed: UInt64 = 0

    /// Counts a command.
    mutating func count(_ failure: CommandFailure?) {
        if failure == nil { succeeded += 1 } else { failed += 1 }
    }
}
