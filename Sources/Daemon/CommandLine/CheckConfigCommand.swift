import CommandLine
import Configuration
import JSON
import Text

/// `check-config`: reads the configuration as the bridge would and says what it thinks of it.
struct CheckConfigCommand {
    /// The file of `--config`; nil: wherever the bridge would look.
    let config: String?
    /// Whether machines read the output.
    var isJSON = false
    /// Keys in dotted form whose values are printed instead of the verdict; empty: none.
    var keys: [String] = []
    /// All variables of the process.
    let environment: [String: String]
    /// The file that may be missing.
    var defaultPath = ConfigurationFile.defaultPath
    /// Takes a line without its newline.
    let output: (OutputChannel, String) -> Void

    /// Prints each error on standard error, or `FILE: ok` and the notices on standard output, or the values that were asked
    /// for, one on a line; for machines one document on standard output.
    ///
    /// - Returns: `done`, or `failed` if there is an error.
    func run() -> ExitCode {
        let result = ConfigurationFile.load(path: config, environment: environment, defaultPath: defaultPath)
        if case .success(let loaded) = result,
            let unknown = keys.first(where: { loaded.configuration.values(of: $0) == nil })
        {
            output(
                .standardError,
                "\(DisplayText.escaped(loaded.file)): \(DisplayText.escaped(unknown)): there is no such item")
            return .failed
        }
        if isJSON {
            output(.standardOutput, TerminalText.escapedJSON(document(of: result).text))
        } else {
            printLines(of: result)
        }
        return if case .success = result { .done } else { .failed }
    }

    private func printLines(of result: Result<LoadedConfiguration, ConfigurationErrors>) {
        switch result {
        case .success(let loaded) where !keys.isEmpty:
            for key in keys {
                loaded.configuration.values(of: key)?.forEach { output(.standardOutput, DisplayText.escaped($0)) }
            }
        case .success(let loaded):
            let file = DisplayText.escaped(loaded.file)
            output(.standardOutput, "\(file): ok")
            loaded.notices.forEach { output(.standardOutput, "\(file): notice: \($0)") }
        case .failure(let failure):
            failure.lines.forEach { output(.standardError, $0) }
        }
    }

    private func document(of result: Result<LoadedConfiguration, ConfigurationErrors>) -> JSONValue {
        switch result {
        case .success(let loaded):
            var document: [String: JSONValue] = [
                "file": .string(loaded.file), "status": "ok", "errors": [],
                "notices": .array(loaded.notices.map(JSONValue.string)),
            ]
            if !keys.isEmpty {
                let values = keys.map { key in
                    (key, JSONValue.array((loaded.configuration.values(of: key) ?? []).map(JSONValue.string)))
                }
                document["values"] = .object(Dictionary(values) { first, _ in first })
            }
            return .object(document)
        case .failure(let failure): return failure.document
        }
    }
}
