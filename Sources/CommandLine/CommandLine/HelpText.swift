/// The pages of `--help`, in the order and with the titles of a manual page.
struct HelpText {
    /// The program.
    let program: ProgramDescription
    /// Its commands.
    let commands: [CommandDescription]

    /// The page of a command.
    ///
    /// - Parameter topic: the command's name; nil, or a name that is unknown: the page of the program.
    /// - Returns: lines of at most 80 characters, the last one with its newline.
    func page(for topic: String?) -> String {
        let command = commands.first { $0.name == topic } ?? commands.first(where: \.isProgram)
        // Files, variables and exit codes are those of the program: its page and the manual have them once.
        let isProgram = command?.isProgram ?? true
        let sections = (command.map(sections(of:)) ?? programSections) + (isProgram ? program.sections : [])
        return sections.map { section in
            "\(section.kind.title)\n" + section.lines.map { "    \($0)\n" }.joined()
        }.joined(separator: "\n")
    }

    private var programSections: [HelpSection] {
        let width = (commands.map(\.name.count).max() ?? 0) + 3
        return [
            HelpSection("NAME", ["\(program.name) - \(program.summary)"]),
            HelpSection("SYNOPSIS", commands.flatMap { synopsis($0.synopsisWords) } + synopsis(["--help | --version"])),
            HelpSection("DESCRIPTION", program.details),
            HelpSection("COMMANDS", commands.map { Self.padded($0.name, to: width) + $0.summary }),
            HelpSection("OPTIONS", Self.lines(of: OptionDescription.common)),
        ]
    }

    private func sections(of command: CommandDescription) -> [HelpSection] {
        let sections: [HelpSection] = [
            HelpSection(
                "NAME", ["\(([program.name] + command.nameWords).joined(separator: " ")) - \(command.summary)"]),
            HelpSection("SYNOPSIS", synopsis(command.synopsisWords)),
            HelpSection("DESCRIPTION", command.details),
            HelpSection("VALUES", command.values),
            HelpSection("OPTIONS", Self.lines(of: command.options + OptionDescription.common)),
            HelpSection("JSON", command.json),
            HelpSection("EXAMPLES", command.examples.map { "\(program.name) \($0)" }),
        ]
        return sections.filter { !$0.lines.isEmpty }
    }

    /// The program's name and the words, broken into lines of at most 76 characters, further ones indented.
    private func synopsis(_ words: [String]) -> [String] {
        var lines = [program.name]
        for word in words {
            let line = lines[lines.count - 1]
            if line.count + 1 + word.count <= 76 {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append("    " + word)
            }
        }
        return lines
    }

    private static func lines(of options: [OptionDescription]) -> [String] {
        options.flatMap { option in [option.synopsis] + option.details.map { "    \($0)" } }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 1))
    }
}
