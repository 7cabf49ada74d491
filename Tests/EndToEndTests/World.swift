import EventLoop
import Foundation
import MQTT
import TestSupport
import Testing

/// A broker, simulated tags behind a fake BlueZ, and the daemon as a process between them.
@LoopActor
final class World {
    let observer: Observer
    let simulator: Program
    private(set) var broker: PrivateBroker
    private(set) var daemon: Program
    /// Where the daemon's bus and configuration are.
    let environment: [String: String]
    let folder: ScratchFolder
    private let plan: WorldPlan

    nonisolated static let instance = "attic"
    /// What the bridge's own topics begin with.
    nonisolated static let bridge = "jacquard/bridge/attic"

    /// Starts all of them and waits until the bridge is online.
    ///
    /// - Throws: when one of them does not come up.
    init(_ plan: WorldPlan) async throws {
        self.plan = plan
        broker = try await PrivateBroker(options: plan.broker)
        let simulator = try Program(
            Program.buildFolder + "/jacquard-simulator",
            ["--tags", "\(plan.tags)", "--json", "--quick"] + plan.options)
        self.simulator = simulator
        try await until("the simulator is ready") { simulator.printed.contains("\nready\n") }
        let address = simulator.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
        folder = try ScratchFolder()
        let configuration = try folder.write("config.yaml", plan.configuration(port: broker.port))
        environment = [
            "DBUS_SYSTEM_BUS_ADDRESS": String(address), "JACQUARD2MQTT_CONFIG": configuration,
            "STATE_DIRECTORY": folder.path,
        ]
        observer = try await Observer(port: broker.port)
        daemon = try Self.daemon(environment)
        if plan.isBridgeExpected { try await ready() }
    }

    nonisolated static func serial(_ number: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: 4 - text.count) + text
    }

    private static func daemon(_ environment: [String: String]) throws -> Program {
        try Program(Program.buildFolder + "/jacquard2mqtt", ["run"], environment: environment)
    }

    /// Starts the daemon again after it has ended.
    func restartDaemon(with variables: [String: String] = [:]) throws {
        daemon = try Self.daemon(environment.merging(variables) { $1 })
    }

    /// Ends the daemon as a service manager does, and starts it again with further variables of the environment.
    func stopAndStartDaemon(with variables: [String: String] = [:]) async throws {
        daemon.signal(SIGTERM)
        try await until("the daemon's end") { !daemon.isRunning }
        try await until("goodbye") { observer.latest(Self.bridge + "/state") == "offline" }
        observer.forget()
        try restartDaemon(with: variables)
        try await ready()
    }

    private func ready() async throws {
        try await until("the bridge is online, and so is Bluetooth") {
            observer.latest(Self.bridge + "/state") == "online"
                && observer.latest(Self.bridge + "/adapter")?.contains("powered_on") == true
        }
    }

    /// Ends the broker.
    func stopBroker() async throws {
        broker.daemon.signal(SIGTERM)
        try await until("the broker's end") { !broker.daemon.isRunning }
    }

    /// Starts another broker, which knows nothing, on the port of one that has ended. The daemon waits until the observer
    /// is there, who would miss something otherwise.
    func startBroker() async throws {
        daemon.signal(SIGSTOP)
        defer { daemon.signal(SIGCONT) }
        broker = try await PrivateBroker(options: plan.broker, port: broker.port)
        try await until("the observer is back") { observer.isConnected }
    }

    /// Whether a tag is connected, as the broker has it.
    func isConnected(_ tag: String) -> Bool {
        observer.document("jacquard/tag/\(tag)/connection")["state"] as? String == "connected"
            && observer.latest("jacquard/tag/\(tag)/availability") == "online"
    }

    /// Waits until tags are connected and have told their gear.
    func connected(_ numbers: ClosedRange<Int> = 1...1) async throws {
        try await until("tags \(numbers) are connected") {
            numbers.map(Self.serial).allSatisfy {
                isConnected($0) && observer.document("jacquard/tag/\($0)/gear")["firmware"] is String
            }
        }
    }

    /// Gives the simulator a command, and waits until it has been carried out.
    func simulate(_ line: String) async throws {
        let answers = told("ok", "error").count
        simulator.type(line)
        try await until("the simulator's answer to \(line)") { told("ok", "error").count > answers }
        let answer = told("ok", "error")[answers]
        #expect(answer["event"] as? String == "ok", "\(line): \(answer)")
    }

    /// What the simulator has said of some kinds, such as `led`.
    func told(_ events: String...) -> [[String: Any]] {
        simulator.printed.split(separator: "\n").filter { line in
            events.contains { line.contains("\"event\":\"\($0)\"") }
        }.map { Observer.object(String($0)) }
    }

    /// Ends everything.
    func end() async {
        broker.daemon.signal(SIGCONT)
        daemon.signal(SIGCONT)
        await observer.stop()
        let programs = [daemon, simulator, broker.daemon]
        programs.forEach { $0.signal(SIGTERM) }
        // The loop goes on meanwhile, for the other tests' sake; what does not end is killed with its last owner.
        try? await until("their end") { programs.allSatisfy { !$0.isRunning } }
    }
}
