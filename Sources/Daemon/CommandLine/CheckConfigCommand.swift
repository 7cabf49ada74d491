/// `check-config`: reads the configuration as the bridge would and says what it thinks of it.
struct CheckConfigCommand {
    /// The file of `--config`; nil: wherever the bridge would look.
    let config: String?
    /// All variables of the process.
    let environment: [String: String]
    /// The file that may be missing.
    var defaultPath = ConfigurationFile.defaultPath
    /// Takes a line without its newline.
    let output: (OutputChannel, String) -> Void

    /// Prints each error on standard error, or `FILE: ok` and the notices on standard output.
    ///
    /// - Returns: `done`, or `failed` if there is an error.
    func run() -> ExitCode {
        switch ConfigurationFile.load(path: config, environment: environment, defaultPath: defaultPath) {
        case .success(let loaded):
            output(.standardOutput, "\(loaded.file): ok")
            loaded.notices.forEach { output(.standardOutput, "\(loaded.file): notice: \($0)") }
            return .done
        case .failure(let failure):
            failure.lines.forEach { output(.standardError, $0) }
            return .failed
        }
    }
}
