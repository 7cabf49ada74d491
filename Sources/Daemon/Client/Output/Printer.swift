import JSON

/// Where a command prints, and in which form.
struct Printer: Sendable {
    /// Whether machines read standard output.
    let isJSON: Bool
    /// Whether standard output is a terminal, so that something may stand out.
    var isTerminal = false
    /// The file of `--config`, for command lines in hints; nil: none was given.
    var config: String?
    /// Takes a line without its newline; false if the channel is closed.
    var output: @Sendable (OutputChannel, String) -> Bool = { $0.write($1) }

    /// Prints a line, its control characters escaped.
    ///
    /// - Parameters:
    ///   - channel: where.
    ///   - line: the line without its newline.
    ///   - isEmphasized: whether the line is bold on a terminal.
    /// - Returns: whether the channel is still open.
    @discardableResult
    func write(_ channel: OutputChannel, _ line: String, isEmphasized: Bool = false) -> Bool {
        let text = TerminalText.escaped(line)
        return output(channel, isEmphasized && isTerminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text)
    }

    /// Prints a document on one line of standard output.
    ///
    /// - Returns: whether standard output is still open.
    @discardableResult
    func write(_ document: JSONValue) -> Bool {
        output(.standardOutput, TerminalText.escapedJSON(document.text))
    }

    /// Prints a document for machines, or lines for people.
    func show(_ document: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) {
        if isJSON {
            write(document())
        } else {
            lines().forEach { write(.standardOutput, $0) }
        }
    }

    /// Prints why nothing came of it: for people on standard error, for machines on standard output as well.
    func show(_ failure: ClientFailure) {
        var failure = failure
        failure.hint = failure.hint.map(CommandHint(config: config).completed)
        if isJSON, !failure.isPrinted { write(failure.document) }
        failure.lines.forEach { write(.standardError, $0) }
    }
}
