import Bridge
import BrokerAccess
public import CommandLine
import Configuration
import DBus
import EventLoop
import Logging
public import Terminal
import Text

/// The command of the doctor.
public enum DoctorCommands {
    /// The rows of the command table.
    public static let rows: [Command<any CommandAction>] = [DoctorCommand.row]
}

/// `doctor`: checks everything that the bridge needs, and prints the findings.
struct DoctorCommand: CommandAction, Hashable {
    /// The common options.
    let options: ClientOptions
    /// The value of `--state`; nil: not given.
    let state: String?

    func run(in context: CommandContext) -> ExitCode {
        let examination = Examination(
            loaded: ConfigurationFile.load(
                path: options.config, environment: context.environment, reflexProblem: ReflexRequest.problem(with:)),
            busAddress: SystemBus.address(context.environment),
            stateFolder: StatePath.path(option: state, environment: context.environment),
            log: Logger("doctor", to: MemorySink(level: .error)))
        let hint = CommandHint(config: options.config, commands: context.commands())
        let printer = Printer(
            isJSON: options.isJSON, style: TerminalStyle(options.color, environment: context.environment))
        return LoopRun.exitCode {
            let report = DoctorReport(findings: await examination.findings(), hint: hint)
            printer.show(report.document, styled: report.lines.map(StyledLine.init(state:)))
            return report.exitCode
        }
    }

    static let row = Command<any CommandAction>(
        name: "doctor",
        summary: "find problems from the system bus to the broker",
        details: [
            "Checks the configuration, system bus, bluetoothd, adapter, broker, Home",
            "Assistant, clock and state folder. Prints a verdict for each check, what was",
            "found, and what to do. Changes nothing, and works without a broker and a",
            "bridge. Ends with 1 if a check failed.",
        ],
        options: [.config, .state, .json, .color],
        json: [
            #"{"status","checks":[{"name","title","verdict","found","remedies"}]};"#,
            "a verdict is ok, warning, failed or skipped; the status is the worst one.",
        ],
        examples: ["doctor", "doctor --config my.yaml"]
    ) { arguments throws(CommandLineError) in
        DoctorCommand(options: try ClientOptions(arguments), state: arguments.options[OptionDescription.state.name])
    }
}
