public import CommandLine
import EventLoop
import Glibc
public import Terminal

/// The program `jacquard-simulator`.
public enum SimulatorProgram {
    /// Its options; it has no commands.
    public static let table = CommandTable<any CommandAction>(program: program, command: row)

    private static let row = Command<any CommandAction>(
        name: "", summary: program.summary, details: program.details, options: OptionDescription.ofSimulator
    ) { arguments throws(CommandLineError) in SimulatorAction(options: try SimulatorOptions(arguments)) }

    private static let program = ProgramDescription(
        name: "jacquard-simulator",
        summary: "simulated Google Jacquard tags and BlueZ, without Bluetooth hardware",
        details: [
            "Simulates the firmware of tags behind an org.bluez of its own. It starts a",
            "private bus and prints the address of the bus, which clients read from",
            "DBUS_SYSTEM_BUS_ADDRESS, followed by `ready`. It reads commands on standard",
            "input and responds to each one with `ok` or an error. Between the responses",
            "it prints the commands that the tags receive: LED, haptics, names. It runs",
            "until `quit`, SIGTERM or SIGINT.",
        ],
        sections: [
            HelpSection("COMMANDS ON STANDARD INPUT", CommandRow.help),
            HelpSection(
                .exitStatus,
                [
                    .init("0", ["stopped by a request"]), .init("1", ["failed"]), .init("2", ["wrong usage"]),
                ]),
        ],
        manual: ManualText(
            examples: [
                "jacquard-simulator --tags 3", "gesture 0001 double_tap", "battery 0002 42 charging",
                "out-of-range 0003",
            ],
            seeAlso: ["jacquard2mqtt 1"]))
}

/// Runs the simulator.
struct SimulatorAction: CommandAction {
    let options: SimulatorOptions

    func run(in context: CommandContext) -> ExitCode {
        let options = options
        return LoopRun.exitCode {
            guard let reason = await Self.failure(of: options) else { return .done }
            OutputChannel.standardError.write("jacquard-simulator: \(reason)")
            return .failed
        }
    }

    /// Runs until a request to stop.
    ///
    /// - Returns: why it failed; nil after a request to stop.
    @LoopActor
    private static func failure(of options: SimulatorOptions) async -> String? {
        guard options.speaksOnStandardIO else { return await SimulatorSession(options).run() }
        do throws(CommandError) {
            return await (try StandardIORadio(options)).run()
        } catch {
            return error.description
        }
    }
}
