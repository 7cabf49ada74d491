import Bridge
import BrokerAccess
public import CommandLine
import Configuration
import DBus
import EventLoop
import JSON
import JacquardProtocol
import Logging
public import Terminal
import Text

/// The commands that talk to a running bridge.
public enum ClientCommands {
    /// The rows of the command table, in the order of the help.
    public static let rows: [Command<any CommandAction>] = first + TagSettingCommand.rows + last

    private static let first: [Command<any CommandAction>] = [
        ScanCommand.row, PairCommand.row, ForgetCommand.row, TagsCommand.row, StatusCommand.row, MonitorCommand.row,
        ExplainCommand.row, WhyCommand.row, MetricsCommand.row, LEDCommand.row, HapticCommand.row,
    ]

    private static let last: [Command<any CommandAction>] = [
        LogLevelCommand.row, CheckupCommand.row, RecordCommand.row, ReplayCommand.row, ModulesCommand.row,
        MotionCommand.row, RadiosCommand.row, ClearCommand.row, AccessCommand.row, CompleteAction.row,
    ]
}

/// A command that talks to a running bridge. Its properties are the arguments of the command line.
protocol ClientCommand: Hashable, Sendable {
    /// Whether it is for the configured bridge.
    var usesBridge: Bool { get }

    /// Performs the command and prints the result.
    ///
    /// - Throws: the error of the bridge, or `noConnection`.
    @LoopActor
    func run(_ context: ClientContext) async throws(ClientFailure)
}

extension ClientCommand {
    var usesBridge: Bool { true }
}

/// The surroundings of a command, besides its arguments.
struct ClientContext: Sendable {
    /// The configuration, which names broker and bridge.
    var configuration: Settings
    /// Prints results and errors.
    let printer: Printer
    /// The address of the bus with BlueZ.
    let busAddress: String
    /// Ctrl-C.
    let interruption: Interruption
    /// For log records of the libraries.
    let log: Logger
    /// The session that has looked for the bridge, for the first use of a session.
    var opened: OpenedSession?

    /// The topics of the configured bridge.
    var topics: BridgeTopics { BridgeTopics(configuration) }

    /// Connects to the broker, runs the body, and disconnects.
    @LoopActor
    func withSession<Result>(
        _ body: @LoopActor (BrokerSession) async throws(ClientFailure) -> Result
    ) async throws(ClientFailure) -> Result {
        let isOpen = opened?.session != nil
        let session = try opened?.take() ?? BrokerSession(configuration, log: log)
        interruption.onFire = { [weak session] in session?.interrupt() }
        do throws(ClientFailure) {
            if !isOpen { try await open(session) }
            let result = try await body(session)
            await session.close()
            return result
        } catch {
            await session.close()
            throw error
        }
    }

    /// Selects the only bridge that is online, if the configuration names none.
    @LoopActor
    func selectingBridge() async -> ClientContext {
        guard !configuration.isInstanceGiven else { return self }
        var context = self
        let session = BrokerSession(configuration, log: log)
        interruption.onFire = { [weak session] in session?.interrupt() }
        do throws(ClientFailure) {
            try await open(session)
            if let instance = try await session.findBridge() { context.configuration.instance = instance }
            context.opened = OpenedSession(session)
        } catch {
            await session.close()
            context.opened = OpenedSession(error)
        }
        return context
    }

    @LoopActor
    private func open(_ session: BrokerSession) async throws(ClientFailure) {
        let progress = Progress(printer)
        defer { progress.end() }
        progress.say("connecting to the broker")
        try await session.open()
    }

    /// Sends a request to the bridge and prints the result: with `--json` as the bridge published it (MQTT contract, section
    /// 4), otherwise the sentence and the note of the result.
    ///
    /// - Throws: the error of the result, or `noConnection`.
    @LoopActor
    func perform(
        _ request: ClientRequest, sentence: (JSONValue) -> String
    ) async throws(ClientFailure) {
        let progress = Progress(printer)
        let result = try await withSession { session throws(ClientFailure) in
            try await session.ask(request, progress)
        }
        printer.show(result, ([sentence(result)] + result.notes).map(DisplayText.escaped))
    }
}

/// A session that is open already, or could not be opened. It is used once.
@LoopActor
final class OpenedSession {
    /// The session; nil after its use, and without a connection.
    private(set) var session: BrokerSession?
    private var failure: ClientFailure?

