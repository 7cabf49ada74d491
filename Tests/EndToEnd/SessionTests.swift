import EventLoop
import Foundation
import Logging
import MQTT
import TestSupport
import Testing

@Suite("The session with the broker")
struct SessionTests {
    private static let gesture = "jacquard/tag/0001/gesture"

    @Test("uses MQTT 5, or 3.1.1 if configured", arguments: [("auto", 5), ("5", 5), ("3.1.1", 4)])
    func version(word: String, level: Int) async throws {
        try await inWorld(WorldPlan(mqtt: ["version: \(word)"])) { world in
            try await world.connected()
            try await until("the version") { world.observer.document(World.bridge + "/info")["mqtt"] is Int }
            #expect(world.observer.document(World.bridge + "/info")["mqtt"] as? Int == level)
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await world.simulate("gesture 0001 cover")
            try await until("a gesture") { world.observer.latest(Self.gesture) != nil }
        }
    }

    @Test("continues if another client uses the bridge's client id, and loses no gesture")
    func secondClient() async throws {
        try await inWorld { world in
            try await world.connected()
            world.observer.forget()
            let rival = MQTTClient(
                configuration: MQTTConfiguration(
                    host: "127.0.0.1", port: world.broker.port, clientIdentifier: "jacquard-attic"),
                log: Logger("rival", to: MemorySink()))
            var wasConnected = false
            rival.onEvent = { if case .connected = $0 { wasConnected = true } }
            rival.start()
            try await until("the bridge was pushed out") { wasConnected }
            try await world.simulate("gesture 0001 cover")
            await rival.stop()
            try await world.recovers(from: "second client with the bridge's name") {
                world.observer.latest(World.bridge + "/state") == "online"
                    && !world.observer.payloads(of: Self.gesture).isEmpty
            }
            try await until("everything is told again") { world.observer.latest("jacquard/tag/0001/info") != nil }
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            let numbers = world.observer.payloads(of: Self.gesture).map(Observer.object).compactMap {
                $0["seq"] as? Int
            }
            // Without an acknowledgement it comes twice: that is what QoS 1 means.
            #expect(Set(numbers) == [1])
            #expect(world.told("disconnected").isEmpty)
        }
    }

    @Test("starts after the password was added at the broker, without a restart of the bridge")
    func password() async throws {
        let folder = try ScratchFolder()
        let file = try await onLoop { try await folder.writePasswords(["bridge": "another"]) }
        let plan = WorldPlan(
            mqtt: ["username: bridge", "password: right"], broker: ["password_file \(file)"], isBridgeExpected: false)
        try await inWorld(plan) { world in
            try await until("the refusal is in the log") {
                world.daemon.printed.lowercased().contains("not authori")
                    || world.daemon.printed.lowercased().contains("bad_user")
            }
            #expect(world.daemon.isRunning)
            #expect(!world.daemon.printed.contains("right"))
            #expect(world.observer.latest(World.bridge + "/state") == nil)
            _ = try await folder.writePasswords(["bridge": "right"])
            world.broker.daemon.signal(SIGHUP)
            try await world.recovers(from: "wrong password, then right") {
                world.observer.latest(World.bridge + "/state") == "online"
            }
            try await world.connected()
        }
    }
}
