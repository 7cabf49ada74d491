public import JSON

/// An error in the command line; the process ends with ``ExitCode/wrongUsage``.
public struct CommandLineError: Error, Hashable {
    /// The error.
    public let message: String
    /// The command whose help says how it is right; nil: that of the program.
    public internal(set) var command: String?

    /// Creates an error.
    public init(message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// The lines for standard error.
    public func lines(of program: String) -> [String] { ["\(program): \(message)", "Try \"\(help(of: program))\"."] }

    /// For machines: `{"status":"error","error":{"code":"usage","text","hint"}}`.
    public func document(of program: String) -> JSONValue {
        [
            "status": "error",
            "error": ["code": "usage", "text": .string(message), "hint": .string(help(of: program))],
        ]
    }

    private func help(of program: String) -> String { "\(program)\(command.map { " \($0)" } ?? "") --help" }
}
