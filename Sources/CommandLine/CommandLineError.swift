import JSON

/// A command line that makes no sense; the process ends with `ExitCode.wrongUsage`.
struct UsageError: Error, Hashable {
    /// What is wrong.
    let message: String
    /// The command whose help says how it is right; nil: that of the program.
    var command: String?

    /// What to print on standard error, a line each.
    var lines: [String] { ["jacquard2mqtt: \(message)", "Try \"\(help)\"."] }

    /// For machines: `{"status":"error","error":{"code":"usage","text","hint"}}`.
    var document: JSONValue {
        ["status": "error", "error": ["code": "usage", "text": .string(message), "hint": .string(help)]]
    }

    private var help: String { "jacquard2mqtt\(command.map { " \($0)" } ?? "") --help" }
}
