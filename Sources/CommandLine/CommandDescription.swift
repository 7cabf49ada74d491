/// One row of the table of commands: what a command takes, what it means, and how its help reads.
struct CommandDescription: Sendable {
    /// The first word of the command line.
    let name: String
    /// What it does, in less than a line.
    let summary: String
    /// What it does, in lines of at most 72 characters.
    let details: [String]
    /// What may follow, in any order.
    var options: [OptionDescription] = []
    /// The words that have to follow, such as `SERIAL`.
    var operands: [String] = []
    /// The words that may follow those.
    var optionalOperands: [String] = []
    /// What the words and the options' values may be, in lines of at most 72 characters.
    var values: [String] = []
    /// What `--json` prints, in lines of at most 72 characters.
    var json: [String] = []
    /// Command lines to copy, without the program's name.
    var examples: [String] = []
    /// Makes a value of what was given.
    let invocation: @Sendable (CommandArguments) throws(UsageError) -> Invocation

    /// How it is written: `check-config [--config FILE]`.
    var synopsis: String { synopsisWords.joined(separator: " ") }

    /// The parts of the synopsis, none of which is broken over two lines.
    var synopsisWords: [String] {
        [name] + options.map { "[\($0.synopsis)]" } + operands + optionalOperands.map { "[\($0)]" }
    }
}

/// An option of a command: `--name`, or `--name VALUE`.
struct OptionDescription: Hashable, Sendable {
    /// With its two hyphens.
    let name: String
    /// What the value is called in the help; nil: the option takes none.
    let value: String?
    /// What it does, in lines of at most 72 characters.
    let details: [String]

    /// How it is written.
    var synopsis: String { value.map { "\(name) \($0)" } ?? name }
}

/// What a command was given.
struct CommandArguments: Hashable, Sendable {
    /// Values by the option's name; empty text for an option that takes no value.
    var options: [String: String] = [:]
    /// The other words, in their order.
    var operands: [String] = []
}
