public import JSON

/// Prints the output of a command, as JSON or as lines for people.
public struct Printer: Sendable {
    /// Whether the command prints JSON (`--json`).
    public let isJSON: Bool
    /// Whether standard output is a terminal, which shows emphasized lines in bold.
    let isTerminal: Bool
    /// Completes the command lines in hints.
    public let hint: CommandHint
    /// Writes a line without its newline; returns false if the channel is closed.
    let output: @Sendable (OutputChannel, String) -> Bool

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - isJSON: whether the command prints JSON.
    ///   - isTerminal: whether standard output is a terminal.
    ///   - hint: completes the command lines in hints.
    ///   - output: writes a line without its newline; returns false if the channel is closed.
    public init(
        isJSON: Bool, isTerminal: Bool = false, hint: CommandHint = CommandHint(config: nil, commands: []),
        output: @escaping @Sendable (OutputChannel, String) -> Bool = { $0.write($1) }
    ) {
        self.isJSON = isJSON
        self.isTerminal = isTerminal
        self.hint = hint
        self.output = output
    }

    /// Prints a line with its control characters escaped.
    ///
    /// - Parameters:
    ///   - channel: the stream.
    ///   - line: the line without its newline.
    ///   - isEmphasized: whether the line is bold on a terminal.
    /// - Returns: whether the channel is still open.
    @discardableResult
    public func write(_ channel: OutputChannel, _ line: String, isEmphasized: Bool = false) -> Bool {
        let text = TerminalText.escaped(line)
        return output(channel, isEmphasized && isTerminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text)
    }

    /// Prints a document on one line of standard output.
    ///
    /// - Returns: whether standard output is still open.
    @discardableResult
    public func write(_ document: JSONValue) -> Bool {
        output(.standardOutput, TerminalText.escapedJSON(document.text))
    }

    /// Prints the document with `--json`, otherwise the lines.
    public func show(_ document: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) {
        if isJSON {
            write(document())
        } else {
            lines().forEach { write(.standardOutput, $0) }
        }
    }
}
