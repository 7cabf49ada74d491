/// The manual page of a program, in the format of mdoc(7).
struct ManualPage {
    /// The program.
    let program: ProgramDescription
    /// Its commands.
    let commands: [CommandDescription]

    /// The page.
    ///
    /// - Parameter date: such as `November 20, 2026`.
    /// - Returns: lines, each with its newline.
    func text(date: String) -> String {
        var lines = [#".\" Generated from the table of commands."#, ".Dd \(date)"]
        lines += [".Dt \(program.name.uppercased()) 1", ".Os"]
        lines += [".Sh NAME", ".Nm \(program.name)", ".Nd \(program.summary)"]
        lines += [".Sh SYNOPSIS"] + commands.flatMap(synopsis) + [".Nm", ".Fl -help | Fl -version"]
        lines += [".Sh DESCRIPTION"] + description
        lines += commandSection + optionSection
        lines += program.sections.flatMap(section)
        lines += exampleSection + seeAlsoSection
        return lines.map { $0 + "\n" }.joined()
    }

    private func synopsis(_ command: CommandDescription) -> [String] {
        [".Nm"] + command.nameWords.map { ".Cm \($0)" } + command.options.map { ".Op \(Self.form(of: $0))" }
            + command.operands.map { $0.isOptional ? ".Op Ar \($0.name)" : ".Ar \($0.name)" }
    }

    private var description: [String] {
        let further = Self.sentences(program.manual.details)
        return [".Nm"] + Self.sentences(program.details, isContinued: true) + (further.isEmpty ? [] : [".Pp"] + further)
    }

    /// The commands with the options that only one command takes.
    private var commandSection: [String] {
        let listed = commands.filter { !$0.isProgram }
        guard !listed.isEmpty else { return [] }
        return [".Sh COMMANDS", ".Bl -tag -width Ds"] + listed.flatMap(entry) + [".El"]
    }

    private func entry(_ command: CommandDescription) -> [String] {
        let operands = command.operands.map { $0.isOptional ? " Op Ar \($0.name)" : " Ar \($0.name)" }.joined()
        let options = command.options.filter { !isShared($0) }
        var lines = [".It Cm \(command.name)\(operands)"]
        lines += Self.sentences(command.details) + Self.sentences(command.values)
        if !options.isEmpty { lines += [".Bl -tag -width Ds"] + options.flatMap(Self.entry) + [".El"] }
        if !command.json.isEmpty {
            // The words of a document are too long for lines that are adjusted on both sides.
            lines += [".Pp", "Output of", ".Fl -json :", ".Bd -ragged -compact"]
            lines += Self.sentences(command.json) + [".Ed"]
        }
        return lines
    }

    /// The options that several commands take, and those of a program without commands.
    private var optionSection: [String] {
        var options: [OptionDescription] = []
        for option in commands.flatMap(\.options) where isShared(option) && !options.contains(option) {
            options.append(option)
        }
        return [".Sh OPTIONS", ".Bl -tag -width Ds"] + (options + OptionDescription.common).flatMap(Self.entry)
            + [".El"]
    }

    private func isShared(_ option: OptionDescription) -> Bool {
        let users = commands.filter { $0.options.contains(option) }
        return users.count > 1 || users.contains(where: \.isProgram)
    }

    private static func entry(_ option: OptionDescription) -> [String] {
        [".It \(form(of: option))"] + sentences(option.details)
    }

    private func section(_ section: HelpSection) -> [String] {
        let head = ".Sh \(section.kind.title)"
        let items = section.items
        switch section.kind {
        case .files: return [head] + Self.list(items, macro: "Pa ")
        case .environment: return [head] + Self.list(items, macro: "Ev ")
        case .exitStatus: return [head] + Self.list(items, macro: "", options: " -compact")
        case .text: return [head, ".Bd -literal"] + items.flatMap(\.lines).map(Self.escaped) + [".Ed"]
        }
    }

    private static func list(_ items: [HelpSection.Item], macro: String, options: String = "") -> [String] {
        var lines = [".Bl -tag -width Ds\(options)"]
        for item in items {
            lines.append(".It \(macro)\(item.term)")
            lines += sentences(item.lines)
        }
        return lines + [".El"]
    }

    private var exampleSection: [String] {
        let examples =
            commands.flatMap { command in command.examples.map { "\(program.name) \($0)" } } + program.manual.examples
        return examples.isEmpty ? [] : [".Sh EXAMPLES"] + examples.map { ".Dl \(Self.escaped($0))" }
    }

    private var seeAlsoSection: [String] {
        let pages = program.manual.seeAlso
        guard !pages.isEmpty else { return [] }
        return [".Sh SEE ALSO"] + pages.enumerated().map { ".Xr \($1)" + ($0 == pages.count - 1 ? "" : " ,") }
    }

    private static func form(of option: OptionDescription) -> String {
        "Fl \(option.name.dropFirst())" + (option.value.map { " Ar \($0)" } ?? "")
    }

    /// Joins lines and starts each sentence on a new line, as mdoc requires. An empty line starts a paragraph.
    ///
    /// - Parameters:
    ///   - lines: the lines of the text.
    ///   - isContinued: whether the first sentence continues one that a macro has begun; it then starts in lower case.
    /// - Returns: one line for each sentence.
    private static func sentences(_ lines: [String], isContinued: Bool = false) -> [String] {
        let paragraphs = lines.split(separator: "").map { paragraph(Array($0)) }
        var sentences = Array(paragraphs.joined(separator: [".Pp"]))
        if isContinued, let first = sentences.first {
            sentences[0] = first.prefix(1).lowercased() + first.dropFirst()
        }
        return sentences
    }

    private static func paragraph(_ lines: [String]) -> [String] {
        var sentences: [String] = []
        var words: [Substring] = []
        let all = lines.joined(separator: " ").split(separator: " ")
        for (index, word) in all.enumerated() {
            words.append(word)
            let next = index + 1 < all.count ? all[index + 1].first : nil
            guard word.hasSuffix("."), next?.isUppercase == true else { continue }
            sentences.append(words.joined(separator: " "))
            words = []
        }
        if !words.isEmpty { sentences.append(words.joined(separator: " ")) }
        return sentences.map { unhyphenated(escaped($0)) }
    }

    /// Marks names and JSON documents, so that they are not hyphenated, and documents are continued on the next line after a comma.
    /// The request `.nh` has no effect: each macro of a paragraph switches hyphenation on again.
    private static func unhyphenated(_ sentence: String) -> String {
        sentence.split(separator: " ").map { word in
            guard word.contains(where: { $0 == "\"" || $0 == "_" }) else { return String(word) }
            let end = word.hasSuffix(",") ? "," : ""
            return "\\%" + word.split(separator: ",").joined(separator: ",\\:") + end
        }.joined(separator: " ")
    }

    /// Escapes what roff would interpret: backslashes, two hyphens, and a control character at the start of a line.
    private static func escaped(_ line: String) -> String {
        var result = ""
        var previous: Character = " "
        for character in line {
            switch character {
            case "\\": result += "\\e"
            // A plain hyphen may be printed as another character, which cannot be copied.
            case "-" where previous == " " || previous == "-": result += "\\-"
            default: result.append(character)
            }
            previous = character
        }
        return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
    }
}
