import EventLoop
import Glibc
import TestSupport
import Testing

@Suite("With a broker that supports MQTT 3.1.1 only, the bridge")
struct Version311Tests {
    /// How brokers refuse MQTT 5: NATS with a CONNACK of 3.1.1, others with one of MQTT 5, RabbitMQ without an answer.
    private static let refusals: [[UInt8]] = [[0x20, 0x02, 0x00, 0x01], [0x20, 0x03, 0x00, 0x84, 0x00], []]

    @Test("is online within five seconds of its start", arguments: refusals)
    func start(refusal: [UInt8]) async throws {
        try await inWorld(WorldPlan(isBehindProxy: true)) { world in
            try await world.connected()
            try await world.stopDaemon()
            world.proxy?.set(.refusesVersion5(refusal))
            let watch = Stopwatch()
            try world.restartDaemon()
            try await until("the bridge is online") { world.observer.latest(World.bridge + "/state") == "online" }
            #expect(watch.isWithin(.seconds(5)))
            try await until("the version") { world.observer.document(World.bridge + "/info")["mqtt"] as? Int == 4 }
            try await world.connected()
            try await world.isOfUse()
        }
    }
}
