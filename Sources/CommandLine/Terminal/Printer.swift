public import JSON

/// Prints the output of a command, as JSON or as lines for people.
public struct Printer: Sendable {
    /// Whether the command prints JSON (`--json`).
    public let isJSON: Bool
    /// The abilities of standard output.
    public let style: TerminalStyle
    /// Completes the command lines in hints.
    public let hint: CommandHint
    /// Writes a line without its newline; returns false if the channel is closed.
    let output: @Sendable (OutputChannel, String) -> Bool

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - isJSON: whether the command prints JSON.
    ///   - style: what standard output can show.
    ///   - hint: completes the command lines in hints.
    ///   - output: writes a line without its newline; returns false if the channel is closed.
    public init(
        isJSON: Bool, style: TerminalStyle = .plain, hint: CommandHint = CommandHint(config: nil, commands: []),
        output: @escaping @Sendable (OutputChannel, String) -> Bool = { $0.write($1) }
    ) {
        self.isJSON = isJSON
        self.style = style
        self.hint = hint
        self.output = output
    }

    /// Prints a line with its control characters escaped.
    ///
    /// - Parameters:
    ///   - channel: the stream.
    ///   - line: the line without its newline.
    ///   - isEmphasized: whether the line is bold where lines have colours.
    /// - Returns: whether the channel is still open.
    @discardableResult
    public func write(_ channel: OutputChannel, _ line: String, isEmphasized: Bool = false) -> Bool {
        output(channel, StyledLine(line, isEmphasized ? .emphasis : nil).written(isColored: style.isColored))
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

    /// Prints the document with `--json`, otherwise the lines with their colours.
    public func show(_ document: @autoclosure () -> JSONValue, styled lines: @autoclosure () -> [StyledLine]) {
        if isJSON {
            write(document())
        } else {
            for line in lines() { _ = output(.standardOutput, line.written(isColored: style.isColored)) }
        }
    }
}
