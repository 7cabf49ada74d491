import Bridge
import CommandLine
import Configuration
import EventLoop
import Glibc
import JSON
import Logging

/// The commands that ask the running bridge, or look at what it publishes.
struct ClientProgram {
    /// What the user wants.
    let request: ClientRequest
    /// How.
    let options: ClientOptions
    /// All variables of the process.
    let environment: [String: String]

    /// Runs the loop on the calling thread until the command is done.
    func run() -> ExitCode {
        switch ConfigurationFile.load(path: options.config, environment: environment) {
        case .failure(let failure):
            if options.isJSON { OutputChannel.standardOutput.write(TerminalText.escapedJSON(failure.document.text)) }
            failure.lines.forEach { OutputChannel.standardError.write($0) }
            return .wrongUsage
        case .success(let loaded):
            let context = context(loaded.configuration)
            let request = request
            return LoopRun.exitCode {
                Self.listen(context)
                return await Self.carryOut(request, context)
            }
        }
    }

    private func context(_ configuration: Settings) -> ClientContext {
        ClientContext(
            configuration: configuration,
            printer: Printer(
                isJSON: options.isJSON, isTerminal: isatty(OutputChannel.standardOutput.rawValue) == 1,
                config: options.config),
            busAddress: SystemBus.address(environment),
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

    /// Does what is wanted and prints what came of it.
    @LoopActor
    static func carryOut(_ request: ClientRequest, _ context: ClientContext) async -> ExitCode {
        do throws(ClientFailure) {
            try await serve(request, context)
            return .done
        } catch {
            context.printer.show(error)
            return error.exitCode
        }
    }

    @LoopActor
    private static func serve(_ request: ClientRequest, _ context: ClientContext) async throws(ClientFailure) {
        let topics = BridgeTopics(context.configuration)
        switch request {
        case .scan(let duration): try await ScanCommand(context: context, duration: duration).run()
        case .pair(let serial, let timeout):
            try await PairCommand(context: context, serial: serial, timeout: timeout).run()
        case .forget(let id): try await Errand.forget(id, topics).run(context)
        case .tags: try await TagsCommand(context: context).run()
        case .status: try await StatusCommand(context: context).run()
        case .monitor(let id, let isNewOnly):
            try await MonitorCommand(context: context, tag: id, isNewOnly: isNewOnly).run()
        case .clear: try await ClearCommand(context: context).run()
        case .led(let id, let wish): try await Errand.led(id, wish, topics).run(context)
        case .haptic(let id, let name): try await Errand.haptic(id, name, topics).run(context)
        }
    }
}
