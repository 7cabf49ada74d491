/// The scripts with which shells complete command lines of a program.
struct ShellCompletion {
    /// The program.
    let program: ProgramDescription
    /// Its commands.
    let commands: [CommandDescription]

    private var function: String { "_" + program.name.map { $0 == "-" ? "_" : String($0) }.joined() }
    private var names: [String] { commands.map(\.name) }

    private static func words(of options: [OptionDescription]) -> [String] {
        (options + OptionDescription.common).map(\.name)
    }
}

extension ShellCompletion {
    /// For bash with the package bash-completion.
    var bash: String {
        var lines = ["# bash completion for \(program.name). Generated from the table of commands.", ""]
        if printsWords { lines += bashPrinter }
        lines += ["\(function)() {", "    local cur prev words cword", "    _init_completion -n = || return"]
        if let option = leadingOption { lines += bashReordering(option) }
        lines += valueCases
        if commands.contains(where: \.isPositional) { lines += operandCount }
        if let command = commands.first(where: \.isProgram) {
            lines += offer(for: command).map { "    " + $0 }
        } else {
            lines += ["    if ((cword == 1)); then", "        " + Self.offer(names + Self.words(of: []))]
            lines += ["        return", "    fi", "    case ${words[1]} in"]
            for command in commands {
                lines.append("        \(command.name))")
                lines += offer(for: command).map { "            " + $0 }
                lines.append("            ;;")
            }
            lines.append("    esac")
        }
        lines += ["}", "", "complete -F \(function) \(program.name)"]
        return lines.map { $0 + "\n" }.joined()
    }

    /// The option with a value that stands before commands, too, because all of them take it.
    private var leadingOption: OptionDescription? {
        commands.first?.options.first { option in
            option.value != nil && !names.contains("")
                && commands.allSatisfy { $0.options.contains(option) || $0.options.isEmpty }
        }
    }

    /// Lines that move `--config FILE` from before the command to behind it, as the program itself does. `--config=FILE` becomes two words
    /// before that.
    private func bashReordering(_ option: OptionDescription) -> [String] {
        [
            "    if [[ ${words[1]} == \(option.name)=* ]] && ((cword > 1)); then",
            "        words=(\"${words[0]}\" \(option.name) \"${words[1]#*=}\" \"${words[@]:2}\")",
            "        cword=$((cword + 1))", "    fi",
            "    if [[ ${words[1]} == \(option.name) ]] && ((cword == 3)); then",
            "        words=(\"${words[0]}\" \"${words[@]:3}\")", "        cword=1",
            "    elif [[ ${words[1]} == \(option.name) ]] && ((cword > 3)); then",
            "        words=(\"${words[0]}\" \"${words[3]}\" \"${words[@]:1:2}\" \"${words[@]:4}\")", "    fi",
        ]
    }

    /// Completes the value of an option: by the option's name, and by the command as well if two commands differ.
    private var valueCases: [String] {
        var patterns: [Completion: [String]] = [:]
        var order: [Completion] = []
        for command in commands {
            for option in command.options where option.value != nil {
                let uses = commands.flatMap(\.options).filter { $0.name == option.name && $0.value != nil }
                let isUniform = uses.allSatisfy { $0.completion == option.completion }
                let pattern = isUniform ? "*' \(option.name)'" : "'\(command.name) \(option.name)'"
                if patterns[option.completion] == nil { order.append(option.completion) }
                if patterns[option.completion]?.contains(pattern) == true { continue }
                patterns[option.completion, default: []].append(pattern)
            }
        }
        guard !order.isEmpty else { return [] }
        var lines = ["    case \"${words[1]} $prev\" in"]
        for completion in order {
            lines.append("        \((patterns[completion] ?? []).joined(separator: " | ")))")
            if let offer = bash(completion) { lines.append("            " + offer) }
            lines += ["            return", "            ;;"]
        }
        return lines + ["    esac"]
    }

    /// The lines that complete an operand or the name of an option.
    private func offer(for command: CommandDescription) -> [String] {
        guard command.isPositional else { return offer(command.operands, command.options) }
        var lines: [String] = []
        for (index, operand) in command.operands.enumerated() where operand.completion != .none {
            let isRun = operand.completion.isRun
            let condition = (isRun ? "$cur != -* && " : "") + "$operand == \(index + 1)"
            lines.append("\(lines.isEmpty ? "if" : "elif") [[ \(condition) ]]; then")
            lines += (isRun ? [bash(operand.completion) ?? ""] : offer([operand], command.options)).map { "    " + $0 }
        }
        return lines + ["else", "    " + Self.offer(Self.words(of: command.options)), "fi"]
    }

