import CommandLine
import Configuration
import EventLoop
import Logging

/// `doctor`: looks for what keeps the bridge from working, and prints what it has found.
struct DoctorProgram {
    /// What was typed.
    let options: ClientOptions
    /// The folder of `--state`; nil: where the bridge would look.
    let state: String?
    /// All variables of the process.
    let environment: [String: String]

    /// Runs the loop on the calling thread until everything has been looked at.
    func run() -> ExitCode {
        let examination = Examination(
            loaded: ConfigurationFile.load(path: options.config, environment: environment),
            busAddress: SystemBus.address(environment),
            stateFolder: StateFolderCheck.path(option: state, environment: environment),
            log: Logger("doctor", to: MemorySink(level: .error)))
        let config = options.config
        let printer = Printer(isJSON: options.isJSON)
        return LoopRun.exitCode {
            let report = DoctorReport(findings: await examination.findings(), config: config)
            printer.show(report.document, report.lines)
            return report.exitCode
        }
    }
}
