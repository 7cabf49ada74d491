import EventLoop
import Foundation
import TestSupport
import Testing

/// A broker, simulated tags behind a fake BlueZ, and the daemon as a process between them.
@LoopActor
final class World {
    let observer: Observer
    private(set) var simulator: Program
    /// Between the daemon and the broker, where the plan wants one.
    let proxy: BrokerProxy?
    private(set) var broker: PrivateBroker
    /// The nodes of the broker beside the first one.
    let otherNodes: [PrivateBroker]
    private(set) var daemon: Program
    /// The daemon's bus and configuration.
    let environment: [String: String]
    let folder: ScratchFolder
    private let plan: WorldPlan

    nonisolated static let instance = "attic"
    /// The prefix of the bridge's own topics.
    nonisolated static let bridge = "jacquard/bridge/attic"

    /// Starts all of them and waits until the bridge is online.
    ///
    /// - Throws: when one of them does not come up.
    init(_ plan: WorldPlan) async throws {
        self.plan = plan
        broker = try await PrivateBroker(options: plan.broker)
        var others: [PrivateBroker] = []
        for _ in 1..<max(1, plan.nodes) { others.append(try await PrivateBroker(options: plan.broker)) }
        otherNodes = others
        proxy = plan.isBehindProxy ? try BrokerProxy(to: broker.port) : nil
        let simulator = try await Self.simulator(plan)
        self.simulator = simulator
        let address = simulator.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
        folder = try ScratchFolder()
        let configuration = try folder.write(
            "config.yaml", plan.configuration(ports: [proxy?.port ?? broker.port] + others.map(\.port)))
        environment = [
            "DBUS_SYSTEM_BUS_ADDRESS": String(address), "JACQUARD2MQTT_CONFIG": configuration,
            "STATE_DIRECTORY": folder.path,
        ]
        observer = try await Observer(port: broker.port, filters: plan.observed)
        daemon = try Self.daemon(environment, plan.runner)
        guard plan.isBridgeExpected else { return }
        do {
            try await ready()
        } catch {
            await end()
            throw Silence(error: error, log: daemon.printed)
        }
    }

    nonisolated static func serial(_ number: Int) -> String { simulatedSerial(number) }

    private static func daemon(_ environment: [String: String], _ runner: [String]) throws -> Program {
        let words = runner + [Program.buildFolder + "/jacquard2mqtt", "run"]
        return try Program(words[0], Array(words.dropFirst()), environment: environment)
    }

    private static func simulator(_ plan: WorldPlan) async throws -> Program {
        let simulator = try Program(
            Program.buildFolder + "/jacquard-simulator",
            ["--tags", "\(plan.tags)", "--json", "--quick"] + plan.options)
        try await until("the simulator is ready") { simulator.printed.contains("\nready\n") }
        return simulator
    }

    /// Starts the simulator again after it has ended with the bus that the plan's options name.
    func restartSimulator() async throws {
        simulator = try await Self.simulator(plan)
    }

    /// Starts the daemon again after it has ended.
    func restartDaemon(with variables: [String: String] = [:]) throws {
        daemon = try Self.daemon(environment.merging(variables) { $1 }, plan.runner)
    }

    /// Ends the daemon as a service manager does.
    func stopDaemon() async throws {
        daemon.signal(SIGTERM)
        try await until("the daemon's end") { !daemon.isRunning }
        try await until("goodbye") { observer.latest(Self.bridge + "/state") == "offline" }
        observer.forget()
    }

    /// Ends the daemon as a service manager does, and starts it again with further variables of the environment.
    func stopAndStartDaemon(with variables: [String: String] = [:]) async throws {
        try await stopDaemon()
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
        try await until("the broker's end") { !broker.daemon.isRunning && !observer.isSubscribed }
    }

    /// Starts another broker, which knows nothing, on the port of one that has ended. The daemon waits until the observer
    /// is there, who would miss something otherwise; `prepare` is done before it goes on.
    func startBroker(_ prepare: (Program) -> Void = { _ in }) async throws {
        daemon.signal(SIGSTOP)
        defer { daemon.signal(SIGCONT) }
        broker = try await PrivateBroker(options: plan.broker, at: broker.place)
        try await until("the observer is back") { observer.isSubscribed }
        prepare(daemon)
    }

    /// Whether a tag is connected, as the broker has it.
    func isConnected(_ tag: String) -> Bool {
        observer.document("jacquard/tag/\(tag)/connection")["state"] as? String == "connected"
            && observer.latest("jacquard/tag/\(tag)/availability") == "online"
    }

    /// Waits until tags are connected and have reported their gear.
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

    /// The simulator's events of some kinds, such as `led`.
    func told(_ events: String...) -> [[String: Any]] {
        simulator.printed.split(separator: "\n").filter { line in
            events.contains { line.contains("\"event\":\"\($0)\"") }
        }.map { Observer.object(String($0)) }
    }

    /// Ends everything.
    func end() async {
        broker.daemon.signal(SIGCONT)
        daemon.signal(SIGCONT)
        simulator.signal(SIGCONT)
        proxy?.stop()
        await observer.stop()
        // First the daemon: without a broker, it would try to reach one for a while. The loop goes on meanwhile, for the other
        // tests' sake; what does not end is killed with its last owner.
        for programs in [[daemon], [simulator, broker.daemon]] {
            programs.forEach { $0.signal(SIGTERM) }
            try? await until("their end") { programs.allSatisfy { !$0.isRunning } }
        }
    }
}

/// The bridge has not come up.
private struct Silence: Error, CustomStringConvertible {
    let error: any Error
    let log: String

    var description: String { "\(error)\n\(log.suffix(4000))" }
}