    private func offer(_ operands: [OperandDescription], _ options: [OptionDescription]) -> [String] {
        let options = Self.words(of: options)
        for completion in operands.map(\.completion) where completion.isRun {
            let offer = Self.offer(options)
            return ["if [[ $cur == -* ]]; then", "    \(offer)", "else", "    \(bash(completion) ?? "")", "fi"]
        }
        let words = operands.flatMap { operand in
            switch operand.completion {
            case .words(let words): words
            case .command: names
            case .none, .file, .folder, .output, .after: [String]()
            }
        }
        return [Self.offer(words + options)]
    }

    /// Whether the program itself prints words for an operand or an option of a command.
    private var printsWords: Bool {
        commands.contains { command in
            (command.operands.map(\.completion) + command.options.map(\.completion)).contains(where: \.isPrinted)
        }
    }

    /// A function that offers the lines that the program prints. They come from the network, so the shell does not expand
    /// them. The file of `--config` is as it was typed: the function takes its quotation marks away, and expands `~/`.
    private var bashPrinter: [String] {
        [
            "\(function)_print() {", "    local -a config=()", "    local i file",
            "    for ((i = 2; i < cword; i++)); do", "        case ${words[i]} in",
            "            --config) ((i + 1 < cword)) || continue; file=${words[i + 1]} ;;",
            "            --config=*) file=${words[i]#*=} ;;", "            *) continue ;;", "        esac",
            #"        file=${file//[\"\'\\]/}"#, #"        config=(--config "${file/#\~\//$HOME/}")"#, "    done",
            #"    mapfile -t COMPREPLY < <("${words[0]}" "$@" "${config[@]}" -- "$cur" 2>/dev/null)"#, "}", "",
        ]
    }

    /// Lines that set `operand` to the number of the word that is typed, without options.
    private var operandCount: [String] {
        let patterns = commands.flatMap { command in
            command.options.filter { $0.value != nil }.map { "'\(command.name) \($0.name)'" }
        }
        return [
            "    local i operand=1", "    for ((i = 2; i < cword; i++)); do",
            "        case \"${words[1]} ${words[i]}\" in",
            "            \(patterns.joined(separator: " | "))) ((i++)) ;;", "            *' '-*) ;;",
            "            *) ((operand++)) ;;", "        esac", "    done",
        ]
    }

    private func bash(_ completion: Completion) -> String? {
        switch completion {
        case .none: nil
        case .file(let extensions):
            extensions.isEmpty ? "_filedir" : "_filedir '@(\(extensions.joined(separator: "|")))'"
        case .folder: "_filedir -d"
        case .words(let words): Self.offer(words)
        case .command: Self.offer(names)
        case .output(let words): "\(function)_print \(words.joined(separator: " "))"
        case .after(let word, let first, let second):
            "if [[ $prev == \(word) ]]; then \(bash(first) ?? ":"); else \(bash(second) ?? ":"); fi"
        }
    }

    private static func offer(_ words: [String]) -> String {
        "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$cur\"))"
    }
}

