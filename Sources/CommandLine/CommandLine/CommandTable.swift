import Text

/// The meaning of a command line.
public enum ParsedCommandLine<Invocation> {
    /// Run a command.
    case command(Invocation)
    /// Explain a command; nil: the program.
    case help(topic: String?)
    /// Print the version.
    case version
}

extension ParsedCommandLine: Equatable where Invocation: Equatable {}
extension ParsedCommandLine: Sendable where Invocation: Sendable {}

/// A shell that completes command lines.
public enum Shell: Sendable {
    case bash, zsh
}

/// The commands of a program: the source of parsing, `--help`, the manual page and shell completion. The table adds the
/// command `help` itself.
///
/// It does not use glibc's `getopt_long`: Swift's Glibc module leaves `getopt.h` out, and the function keeps its place in
/// global variables, prints its own errors, and knows no commands.
public struct CommandTable<Invocation>: Sendable {
    /// The program.
    public let program: ProgramDescription
    private let commands: [Command<Invocation>]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - commands: in the order of the help.
    public init(program: ProgramDescription, commands: [Command<Invocation>]) {
        self.program = program
        self.commands = commands
    }

    /// Creates the table of a program without commands.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - command: its options and operands; the name is empty.
    public init(program: ProgramDescription, command: Command<Invocation>) {
        precondition(command.isProgram, "a program without commands has a row without a name")
        self.init(program: program, commands: [command])
    }

    /// The row of a program without commands; nil for a program with commands.
    private var programCommand: Command<Invocation>? { commands.first(where: \.isProgram) }

    /// All commands except hidden ones, including `help`, in the order of the help.
    public var descriptions: [CommandDescription] { allDescriptions.filter { !$0.isHidden } }

    private var allDescriptions: [CommandDescription] {
        commands.map(\.description) + (programCommand == nil ? [ArgumentParser.helpCommand] : [])
    }

    /// The page of a command.
    ///
    /// - Parameter topic: the command's name; nil, or a name that is unknown: the page of the program.
    /// - Returns: lines of at most 80 characters, the last one with its newline.
    public func help(for topic: String?) -> String {
        HelpText(program: program, commands: allDescriptions.filter { !$0.isHidden || $0.name == topic })
            .page(for: topic)
    }

    /// The manual page in the format of mdoc(7).
    ///
    /// - Parameter date: the date at the bottom of the page, such as `November 20, 2026`.
    /// - Returns: the page.
    public func manualPage(date: String) -> String {
        ManualPage(program: program, commands: descriptions).text(date: date)
    }

    /// The script with which a shell completes command lines.
    public func completion(for shell: Shell) -> String {
        let completion = ShellCompletion(program: program, commands: descriptions)
        return switch shell {
        case .bash: completion.bash
        case .zsh: completion.zsh
        }
    }

    /// Parses a command line.
    ///
    /// - Parameter arguments: the words after the program's name.
    /// - Returns: what they ask for.
    /// - Throws: `CommandLineError` if they have no meaning.
    public func parse(_ arguments: [String]) throws(CommandLineError) -> ParsedCommandLine<Invocation> {
        if let programCommand { return try Self.parse(arguments, programCommand) }
        if let first = arguments.first, let command = command(first) {
            return try parse(arguments.dropFirst(), command.description, command)
        }
        let parser = ArgumentParser(commands: allDescriptions)
        let arguments = parser.withCommandFirst(arguments)
        guard let first = arguments.first else { throw CommandLineError(message: "a command is missing") }
        if let common = Self.common(first, topic: nil) { return common }
        guard let description = parser.command(first) else { throw parser.unknown(first) }
        return try parse(arguments.dropFirst(), description, command(first))
    }

    /// The row with a name or a former name.
    private func command(_ name: String) -> Command<Invocation>? {
        commands.first { $0.name == name } ?? commands.first { $0.formerNames.contains(name) }
    }

    /// Parses the words after a command, which is `help` if it has no row.
    private func parse(
        _ rest: ArraySlice<String>, _ description: CommandDescription, _ command: Command<Invocation>?
    ) throws(CommandLineError) -> ParsedCommandLine<Invocation> {
        // `--help` takes precedence over errors of the other words.
        for word in rest.prefix(while: { $0 != "--" }) {
            if let common = Self.common(word, topic: description.name) { return common }
        }
        do {
            let arguments = try ArgumentParser.read(rest, for: description)
            guard let command else {
                return .help(topic: try ArgumentParser(commands: allDescriptions).topic(arguments))
            }
            return .command(try command.invocation(arguments))
        } catch {
            throw CommandLineError(message: error.message, command: description.name)
        }
    }

    /// Parses the command line of a program without commands.
    private static func parse(
        _ arguments: [String], _ command: Command<Invocation>
    ) throws(CommandLineError) -> ParsedCommandLine<Invocation> {
        for word in arguments.prefix(while: { $0 != "--" }) {
            if let common = common(word, topic: nil) { return common }
        }
        return .command(try command.invocation(try ArgumentParser.read(arguments[...], for: command.description)))
    }

