import EventLoop
import Foundation
import Glibc
import TestSupport

/// The programs of the soak: a broker, the simulator, and the daemon between them.
@LoopActor
final class Stage {
    /// Takes each line of the simulator.
    var onSimulatorLine: ((SimulatorLine) -> Void)?
    /// The daemon that was started last.
    private(set) var daemon: ChildProcess?
    private(set) var broker: PrivateBroker
    private(set) var simulator: ChildProcess?
    /// The file that the daemon logs to.
    let log: String

    private let options: SoakOptions
    private let folder: ScratchFolder
    /// The address of the fake BlueZ.
    private(set) var busAddress: String?
    private var isReady = false

    static let instance = "attic"

    /// Starts the broker and the simulator.
    init(_ options: SoakOptions) async throws {
        self.options = options
        folder = try ScratchFolder()
        log = folder.path + "/daemon.log"
        broker = try await PrivateBroker()
        simulator = try ChildProcess(
            options.programs + "/jacquard-simulator", ["--tags", "\(options.tags)", "--json", "--quick"]
        ) { [unowned self] in simulatorSaid($0) }
        try await until("the simulator is ready") { isReady }
    }

    /// Starts the daemon, with the state that the one before has left.
    ///
    /// - Parameter keepAliveSeconds: as a rule the shortest, so that a frozen broker is given up within the soak.
    /// - Throws: when there is no such program, or no room for its configuration.
    func startDaemon(keepAliveSeconds: Int = 5) throws {
        let configuration = try writeConfiguration(keepAliveSeconds: keepAliveSeconds)
        daemon = try ChildProcess(
            options.programs + "/jacquard2mqtt", ["run", "--config", configuration, "--state", folder.path],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS=\(busAddress ?? "")"], log: log)
    }

    private func writeConfiguration(keepAliveSeconds: Int) throws -> String {
        let list = options.serials.map { "  - serial: \"\($0)\"\n" }.joined()
        return try folder.write(
            "config.yaml",
            """
            instance: \(Self.instance)
            mqtt:
              port: \(broker.port)
              keepalive_s: \(keepAliveSeconds)
            log:
              level: \(options.logLevel)
            record:
              hours: 24
            tags:
            \(list)
            """)
    }

    /// Ends the daemon, which writes its record.
    func endDaemon() async throws {
        daemon?.signal(SIGTERM)
        try await until("the daemon's end") { daemon?.isRunning != true }
    }

    /// Starts `replay` of what the daemon has recorded, without the pauses.
    func startReplay(to base: String, onLine: @escaping (String) -> Void) throws -> ChildProcess {
        try ChildProcess(
            options.programs + "/jacquard2mqtt",
            [
                "replay-events", folder.path + "/events.ring", "--to", base, "--max-pause", "0", "--config",
                folder.path + "/config.yaml",
            ], onLine: onLine)
    }

    /// Ends the broker. What it holds is gone.
    func endBroker() async throws {
        broker.daemon.signal(SIGTERM)
        try await until("the broker's end") { !broker.daemon.isRunning }
    }

    /// Starts a broker that knows nothing, on the same port.
    func startBroker() async throws {
        broker = try await PrivateBroker(at: broker.place)
    }

    /// The end of the daemon's log.
    func logTail(_ characters: Int) -> String {
        guard let file = fopen(log, "r") else { return "" }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        fseek(file, -min(characters, ftell(file)), SEEK_END)
        var bytes = [UInt8](repeating: 0, count: characters)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How many events were not recorded, as the daemon has logged it.
    var unrecorded: Int {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        var count = 0
        for line in text.split(separator: "\n") where line.contains("events were not recorded") {
            let number = line.split(separator: "count=").last?.prefix(while: \.isNumber) ?? ""
            count += Int(number) ?? 0
        }
        return count
    }

    /// Ends everything.
    func end() async {
        daemon?.signal(SIGTERM)
        simulator?.signal(SIGTERM)
        broker.daemon.signal(SIGCONT)
        try? await until("the daemon's end") { daemon?.isRunning != true && simulator?.isRunning != true }
        broker.daemon.signal(SIGTERM)
    }

    private func simulatorSaid(_ line: String) {
        if let line = decoded(SimulatorLine.self, line.utf8) { onSimulatorLine?(line) }
        let prefix = "DBUS_SYSTEM_BUS_ADDRESS="
        if line.hasPrefix(prefix) { busAddress = String(line.dropFirst(prefix.count)) }
        if line == "ready" { isReady = true }
    }
}
