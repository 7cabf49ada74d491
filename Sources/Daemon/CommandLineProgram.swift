import Glibc
import JSON

/// The program `jacquard2mqtt`: what was typed, done.
public enum CommandLineProgram {
    /// Reads the command line and the environment, does what they say and ends the process.
    public static func main() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(run(arguments, environment: ProcessEnvironment.variables).rawValue)
    }

    private static func run(_ arguments: [String], environment: [String: String]) -> ExitCode {
        do throws(UsageError) {
            switch try CommandLineParser(commands: CommandTable.commands).parse(arguments) {
            case .run(let config, let state, let logLevel):
                return RunCommand(config: config, state: state, logLevel: logLevel, environment: environment).run()
            case .checkConfig(let config, let isJSON, let keys):
                return CheckConfigCommand(config: config, isJSON: isJSON, keys: keys, environment: environment) {
                    $0.write($1)
                }.run()
            case .ask(let request, let options):
                return ClientProgram(request: request, options: options, environment: environment).run()
            case .doctor(let state, let options):
                return DoctorProgram(options: options, state: state, environment: environment).run()
            case .help(let topic):
                OutputChannel.standardOutput.write(HelpText(commands: CommandTable.commands).page(for: topic))
            case .version: OutputChannel.standardOutput.write("jacquard2mqtt \(Version.current)")
            }
            return .done
        } catch {
            if arguments.prefix(while: { $0 != "--" }).contains(CommandTable.json.name) {
                OutputChannel.standardOutput.write(TerminalText.escapedJSON(error.document.text))
            }
            error.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        }
    }
}