    private static func common(_ word: String, topic: String?) -> ParsedCommandLine<Invocation>? {
        switch word {
        case OptionDescription.help.name, "-h": .help(topic: topic)
        case OptionDescription.version.name: .version
        default: nil
        }
    }
}

extension OptionDescription {
    /// `--help`, for the program and for each command.
    static let help = OptionDescription(name: "--help", value: nil, details: ["Print this help; -h is the same."])
    /// `--version`, for the program and for each command.
    static let version = OptionDescription(name: "--version", value: nil, details: ["Print the version."])
    /// The options that every command takes.
    static let common = [help, version]
    /// `--json`, for scripts.
    public static let json = OptionDescription(name: "--json", value: nil, details: ["Print JSON, for scripts."])
}

/// Parses the words after a command by its description.
struct ArgumentParser {
    /// The command `help`, which every table contains.
    static let helpCommand = CommandDescription(
        name: "help", summary: "explain a command", details: ["The same as --help after the command."], options: [],
        operands: [.optional("COMMAND", .command)], values: [], json: [], examples: ["help", "help run"],
        isHidden: false, formerNames: [])

    /// The allowed first words.
    let commands: [CommandDescription]

    /// Moves options that stand before the command behind it: `--config FILE led` is `led --config FILE`.
    func withCommandFirst(_ words: [String]) -> [String] {
        var rest = words[...]
        while let word = rest.first, word.hasPrefix("-") {
            let name = word.prefix { $0 != "=" }
            guard let option = commands.lazy.flatMap(\.options).first(where: { $0.name == name }) else {
                return words
            }
            rest = rest.dropFirst(option.value == nil || word != name ? 1 : 2)
        }
        // The error of an empty line says that the command is missing.
        guard let command = rest.first else { return [] }
        return [command] + words[..<rest.startIndex] + rest.dropFirst()
    }

    /// The command that `help` is asked to explain; nil: the program.
    func topic(_ arguments: ParsedArguments) throws(CommandLineError) -> String? {
        guard let topic = arguments.operands.first else { return nil }
        guard let command = command(topic) else { throw unknown(topic) }
        return command.name
    }

    /// The command with a name or a former name.
    func command(_ name: String) -> CommandDescription? {
        commands.first { $0.name == name } ?? commands.first { $0.formerNames.contains(name) }
    }

    /// The error for a first word that is no command.
    func unknown(_ word: String) -> CommandLineError {
        let names = commands.filter { !$0.isHidden }.map(\.name) + OptionDescription.common.map(\.name)
        let kind = word.hasPrefix("-") ? "option" : "command"
        let hint = Spelling.hint(for: word, in: names)
        return CommandLineError(message: "unknown \(kind) \(DisplayText.quoted(word))\(hint)")
    }

    static func read(
        _ words: ArraySlice<String>, for command: CommandDescription
    ) throws(CommandLineError) -> ParsedArguments {
        var arguments = ParsedArguments()
        var words = words
        while let word = words.popFirst() {
            if word == "--" {
                arguments.operands += words
                break
            }
            if word.hasPrefix("-") {
                try readOption(word, &words, of: command, into: &arguments)
            } else {
                arguments.operands.append(word)
            }
        }
        try check(arguments.operands, of: command)
        return arguments
    }

    /// `--name`, `--name VALUE` or `--name=VALUE`.
    private static func readOption(
        _ word: String, _ rest: inout ArraySlice<String>, of command: CommandDescription,
        into arguments: inout ParsedArguments
    ) throws(CommandLineError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.first ?? word
        guard let option = command.options.first(where: { $0.name == name || $0.formerNames.contains(name) }) else {
            let hint = Spelling.hint(for: name, in: (command.options + OptionDescription.common).map(\.name))
            throw CommandLineError(message: "unknown option \(DisplayText.quoted(name))\(hint)")
        }
        let value = try value(of: option, attached: parts.count == 2 ? parts[1] : nil, &rest)
        guard arguments.options.updateValue(value, forKey: option.name) == nil else {
            throw CommandLineError(message: "\(option.name) is given twice")
        }
    }

    private static func value(
        of option: OptionDescription, attached: String?, _ rest: inout ArraySlice<String>
    ) throws(CommandLineError) -> String {
        guard option.value != nil else {
            guard attached == nil else { throw CommandLineError(message: "\(option.name) takes no value") }
            return ""
        }
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
            throw CommandLineError(message: "\(option.name) needs a value: \(option.synopsis)")
        }
        return value
    }

    private static func check(_ operands: [String], of command: CommandDescription) throws(CommandLineError) {
        if let missing = command.operands.dropFirst(operands.count).first, !missing.isOptional {
            throw CommandLineError(message: "\(missing.name) is missing")
        }
        if let extra = operands.dropFirst(command.operands.count).first {
            throw CommandLineError(message: "\(DisplayText.quoted(extra)) is one word too many")
        }
    }
}
