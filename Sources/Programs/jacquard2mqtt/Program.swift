import BridgeClient
import CommandLine
import Daemon
import Doctor
import Terminal

/// The program `jacquard2mqtt`.
enum Program {
    /// The commands of all modules.
    static let table = CommandTable<any CommandAction>(
        program: .jacquard2mqtt,
        commands: DaemonCommands.rows + ClientCommands.rows + DoctorCommands.rows)
}
