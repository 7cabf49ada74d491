import JSON

/// Where a command prints, and for whom.
struct Printer: Sendable {
    /// Whether machines read standard output.
    let isJSON: Bool
    /// Whether standard output is a terminal, so that something may stand out.
    var isTerminal = false
    /// Takes a line without its newline; false if nobody reads any more.
    var output: @Sendable (OutputChannel, String) -> Bool = { $0.write($1) }

    /// Prints a line.
    ///
    /// - Returns: whether somebody still reads.
    @discardableResult
    func write(_ channel: OutputChannel, _ line: String) -> Bool {
        output(channel, line)
    }

    /// Prints a document for machines, or lines for people.
    func show(_ document: @autoclosure () -> JSONValue, _ lines: @autoclosure () -> [String]) {
        if isJSON {
            write(.standardOutput, document().text)
        } else {
            lines().forEach { write(.standardOutput, $0) }
        }
    }

    /// Prints why nothing came of it: for people on standard error, for machines on standard output as well.
    func show(_ failure: ClientFailure) {
        if isJSON, !failure.isPrinted { write(.standardOutput, failure.document.text) }
        failure.lines.forEach { write(.standardError, $0) }
    }

    /// The text in bold, on a terminal.
    func emphasized(_ text: String) -> String {
        isTerminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text
    }
}
