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
    private let folder: ScratchFolder
    private let environment: [String: String]
    private let configuration: String

    static let instance = "attic"

    /// Starts all of them and waits until the bridge is online.
    ///
    /// - Parameters:
    ///   - tags: how many there are; their serials are 0001 and so on.
    ///   - options: further options of the simulator.
    ///   - settings: further lines of the configuration.
    /// - Throws: when one of them does not come up.
    init(tags: Int, options: [String] = [], settings: String = "") async throws {
        broker = try await PrivateBroker()
        let simulator = try Program(
            Program.buildFolder + "/jacquard-simulator", ["--tags", "\(tags)", "--json", "--quick"] + options)
        self.simulator = simulator
        try await until("the simulator is ready") { simulator.printed.contains("\nready\n") }
        let address = simulator.printed.split(separator: "\n")[0].dropFirst("DBUS_SYSTEM_BUS_ADDRESS=".count)
        environment = ["DBUS_SYSTEM_BUS_ADDRESS": String(address)]
        folder = try ScratchFolder()
        let list = (1...max(1, tags)).map { "  - serial: \(Self.serial($0))\n" }.joined()
        configuration = try folder.write(
            "config.yaml",
            "instance: \(Self.instance)\nmqtt:\n  port: \(broker.port)\nlog:\n  level: debug\ntags:\n\(list)\(settings)"
        )
        observer = try await Observer(port: broker.port)
        daemon = try Self.daemon(configuration, folder, environment)
        try await until("the bridge is online") { observer.latest("jacquard/bridge/attic/state") == "online" }
    }

    static func serial(_ number: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: 4 - text.count) + text
    }

    private static func daemon(
        _ configuration: String, _ folder: ScratchFolder, _ environment: [String: String]
    ) throws -> Program {
        try Program(
            Program.buildFolder + "/jacquard2mqtt", ["run", "--config", configuration, "--state", folder.path],
            environment: environment)
    }

    /// Starts the daemon again after it has ended.
    func restartDaemon() throws {
        daemon = try Self.daemon(configuration, folder, environment)
    }

    /// Ends the broker and starts another, which knows nothing, on the same port.
    func restartBroker() async throws {
        broker.daemon.signal(SIGTERM)
        try await until("the broker's end") { !broker.daemon.isRunning }
        broker = try await PrivateBroker(port: broker.port)
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

    /// Gives a tag a command and waits for its final result.
    func command(_ topic: String, _ payload: String, isRetained: Bool = false) async throws -> [String: Any] {
        let result = topic.replacingOccurrences(of: "/set", with: "/result")
            .replacingOccurrences(of: "/get", with: "/result")
        let before = finals(result).count
        try observer.publish(topic, payload, isRetained: isRetained)
        try await until("the result of \(topic)") { finals(result).count > before }
        return finals(result)[before]
    }

    /// The final results on a topic.
    func finals(_ topic: String) -> [[String: Any]] {
        observer.payloads(of: topic).map(Observer.object).filter { $0["final"] as? Bool == true }
    }

    /// What the simulator has said of one kind, such as `led`.
    func told(_ event: String) -> [[String: Any]] {
        simulator.printed.split(separator: "\n").map { Observer.object(String($0)) }
            .filter { $0["event"] as? String == event }
    }

    /// Ends everything.
    func end() async {
        await observer.stop()
        let programs = [daemon, simulator, broker.daemon]
        programs.forEach { $0.signal(SIGTERM) }
        // The loop goes on meanwhile, for the other tests' sake; what does not end is killed with its last owner.
        try? await until("their end") { programs.allSatisfy { !$0.isRunning } }
    }
}

/// Runs a test in a world of its own, and prints the daemon's log when the test fails.
func inWorld(
    tags: Int = 1, options: [String] = [], settings: String = "",
    _ body: @LoopActor @Sendable (World) async throws -> Void
) async throws {
    try await onLoop {
        let world = try await World(tags: tags, options: options, settings: settings)
        do {
            try await body(world)
        } catch {
            Issue.record("\(error)\n\(world.daemon.printed.suffix(4000))\n\(world.simulator.printed.suffix(2000))")
        }
        await world.end()
    }
}
