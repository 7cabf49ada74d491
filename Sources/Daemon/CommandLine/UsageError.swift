/// A command line that makes no sense; the process ends with `ExitCode.wrongUsage`.
struct UsageError: Error, Hashable {
    /// What is wrong.
    let message: String
    /// The command whose help says how it is right; nil: that of the program.
    var command: String?

    /// What to print on standard error, a line each.
    var lines: [String] {
        let command = command.map { " \($0)" } ?? ""
        return ["jacquard2mqtt: \(message)", "Try \"jacquard2mqtt\(command) --help\"."]
    }
}
