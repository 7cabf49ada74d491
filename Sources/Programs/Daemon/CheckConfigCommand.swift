import Bridge
import BrokerAccess
import CommandLine
import Configuration
import JSON
import Terminal
import Text

/// `check-config`: checks the configuration, or prints the values of keys.
struct CheckConfigCommand: CommandAction, Hashable {
    /// The file of `--config`; nil: the default search path.
    let config: String?
    /// Whether the command prints JSON.
    var isJSON = false
    /// The keys whose values are printed instead, in dotted form; empty: none.
    var keys: [String] = []

    func run(in context: CommandContext) -> ExitCode {
        run(environment: context.environment) { $0.write($1) }
    }

    /// Prints each error on standard error; or `FILE: ok` and the notices, or the values, on standard output. With `--json` it
    /// prints one document on standard output. The notices compare the serials with those of the state file, if it can be read.
    ///
    /// - Parameters:
    ///   - environment: all variables of the process.
    ///   - defaultPath: the file that may be missing.
    ///   - output: takes a line without its newline.
    /// - Returns: `done`, or `failed` if there is an error.
    func run(
        environment: [String: String], defaultPath: String = ConfigurationFile.defaultPath,
        output: (OutputChannel, String) -> Void
    ) -> ExitCode {
        let known = StateFolder(option: nil, environment: environment).knownSerials
        let result = ConfigurationFile.load(
            path: config, environment: environment, defaultPath: defaultPath,
            reflexProblem: ReflexRequest.problem(with:))
        if case .success(let loaded) = result,
            let unknown = keys.first(where: { loaded.configuration.values(of: $0) == nil })
        {
            output(
                .standardError,
                "\(DisplayText.escaped(loaded.file)): \(DisplayText.escaped(unknown)): there is no such item")
            return .failed
        }
        if isJSON {
            output(.standardOutput, TerminalText.escapedJSON(document(of: result, known).text))
        } else {
            printLines(of: result, known, output)
        }
        return if case .success = result { .done } else { .failed }
    }

    private func printLines(
        of result: Result<LoadedConfiguration, ConfigurationErrors>, _ known: [String],
        _ output: (OutputChannel, String) -> Void
    ) {
        switch result {
        case .success(let loaded) where !keys.isEmpty:
            for key in keys {
                loaded.configuration.values(of: key)?.forEach { output(.standardOutput, DisplayText.escaped($0)) }
            }
        case .success(let loaded):
            let file = DisplayText.escaped(loaded.file)
            output(.standardOutput, "\(file): ok")
            notices(of: loaded, known).forEach { output(.standardOutput, "\(file): notice: \($0)") }
        case .failure(let failure):
            failure.lines.forEach { output(.standardError, $0) }
        }
    }

    private func notices(of loaded: LoadedConfiguration, _ known: [String]) -> [String] {
        loaded.notices + loaded.configuration.notices(comparedWith: known)
    }

    private func document(
        of result: Result<LoadedConfiguration, ConfigurationErrors>, _ known: [String]
    ) -> JSONValue {
        switch result {
        case .success(let loaded):
            var document: [String: JSONValue] = [
                "file": .string(loaded.file), "status": "ok", "errors": [],
                "notices": .array(notices(of: loaded, known).map(JSONValue.string)),
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

extension CheckConfigCommand {
    static let row = Command<any CommandAction>(
        name: "check-config",
        summary: "check the configuration",
        details: [
            "Checks the configuration without connecting to anything. Prints each error",
            "with its line, its key and the allowed values, or `ok` and notices. Ends",
            "with 0 if there is no error, otherwise with 1.",
        ],
        options: [.config, .json, printOption],
        operands: [.optional("FILE", .file(["yaml", "yml"]))],
        values: ["FILE is the configuration file, as with --config."],
        json: [
            #"{"file","status","errors","notices"}; an error is {"key","text","allowed","#,
            #""line","column","variable"}. With errors also "omitted", how many more there"#,
            #"are; with --print also "values", lists by key."#,
        ],
        examples: ["check-config my.yaml", "check-config --print mqtt.host,mqtt.port,tags.N.serial"]
    ) { arguments throws(CommandLineError) in
        if arguments.options[OptionDescription.config.name] != nil, let file = arguments.operands.first {
            throw CommandLineError(
                message: "two files are given: \(OptionDescription.config.name) and \(DisplayText.quoted(file))")
        }
        return CheckConfigCommand(
            config: arguments.options[OptionDescription.config.name] ?? arguments.operands.first,
            isJSON: arguments.options[OptionDescription.json.name] != nil,
            keys: try printedKeys(arguments.options[printOption.name]))
    }

    /// Parses the value of `--print`; each key has to exist.
    private static func printedKeys(_ list: String?) throws(CommandLineError) -> [String] {
        let keys = list?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        let known = Settings.printableKeys
        for key in keys {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            let general = parts.enumerated().map {
                $0 == 1 && Int($1) != nil ? "N" : $1
            }
            guard !known.contains(general.joined(separator: ".")) else { continue }
            guard key != "mqtt.password" else { throw CommandLineError(message: "mqtt.password is never printed") }
            let below = known.filter { $0.hasPrefix(key + ".") }
            let hint =
                below.isEmpty
                ? Spelling.hint(for: key, in: known) : "; it is a section with \(below.joined(separator: ", "))"
            throw CommandLineError(message: "\(printOption.name): \(DisplayText.quoted(key)) is no key\(hint)")
        }
        return keys
    }

    private static let printOption = OptionDescription(
        name: "--print",
        value: "KEY[,KEY...]",
        completion: .output(of: ["complete", "keys"]),
        details: [
            "Print the values of these keys, one per line; keys that are not in the",
            "file have their defaults. N stands for all tags: tags.N.serial.",
        ])
}
