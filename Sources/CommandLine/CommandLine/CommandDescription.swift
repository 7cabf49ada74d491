/// A command as its help describes it, and what it takes.
public struct CommandDescription: Hashable, Sendable {
    /// The first word of the command line; empty for a program without commands.
    public let name: String
    /// Its purpose, in less than a line.
    public let summary: String
    /// Its description, in lines of at most 72 characters.
    public let details: [String]
    /// The options, in any order.
    public let options: [OptionDescription]
    /// The words that follow, in this order; the optional ones are the last.
    public let operands: [OperandDescription]
    /// The allowed words and values of options, in lines of at most 72 characters.
    public let values: [String]
    /// The output of `--json`, in lines of at most 72 characters.
    public let json: [String]
    /// Command lines to copy, without the program's name.
    public let examples: [String]
    /// Whether help, manual page and completion leave it out: a command for scripts of this program.
    let isHidden: Bool
    /// Former names, which are accepted for one version.
    let formerNames: [String]
    /// How it is written: `check-config [--config FILE]`.
    public var synopsis: String { synopsisWords.joined(separator: " ") }

    /// Whether the program has no other commands.
    var isProgram: Bool { name.isEmpty }

    /// The words before the options: the name, or nothing for a program without commands.
    var nameWords: [String] { isProgram ? [] : [name] }

    /// The parts of the synopsis, none of which is broken over two lines.
    var synopsisWords: [String] {
        nameWords + options.map { "[\($0.synopsis)]" } + operands.map(\.synopsis)
    }
}

/// An option of a command: `--name`, or `--name VALUE`.
public struct OptionDescription: Hashable, Sendable {
    /// With its two hyphens.
    public let name: String
    /// The name of the value in the help; nil: the option takes none.
    public let value: String?
    /// Its description, in lines of at most 72 characters.
    public let details: [String]
    /// The completions of its value in a shell.
    public let completion: Completion
    /// Former names, which are accepted for one version.
    let formerNames: [String]

    /// Creates an option.
    public init(
        name: String, value: String?, completion: Completion = .none, formerNames: [String] = [], details: [String]
    ) {
        self.formerNames = formerNames
        self.name = name
        self.value = value
        self.completion = completion
        self.details = details
    }

    /// How it is written.
    public var synopsis: String { value.map { "\(name) \($0)" } ?? name }
}

/// A word after a command, such as `SERIAL`.
public struct OperandDescription: Hashable, Sendable {
    /// Its name in the help.
    public let name: String
    /// Whether it can be left out.
    public let isOptional: Bool
    /// Its completions in a shell.
    public let completion: Completion

    /// Creates an operand that has to be given.
    public static func required(_ name: String, _ completion: Completion = .none) -> OperandDescription {
        OperandDescription(name: name, isOptional: false, completion: completion)
    }

    /// Creates an operand that can be left out.
    public static func optional(_ name: String, _ completion: Completion = .none) -> OperandDescription {
        OperandDescription(name: name, isOptional: true, completion: completion)
    }

    /// How it is written.
    var synopsis: String { isOptional ? "[\(name)]" : name }
}

/// The completions of an operand or the value of an option in a shell.
public enum Completion: Hashable, Sendable {
    /// Nothing.
    case none
    /// The files with one of these extensions; all files if there are none.
    case file([String])
    /// Folders.
    case folder
    /// These words.
    case words([String])
    /// The commands of the program.
    case command
    /// The lines that the program prints for these words, followed by `--` and the word that is typed.
    ///
    /// They begin with the typed word, and have no characters that are special to a shell.
    case output(of: [String])
    /// The first after this word, otherwise the second. Both are files, folders or the output of the program.
    indirect case after(String, Completion, otherwise: Completion)
}

/// One row of a table of commands: its description, and how its arguments become a value.
///
/// The description is made when it is used: a process that runs for months keeps no help in its memory.
public struct Command<Invocation>: Sendable {
    /// The first word of the command line; empty for a program without commands.
    public let name: String
    /// Names that are accepted for one version.
    let formerNames: [String]
    private let describe: @Sendable () -> CommandDescription
    /// Makes a value of the arguments.
    let invocation: @Sendable (ParsedArguments) throws(CommandLineError) -> Invocation

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - name: the first word of the command line; empty for a program without commands.
    ///   - summary: what it does, in less than a line.
    ///   - details: what it does, in lines of at most 72 characters.
    ///   - options: what may follow, in any order.
    ///   - operands: the words that follow, in this order; the optional ones are the last.
    ///   - values: what the words and the options' values may be, in lines of at most 72 characters.
    ///   - json: what `--json` prints, in lines of at most 72 characters.
    ///   - examples: command lines to copy, without the program's name.
    ///   - isHidden: whether help, manual page and completion leave it out.
    ///   - formerNames: names that are accepted for one version.
    ///   - invocation: makes a value of the arguments.
    public init(
        name: String, summary: String, details: @autoclosure @escaping @Sendable () -> [String],
        options: @autoclosure @escaping @Sendable () -> [OptionDescription] = [],
        operands: @autoclosure @escaping @Sendable () -> [OperandDescription] = [],
        values: @autoclosure @escaping @Sendable () -> [String] = [],
        json: @autoclosure @escaping @Sendable () -> [String] = [],
        examples: @autoclosure @escaping @Sendable () -> [String] = [],
        isHidden: Bool = false, formerNames: [String] = [],
        invocation: @escaping @Sendable (ParsedArguments) throws(CommandLineError) -> Invocation
    ) {
        self.name = name
        self.formerNames = formerNames
        describe = {
            CommandDescription(
                name: name, summary: summary, details: details(), options: options(), operands: operands(),
                values: values(), json: json(), examples: examples(), isHidden: isHidden, formerNames: formerNames)
        }
        self.invocation = invocation
    }

    /// The description.
    public var description: CommandDescription { describe() }

    /// Whether it is the one row of a program without commands.
    var isProgram: Bool { name.isEmpty }
}
