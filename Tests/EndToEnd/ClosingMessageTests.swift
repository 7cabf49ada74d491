import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("A broker that closes the connection because of a message")
struct ClosingMessageTests {
    @Test("loses only that message, named in log and health")
    func tooLarge() async throws {
        // With MQTT 3.1.1 mosquitto cannot announce its limit. The discovery documents of bridge and tag are larger.
        let plan = WorldPlan(mqtt: ["version: 3.1.1"], broker: ["max_packet_size 2000"])
        try await inWorld(plan) { world in
            try await until("a problem for it", within: .seconds(60)) {
                world.observer.latest(World.bridge + "/health")?.contains("closes the connection") == true
            }
            try await world.recovers(from: "messages too large for the broker", within: .seconds(60)) {
                world.isConnected("0001") && world.observer.latest(World.bridge + "/state") == "online"
            }
            try await world.isOfUse()
            try await world.logs("message dropped: the broker closed two connections")
            let health = try await world.succeeds("\(World.bridge)/request/health")
            #expect(try #require(health["dropped"] as? Int) >= 1)
        }
    }
}