extension ShellCompletion {
    /// For zsh.
    var zsh: String {
        var lines = ["#compdef \(program.name)", "# zsh completion. Generated from the table of commands.", ""]
        if let command = commands.first(where: \.isProgram) {
            lines += arguments(of: command)
        } else {
            if printsWords { lines += zshPrinter }
            if let option = leadingOption {
                lines += [
                    "if [[ ${words[2]} == \(option.name)=* ]] && (( CURRENT > 2 )); then",
                    "    words=(${words[1]} \(option.name) \"${words[2]#*=}\" \"${(@)words[3,-1]}\")",
                    "    (( CURRENT++ ))", "fi",
                    "if [[ ${words[2]} == \(option.name) ]] && (( CURRENT == 3 )); then", "    _files", "    return",
                    "elif [[ ${words[2]} == \(option.name) ]] && (( CURRENT == 4 )); then",
                    "    words=(${words[1]} ${words[4,-1]})", "    CURRENT=2",
                    "elif [[ ${words[2]} == \(option.name) ]] && (( CURRENT > 4 )); then",
                    "    words=(${words[1]} ${words[4]} ${words[2,3]} \"${(@)words[5,-1]}\")", "fi",
                ]
            }
            lines += ["local -a commands", "commands=("]
            lines += commands.map { "    '\($0.name):\(Self.quoted($0.summary))'" }
            lines += [")", "if (( CURRENT == 2 )); then", "    _describe -t commands command commands"]
            lines += ["    compadd -- \(Self.words(of: []).joined(separator: " "))", "    return", "fi"]
            lines += ["shift words", "(( CURRENT-- ))", "case ${words[1]} in"]
            for command in commands {
                lines.append("    \(command.name))")
                lines += arguments(of: command).map { "        " + $0 }
                lines.append("        ;;")
            }
            lines.append("esac")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func arguments(of command: CommandDescription) -> [String] {
        let options = (command.options + OptionDescription.common).map { option in
            let text = Self.escaped(Self.quoted(Self.firstSentence(option.details)), "[]:")
            guard let value = option.value else { return "'\(option.name)[\(text)]'" }
            return "'\(option.name)=[\(text)]:\(value):\(zsh(option.completion))'"
        }
        let operands = command.operands.enumerated().map { index, operand in
            "'\(index + 1):\(operand.isOptional ? ":" : "")\(operand.name):\(zsh(operand.completion))'"
        }
        let all = options + operands
        return ["_arguments \\"] + all.enumerated().map { "    \($1)" + ($0 == all.count - 1 ? "" : " \\") }
    }

    private func zsh(_ completion: Completion) -> String {
        switch completion {
        case .none: " "
        case .file(let extensions):
            extensions.isEmpty ? "_files" : #"_files -g "*.(\#(extensions.joined(separator: "|")))""#
        case .folder: "_directories"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .command: "(\(names.joined(separator: " ")))"
        case .output(let words): " \(function)_print \(words.joined(separator: " "))"
        case .after(let word, let first, let second):
            "{if [[ ${words[CURRENT-1]} == \(word) ]]; then \(zsh(first)); else\(zsh(second)); fi}"
        }
    }

    /// As for bash. `_arguments` passes options for `compadd` behind the words.
    private var zshPrinter: [String] {
        [
            "\(function)_print() {", "    local -a config lines", "    local i file",
            "    for ((i = 2; i < CURRENT; i++)); do", "        case ${words[i]} in",
            "            --config) ((i + 1 < CURRENT)) || continue; file=${(Q)words[i + 1]} ;;",
            "            --config=*) file=${(Q)words[i]#*=} ;;", "            *) continue ;;", "        esac",
            #"        config=(--config "${file/#\~\//$HOME/}")"#, "    done",
            #"    lines=(${(f)"$(\#(program.name) $1 $2 $config -- $PREFIX 2>/dev/null)"})"#,
            "    compadd -a lines", "}", "",
        ]
    }

    private static func firstSentence(_ lines: [String]) -> String {
        let text = lines.joined(separator: " ")
        let words = text.split(separator: " ")
        let end = words.firstIndex { $0.hasSuffix(".") } ?? words.endIndex - 1
        return words[...end].joined(separator: " ")
    }

    /// The text inside single quotes.
    private static func quoted(_ text: String) -> String {
        text.map { $0 == "'" ? "'\\''" : String($0) }.joined()
    }

    private static func escaped(_ text: String, _ characters: String) -> String {
        text.map { characters.contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}

extension Completion {
    /// Whether a shell runs something for it, and does not choose from given words.
    fileprivate var isRun: Bool {
        switch self {
        case .file, .folder, .output, .after: true
        case .none, .words, .command: false
        }
    }

    /// Whether the program prints the words.
    fileprivate var isPrinted: Bool {
        switch self {
        case .output: true
        case .after(_, let first, let second): first.isPrinted || second.isPrinted
        case .none, .file, .folder, .words, .command: false
        }
    }
}

extension CommandDescription {
    /// Whether the completion of an operand depends on its position.
    fileprivate var isPositional: Bool {
        operands.contains { $0.completion.isPrinted || operands.count > 1 && $0.completion != .none }
    }
}
