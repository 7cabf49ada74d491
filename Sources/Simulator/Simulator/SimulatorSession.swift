import DBus
import ESPHome
import EventLoop
import FakeBlueZ
import FakeProxy
import Glibc
import JacquardProtocol
import Logging
import TagFirmware
import Text

/// A run of the simulator on a bus, from the first line it prints to its end.
@LoopActor
final class SimulatorSession {
    private let options: SimulatorOptions
    private let output: SimulatorOutput
    private let input = LineReader()
    private var signals: [SignalSource] = []
    private var player: ScenarioPlayer?
    private var end: CheckedContinuation<String?, Never>?

    init(_ options: SimulatorOptions) {
        self.options = options
        output = SimulatorOutput(isJSON: options.isJSON)
    }

    /// Runs until a request to stop.
    ///
    /// - Returns: why it failed; nil after a request to stop.
    func run() async -> String? {
        signals = [SIGTERM, SIGINT].compactMap { try? SignalSource($0) { [unowned self] in finish(nil) } }
        do {
            let scenario = try options.scenario.map {
                try Scenario(String(decoding: SmallFile.bytes(of: $0, atMost: 1 << 20), as: UTF8.self))
            }
            let tags = try TagFactory.tags(options)
            let own = options.bus == nil ? try await BusDaemon.start() : nil
            defer { own?.stop() }
            return try await simulate(tags, on: options.bus ?? own?.address ?? "", scenario)
        } catch {
            return "\(error)"
        }
    }

    private func simulate(
        _ tags: [SimulatedTag], on bus: String, _ scenario: Scenario?
    ) async throws -> String? {
        var blueZOptions = options.isQuick ? BlueZOptions.quick : BlueZOptions()
        blueZOptions.allowsAcquireNotify = options.allowsAcquire
        blueZOptions.allowsAcquireWrite = options.allowsAcquire
        blueZOptions.reportsReasons = options.reportsReasons
        let recordedMTU = tags.first?.firmware.replay?.mtu.map { UInt16(clamping: $0) }
        blueZOptions.mtu = options.mtu ?? recordedMTU ?? blueZOptions.mtu
        let log = Logger("simulator", to: StreamSink(level: .warning))
        let blueZ = BlueZService(
            bus: bus, peripherals: tags, adapters: options.adapters - (options.otherBus == nil ? 0 : 1),
            options: blueZOptions, log: log)
        blueZOptions.firstAdapter = options.adapters - 1
        let other = options.otherBus.map {
            BlueZService(bus: $0, peripherals: tags, options: blueZOptions, log: log)
        }
        let proxy = try proxy(tags, log)
        defer { proxy?.stop() }
        let simulation = Simulation(tags: tags, blueZ: blueZ, proxy: proxy)
        for tag in tags { tag.onEvent = { [output] in output.event($0) } }
        other?.onBusLost = { [weak self] in self?.finish("the other bus has gone") }
        blueZ.onBusLost = { [weak self] in self?.finish("the bus has gone") }
        simulation.onFailure = { [weak self] error in self?.finish("\(error)") }
        try await blueZ.start()
        try await other?.start()
        output.plain("DBUS_SYSTEM_BUS_ADDRESS=\(bus)")
        output.plain("ready")
        if let interval = options.gesturesEvery { simulation.playGestures(every: interval) }
        player = scenario.map { ScenarioPlayer($0) { [weak self] line in self?.execute(line, simulation) } }
        EventLoop.shared.atEndOfTurn { [weak self] in self?.player?.play() }
        let reason = await commands(for: simulation)
        blueZ.crash()
        other?.crash()
        return reason
    }

    /// Starts the fake proxy; nil if none is requested.
    private func proxy(_ tags: [SimulatedTag], _ log: Logger) throws -> ProxyServer? {
        guard let port = options.proxyPort else { return nil }
        var proxyOptions = options.isQuick ? ProxyOptions.quick : ProxyOptions()
        proxyOptions.adapterNumber = options.adapters
        if let mtu = options.mtu { proxyOptions.mtu = mtu }
        if let file = options.proxyKeyFile {
            let text = String(decoding: try SmallFile.bytes(of: file, atMost: 1024), as: UTF8.self)
            guard let key = NoiseKey(base64: text) else {
                throw CommandError("\(file) has no key of 32 bytes in base64")
            }
            proxyOptions.key = key
        }
        let proxy = ProxyServer(tags, options: proxyOptions, log: log)
        try proxy.start(port: port)
        return proxy
    }

    private func commands(for simulation: Simulation) async -> String? {
        await withCheckedContinuation { continuation in
            end = continuation
            input.onLine = { [weak self] in self?.execute($0, simulation) }
            input.onOverlongLine = { [weak self] in
                self?.output.refused("", CommandError("a line has more than \(LineReader.limit) bytes"))
            }
            // A pipe or a file that ends says nothing; a person who types Ctrl-D wants to leave.
            let isTerminal = isatty(STDIN_FILENO) == 1
            input.onEnd = { [weak self] in if isTerminal { self?.finish(nil) } }
            input.start()
        }
    }

    private func execute(_ line: String, _ simulation: Simulation) {
        guard line.contains(where: { !$0.isWhitespace }) else { return }
        do {
            let command = try SimulatorCommand.parse(line)
            try simulation.execute(command)
            if command == .list { output.list(simulation.tags) }
            if command == .help { output.help() }
            output.done(line)
            if command == .quit { finish(nil) }
        } catch {
            output.refused(line, error)
        }
    }

    private func finish(_ reason: String?) {
        end?.resume(returning: reason)
        end = nil
    }
}
