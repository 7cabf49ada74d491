import Text

/// Reads a command line by a table of commands.
///
/// Not by glibc's `getopt_long`: Swift's Glibc module leaves `getopt.h` out, and the function keeps its place in
/// global variables, prints its own errors, and knows no commands.
struct CommandLineParser {
    /// Explains instead of doing; for the program and for each command.
    static let help = OptionDescription(name: "--help", value: nil, details: ["Print this help; -h is the same."])
    /// Prints the version instead of doing; for the program and for each command.
    static let version = OptionDescription(name: "--version", value: nil, details: ["Print the version."])
    /// What every command takes.
    static let commonOptions = [help, version]

    /// What the first word may be.
    let commands: [CommandDescription]

    /// Reads a command line.
    ///
    /// - Parameter arguments: the words after the program's name.
    /// - Returns: what is asked for.
    /// - Throws: `UsageError` if it makes no sense.
    func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        guard let first = arguments.first else { throw UsageError(message: "a command is missing") }
        if let invocation = Self.commonInvocation(first, topic: nil) { return invocation }
        guard let command = commands.first(where: { $0.name == first }) else { throw unknown(first) }
        let rest = arguments.dropFirst()
        // `--help` takes precedence over errors of the other words.
        for word in rest.prefix(while: { $0 != "--" }) {
            if let invocation = Self.commonInvocation(word, topic: command.name) { return invocation }
        }
        do {
            return try command.invocation(Self.read(rest, for: command))
        } catch {
            throw UsageError(message: error.message, command: command.name)
        }
    }

    private static func commonInvocation(_ word: String, topic: String?) -> Invocation? {
        switch word {
        case help.name, "-h": .help(topic: topic)
        case version.name: .version
        default: nil
        }
    }

    /// The error for a first word that is no command.
    func unknown(_ word: String) -> UsageError {
        let names = commands.map(\.name) + Self.commonOptions.map(\.name)
        let kind = word.hasPrefix("-") ? "option" : "command"
        let hint = Spelling.hint(for: word, in: names)
        return UsageError(message: "unknown \(kind) \(DisplayText.quoted(word))\(hint)")
    }

    private static func read(
        _ words: ArraySlice<String>, for command: CommandDescription
    ) throws(UsageError) -> CommandArguments {
        var arguments = CommandArguments()
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
        into arguments: inout CommandArguments
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.first ?? word
        guard let option = command.options.first(where: { $0.name == name }) else {
            let hint = Spelling.hint(for: name, in: (command.options + commonOptions).map(\.name))
            throw UsageError(message: "unknown option \(DisplayText.quoted(name))\(hint)")
        }
        let value = try value(of: option, attached: parts.count == 2 ? parts[1] : nil, &rest)
        guard arguments.options.updateValue(value, forKey: name) == nil else {
            throw UsageError(message: "\(name) is given twice")
        }
    }

    private static func value(
        of option: OptionDescription, attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard option.value != nil else {
            guard attached == nil else { throw UsageError(message: "\(option.name) takes no value") }
            return ""
        }
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
            throw UsageError(message: "\(option.name) needs a value: \(option.synopsis)")
        }
        return value
    }

    private static func check(_ operands: [String], of command: CommandDescription) throws(UsageError) {
        if operands.count < command.operands.count {
            throw UsageError(message: "\(command.operands[operands.count]) is missing")
        }
        let limit = command.operands.count + command.optionalOperands.count
        if operands.count > limit {
            throw UsageError(message: "\(DisplayText.quoted(operands[limit])) is one word too many")
        }
    }
}
