import CSystemd
public import CommandLine
import Glibc
import JSON
import Synchronization

/// The action of a command line.
public protocol CommandAction: Sendable {
    /// Performs the action on the calling thread.
    ///
    /// - Returns: the exit code of the process.
    func run(in context: CommandContext) -> ExitCode
}

/// The surroundings of an action.
public struct CommandContext: Sendable {
    /// The environment variables of the process.
    public let environment: [String: String]
    /// Makes the descriptions of the program's commands.
    public let commands: @Sendable () -> [CommandDescription]

    /// Creates a context.
    public init(environment: [String: String], commands: @escaping @Sendable () -> [CommandDescription]) {
        self.environment = environment
        self.commands = commands
    }
}

/// Runs a program with a table of commands.
public enum CommandProgram {
    /// Parses the command line, performs it, and ends the process.
    public static func main(_ table: CommandTable<any CommandAction>) -> Never {
        occupyClosedStreams()
        let code = run(table)
        let lost = OutputChannel.lost.load(ordering: .relaxed)
        guard lost != 0 else { exit(code.rawValue) }
        let reason = String(cString: strerror(lost))
        OutputChannel.standardError.write("\(table.program.name): standard output cannot be written: \(reason)")
        exit((code == .done ? .failed : code).rawValue)
    }

    /// Opens the standard streams that the process was started without, so that no file or socket gets their numbers and with
    /// them what the process prints. They are opened for the wrong direction: reading and writing fails as on a closed one.
    private static func occupyClosedStreams() {
        for stream in 0...2 where fcntl(Int32(stream), F_GETFD) == -1 {
            // The kernel takes the lowest free number, which is this one.
            _ = open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Performs the command line of the process. The standard library would replace bytes that are no UTF-8.
    private static func run(_ table: CommandTable<any CommandAction>) -> ExitCode {
        let words = Swift.CommandLine.arguments
        for index in words.indices.dropFirst() {
            guard let bytes = Swift.CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else {
                continue
            }
            OutputChannel.standardError.write("\(table.program.name): argument \(index) is no valid UTF-8")
            return .wrongUsage
        }
        return run(table, Array(words.dropFirst()))
    }

    private static func run(_ table: CommandTable<any CommandAction>, _ arguments: [String]) -> ExitCode {
        let name = table.program.name
        do throws(CommandLineError) {
            switch try table.parse(arguments) {
            case .command(let action):
                let context = CommandContext(environment: environment, commands: { table.descriptions })
                return action.run(in: context)
            case .help(let topic): OutputChannel.standardOutput.write(table.help(for: topic))
            case .version: OutputChannel.standardOutput.write("\(name) \(Version.current)")
            }
            return .done
        } catch {
            if arguments.prefix(while: { $0 != "--" }).contains(OptionDescription.json.name) {
                OutputChannel.standardOutput.write(TerminalText.escapedJSON(error.document(of: name).text))
            }
            error.lines(of: name).forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        }
    }

    /// The environment variables by name; entries without `=` are left out.
    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        // The list ends with a null pointer. This program does not change it.
        var entry = process_environment()
        while let text = entry?.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry = entry?.advanced(by: 1)
        }
        return variables
    }
}
