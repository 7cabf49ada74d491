/// One thing that is wrong with the configuration.
struct ConfigurationError: Hashable, Sendable {
    /// Where.
    let origin: ConfigurationOrigin
    /// The key in dotted form; empty where it is about no single key.
    let path: String
    /// What is wrong; never the value of a secret.
    let problem: String
    /// What would be right; nil where `problem` says it.
    let allowed: String?

    /// One line: `FILE:LINE:COLUMN: KEY.PATH: what is wrong; allowed: ...`.
    ///
    /// What comes from the environment has the variable's name in the place of file, line and column.
    func line(in file: String) -> String {
        let file = DisplayText.escaped(file)
        let place =
            switch origin {
            case .file: file
            case .position(let position): "\(file):\(position.line):\(position.column)"
            case .variable(let name): DisplayText.escaped(name)
            }
        let key = path.isEmpty ? "" : "\(path): "
        let remedy = allowed.map { "; allowed: \($0)" } ?? ""
        return "\(place): \(key)\(problem)\(remedy)"
    }
}

/// Everything that is wrong with the configuration, at least one thing.
struct ConfigurationErrors: Error, Hashable, CustomStringConvertible {
    /// The file that was read, as the user named it.
    let file: String
    /// In the order of the file, then of the environment.
    let errors: [ConfigurationError]
    /// How many more there are.
    let omitted: Int

    /// One line for each error, without newlines.
    var lines: [String] {
        errors.map { $0.line(in: file) } + (omitted > 0 ? ["\(DisplayText.escaped(file)): and \(omitted) more"] : [])
    }

    /// The lines, joined.
    var description: String { lines.joined(separator: "\n") }
}