    init(_ session: BrokerSession) {
        self.session = session
    }

    init(_ failure: ClientFailure) {
        self.failure = failure
    }

    /// Returns the session for its only use; nil later.
    ///
    /// - Throws: why there is none, once.
    func take() throws(ClientFailure) -> BrokerSession? {
        defer { (session, failure) = (nil, nil) }
        if let failure { throw failure }
        return session
    }
}

/// Runs a command with the options that all of them take.
struct ClientAction: CommandAction {
    /// The command with its arguments.
    let command: any ClientCommand
    /// The common options.
    let options: ClientOptions

    func run(in context: CommandContext) -> ExitCode {
        switch ConfigurationFile.load(path: options.config, environment: context.environment) {
        case .failure(let failure):
            if options.isJSON { OutputChannel.standardOutput.write(TerminalText.escapedJSON(failure.document.text)) }
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        case .success(let loaded):
            let client = clientContext(loaded.configuration, context)
            let command = command
            return LoopRun.exitCode {
                Self.listen(client)
                return await Self.perform(command, command.usesBridge ? await client.selectingBridge() : client)
            }
        }
    }

    private func clientContext(_ configuration: Settings, _ context: CommandContext) -> ClientContext {
        ClientContext(
            configuration: configuration,
            printer: Printer(
                isJSON: options.isJSON, style: TerminalStyle(options.color, environment: context.environment),
                hint: CommandHint(config: options.config, commands: context.commands())),
            busAddress: SystemBus.address(context.environment),
            interruption: Interruption(),
            log: Logger("client", to: StreamSink(level: .error)))
    }

    @LoopActor
    private static func listen(_ context: ClientContext) {
        do throws(SystemError) {
            try context.interruption.listen()
        } catch {
            context.printer.write(.standardError, error.description)
        }
    }

    /// Runs the command and prints its error.
    @LoopActor
    static func perform(_ command: any ClientCommand, _ context: ClientContext) async -> ExitCode {
        do throws(ClientFailure) {
            try await command.run(context)
            return .done
        } catch {
            context.printer.show(error)
            return error.exitCode
        }
    }
}

extension ClientAction {
    /// Creates the action of a command line.
    init(_ command: any ClientCommand, _ arguments: ParsedArguments) throws(CommandLineError) {
        self.init(command: command, options: try ClientOptions(arguments))
    }
}

extension Printer {
    /// Prints an error: on standard error, and with `--json` on standard output as well.
    func show(_ failure: ClientFailure) {
        let failure = completed(failure)
        if isJSON, !failure.isPrinted { write(failure.document) }
        failure.lines.forEach { write(.standardError, $0) }
    }

    /// Prints why a command goes on in another way, on standard error.
    func explain(_ failure: ClientFailure) {
        completed(failure).lines.forEach { write(.standardError, $0) }
    }

    private func completed(_ failure: ClientFailure) -> ClientFailure {
        var failure = failure
        failure.hint = failure.hint.map(hint.completed)
        return failure
    }
}

/// Texts and rules that several rows use.
enum RowText {
    /// Describes the operand `ID`.
    static let id = ["ID is the tag's level in topics; by default its serial."]
    /// Describes the operand `ID` of a command to several tags.
    static let ids =
        id + [
            "Several IDs have commas between them. ID can also be the name of a group of",
            "the configuration, or all for all tags of the bridge. The command is sent to",
            "all of them at once, and prints a line for each. It ends with 1 if one of",
            "them failed.",
        ]
    /// Describes the output of `--json` for a command to several tags.
    static let resultsJSON =
        resultJSON + [
            #"With several tags: {"status","results":[...]}; each result has the key tag."#
        ]
    /// Describes the output of `--json` for a command that is one request.
    static let resultJSON = ["The bridge's result as published on MQTT, or the error."]
}

extension ScalarRule where Value == String {
    /// A tag's ID: one level of a topic.
    static var topicLevel: ScalarRule {
        ScalarRule(allowed: "1 to \(TagID.longest) bytes without / + # and control characters") {
            text throws(Rejection) in
            guard let id = TagID(text) else { throw Rejection("is no id of a tag") }
            return id.text
        }
    }
}
