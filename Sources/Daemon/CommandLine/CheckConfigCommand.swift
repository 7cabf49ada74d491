import JSON

/// `check-config`: reads the configuration as the bridge would and says what it thinks of it.
struct CheckConfigCommand {
    /// The file of `--config`; nil: wherever the bridge would look.
    let config: String?
    /// Whether machines read the output.
    var isJSON = false
    /// All variables of the process.
    let environment: [String: String]
    /// The file that may be missing.
    var defaultPath = ConfigurationFile.defaultPath
    /// Takes a line without its newline.
    let output: (OutputChannel, String) -> Void

    /// Prints each error on standard error, or `FILE: ok` and the notices on standard output; for machines one document
    /// on standard output.
    ///
    /// - Returns: `done`, or `failed` if there is an error.
    func run() -> ExitCode {
        let result = ConfigurationFile.load(path: config, environment: environment, defaultPath: defaultPath)
        if isJSON {
            output(.standardOutput, TerminalText.escapedJSON(Self.document(of: result).text))
        } else {
            printLines(of: result)
        }
        return if case .success = result { .done } else { .failed }
    }

    private func printLines(of result: Result<LoadedConfiguration, ConfigurationErrors>) {
        switch result {
        case .success(let loaded):
            let file = DisplayText.escaped(loaded.file)
            output(.standardOutput, "\(file): ok")
            loaded.notices.forEach { output(.standardOutput, "\(file): notice: \($0)") }
        case .failure(let failure):
            failure.lines.forEach { output(.standardError, $0) }
        }
    }

    private static func document(of result: Result<LoadedConfiguration, ConfigurationErrors>) -> JSONValue {
        switch result {
        case .success(let loaded):
            [
                "file": .string(loaded.file), "status": "ok", "errors": [],
                "notices": .array(loaded.notices.map(JSONValue.string)),
            ]
        case .failure(let failure):
            [
                "file": .string(failure.file), "status": "error", "notices": [],
                "errors": .array(failure.errors.map(JSONValue.init)), "omitted": .integer(Int64(failure.omitted)),
            ]
        }
    }
}

extension JSONValue {
    /// One error: `line` and `column` where it stands in the file, `variable` where it comes from the environment.
    fileprivate init(_ error: ConfigurationError) {
        var object: [String: JSONValue] = [
            "key": .string(error.path), "text": .string(error.problem),
            "allowed": error.allowed.map(JSONValue.string) ?? .null,
            "line": .null, "column": .null, "variable": .null,
        ]
        switch error.origin {
        case .file: break
        case .position(let position):
            object["line"] = .integer(Int64(position.line))
            object["column"] = .integer(Int64(position.column))
        case .variable(let name): object["variable"] = .string(name)
        }
        self = .object(object)
    }
}
