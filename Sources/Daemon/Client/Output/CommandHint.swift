import CommandLine
import Text

/// Completes command lines that a hint names.
struct CommandHint: Hashable, Sendable {
    /// The file of `--config`, as it was typed; nil: none was.
    let config: String?

    /// The hint, with the `--config` that was given behind each command line of this program in it.
    func completed(_ hint: String) -> String {
        guard let config else { return hint }
        var words = hint.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let commands = Set(Commands.table.descriptions.filter { $0.options.contains(Commands.config) }.map(\.name))
        for index in words.indices.dropFirst() where words[index - 1].hasSuffix("jacquard2mqtt") {
            let name = words[index].prefix { $0.isLetter || $0 == "-" }
            guard commands.contains(String(name)) else { continue }
            let rest = words[index].dropFirst(name.count)
            words[index] = "\(name) --config \(Self.quoted(config))\(rest)"
        }
        return words.joined(separator: " ")
    }

    /// The text as one word of a shell.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "/._-+,:@%".utf8.contains($0) }
        return isPlain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
