import CommandLine
import Glibc
import JSON

/// The program `jacquard2mqtt`: what was typed, done.
public enum CommandLineProgram {
    /// Reads the command line and the environment, does what they say and ends the process.
    public static func main() -> Never {
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        exit(run(arguments, environment: ProcessEnvironment.variables).rawValue)
    }

    private static func run(_ arguments: [String], environment: [String: String]) -> ExitCode {
        let table = Commands.table
        do throws(CommandLineError) {
            switch try table.parse(arguments) {
            case .command(let invocation): return carryOut(invocation, environment)
            case .help(let topic): OutputChannel.standardOutput.write(table.help(for: topic))
            case .version: OutputChannel.standardOutput.write("\(table.program.name) \(Version.current)")
            }
            return .done
        } catch {
            let name = table.program.name
            if arguments.prefix(while: { $0 != "--" }).contains(OptionDescription.json.name) {
                OutputChannel.standardOutput.write(TerminalText.escapedJSON(error.document(of: name).text))
            }
            error.lines(of: name).forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        }
    }

    private static func carryOut(_ invocation: Invocation, _ environment: [String: String]) -> ExitCode {
        switch invocation {
        case .run(let config, let state, let logLevel):
            RunCommand(config: config, state: state, logLevel: logLevel, environment: environment).run()
        case .checkConfig(let config, let isJSON, let keys):
            CheckConfigCommand(config: config, isJSON: isJSON, keys: keys, environment: environment) { $0.write($1) }
                .run()
        case .ask(let request, let options):
            ClientProgram(request: request, options: options, environment: environment).run()
        case .doctor(let state, let options):
            DoctorProgram(options: options, state: state, environment: environment).run()
        }
    }
}
