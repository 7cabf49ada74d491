import EventLoop
import Glibc

/// The program `jacquard-simulator`.
public enum SimulatorProgram {
    /// Runs the simulator and ends the process: 0 after a request to stop, 1 after a failure, 2 for wrong usage.
    ///
    /// - Parameter arguments: the command line, with the program name first.
    public static func main(_ arguments: [String] = CommandLine.arguments) -> Never {
        // A reader who leaves is no reason to die.
        signal(SIGPIPE, SIG_IGN)
        let options: SimulatorOptions
        do {
            options = try SimulatorOptions(arguments: Array(arguments.dropFirst()))
        } catch {
            tell("jacquard-simulator: \(error)")
            exit(2)
        }
        if options.isHelpWanted {
            print(Usage.options)
            print("\nCommands on standard input. " + CommandRow.helpText)
            exit(0)
        }
        Task(executorPreference: EventLoop.shared) { await run(options) }
        EventLoop.shared.run()
        exit(0)
    }

    @LoopActor
    private static func run(_ options: SimulatorOptions) async {
        let reason =
            options.speaksOnStandardIO
            ? await StandardIORadio(options).run() : await SimulatorSession(options).run()
        if let reason { tell("jacquard-simulator: \(reason)") }
        exit(reason == nil ? 0 : 1)
    }

    private static func tell(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
