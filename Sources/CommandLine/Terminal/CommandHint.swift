public import CommandLine
import Text

/// Completes the command lines of this program in hints with the `--config` that the user typed.
public struct CommandHint: Hashable, Sendable {
    /// The value of `--config`; nil: not given.
    private let config: String?
    /// The names of the commands that take `--config`.
    private let commands: Set<String>

    /// Creates the completion.
    ///
    /// - Parameters:
    ///   - config: the value of `--config`; nil: not given.
    ///   - commands: the commands of the program.
    public init(config: String?, commands: [CommandDescription]) {
        self.config = config
        self.commands = Set(commands.filter { $0.options.contains { $0.name == "--config" } }.map(\.name))
    }

    /// Returns the hint with `--config FILE` after each command of `jacquard2mqtt`.
    public func completed(_ hint: String) -> String {
        guard let config else { return hint }
        var words = hint.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        for index in words.indices.dropFirst() where words[index - 1].hasSuffix("jacquard2mqtt") {
            let name = words[index].prefix { $0.isLetter || $0 == "-" }
            guard commands.contains(String(name)) else { continue }
            let rest = words[index].dropFirst(name.count)
            words[index] = "\(name) --config \(Self.quoted(config))\(rest)"
        }
        return words.joined(separator: " ")
    }

    /// Quotes a text as one word of a shell, if it needs quotes.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "/._-+,:@%".utf8.contains($0) }
        return isPlain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
