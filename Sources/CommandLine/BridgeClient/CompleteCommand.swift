import Bridge
import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import JacquardProtocol
import Logging
import Terminal
import Text

/// `complete`: prints the words that begin with what was typed, for the completion of shells: IDs of tags and names of groups,
/// or keys of the configuration.
///
/// It is silent on all errors, and ends in well under a second even if the broker does not answer; then it prints what the
/// configuration contains.
struct CompleteAction: CommandAction {
    /// The kind of a word. The raw values are the words of the command line.
    enum Kind: String, CaseIterable, Sendable {
        /// The ID of a tag.
        case tag
        /// IDs of tags and names of groups with commas between them, or `all`.
        case tags
        /// Keys of the configuration that can be printed, with commas between them.
        case keys

        /// Whether commas stand between several words.
        var isList: Bool { self != .tag }
    }

    /// The time limit for the broker.
    static let patience = Duration.milliseconds(400)

    /// The kind of the word.
    let kind: Kind
    /// The beginning that was typed.
    let word: String
    /// The value of `--config`.
    let config: String?

    func run(in context: CommandContext) -> ExitCode {
        guard kind != .keys else {
            offered(Settings.printableKeys).forEach { OutputChannel.standardOutput.write($0) }
            return .done
        }
        guard case .success(let loaded) = ConfigurationFile.load(path: config, environment: context.environment) else {
            return .done
        }
        let configuration = loaded.configuration
        return LoopRun.exitCode {
            let directory = await Self.directory(configuration)
            candidates(configuration, directory).forEach { OutputChannel.standardOutput.write($0) }
            return .done
        }
    }

    /// Reads what the bridges have published; nil without an answer in time.
    @LoopActor
    static func directory(_ configuration: Settings, within limit: Duration = patience) async -> FleetDirectory? {
        let session = BrokerSession(configuration, log: Logger("client", to: StreamSink(level: .error)))
        let timer = LoopTimer { [unowned session] in session.interrupt() }
        timer.arm(after: limit)
        defer { timer.disarm() }
        var directory: FleetDirectory?
        if case .accepted = await session.connect() {
            let filters = [session.topics.infoOfEveryBridge, session.topics.stateOfEveryBridge]
            directory = (try? await session.snapshot(of: filters)).map { FleetDirectory($0, session.topics) }
        }
        await session.close(within: .milliseconds(100))
        return directory
    }

    /// The IDs and names that begin with what has been typed. Those with characters that are special to a shell are left out.
    func candidates(_ configuration: Settings, _ directory: FleetDirectory?) -> [String] {
        let groups = configuration.tagsOfGroups.keys + (directory.map { Array($0.groups.keys) } ?? [])
        let ids = Set(configuration.tags.map(\.id.text) + (directory?.tags ?? []))
        let others = kind.isList ? Set(groups).union(word.contains(",") ? [] : [TagOperand.all]) : []
        return offered(ids.union(others).filter { $0.utf8.allSatisfy(ASCII.isOfWord) })
    }

    /// The words that begin with what has been typed, sorted. In a list, they follow the last comma, and those before it are not
    /// offered again.
    private func offered(_ words: some Sequence<String>) -> [String] {
        let end =
            kind.isList ? word.lastIndex(of: ",").map { word.index(after: $0) } ?? word.startIndex : word.startIndex
        let (typed, last) = (word[..<end], word[end...])
        let earlier = Set(typed.split(separator: ",").map(String.init))
        return words.filter { $0.hasPrefix(last) && !earlier.contains($0) }.sorted().map { typed + $0 }
    }

    static let row = Command<any CommandAction>(
        name: "complete",
        summary: "print the words that complete a command line",
        details: ["For the completion of shells: prints the words of a kind that begin with WORD."],
        options: [.config],
        operands: [.required("KIND", .words(Kind.allCases.map(\.rawValue))), .optional("WORD")],
        isHidden: true
    ) { arguments throws(CommandLineError) in
        CompleteAction(
            kind: try arguments.operand(0, "KIND", ScalarRule<Kind>.choice),
            word: try arguments.optionalOperand(1, "WORD", ScalarRule<String>(allowed: "a text") { $0 }) ?? "",
            config: arguments.options[OptionDescription.config.name])
    }
}

extension Completion {
    /// The ID of a tag.
    static let tag = Completion.output(of: [CompleteAction.row.description.name, CompleteAction.Kind.tag.rawValue])
    /// IDs of tags, names of groups, or `all`.
    static let tags = Completion.output(of: [CompleteAction.row.description.name, CompleteAction.Kind.tags.rawValue])
}
