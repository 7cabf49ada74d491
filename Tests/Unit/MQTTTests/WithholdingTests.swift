import EventLoop
import Glibc
import MQTTTypes
import TestSupport
import Testing

@testable import MQTT

@Suite("Withheld acknowledgements")
struct WithholdingTests {
    /// Subscribes, and lets another client publish so many messages as fast as it can.
    @LoopActor
    private static func flood(_ client: TestClient, _ broker: PrivateBroker, _ count: Int) async throws -> TestClient {
        try await client.subscribe("command")
        let sender = TestClient(.test(broker.port, "sender"))
        try await sender.connected()
        for ticket in 1...UInt64(count) {
            try sender.client.publish(MQTTMessage(topic: "command", payload: [], qos: .atLeastOnce), ticket: ticket)
        }
        return sender
    }

    @LoopActor
    private static func commands(_ client: TestClient) -> Int {
        client.messages.count { $0.topic == "command" }
    }

    @Test("are those of ten messages at most, which the CONNECT says")
    func receiveMaximum() async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .send(Packet.accepted5) }
            let client = TestClient(.test(server.port))
            try await client.connected()
            // The property 0x21 and its number of 16 bits.
            let property: [UInt8] = [0x21, 0x00, 0x0A]
            let connect = try #require(server.received.first)
            #expect(connect.indices.contains { connect[$0...].starts(with: property) })
            await client.client.stop()
        }
    }

    @Test("are sent with each outgoing message, so that a flood of commands ends")
    func brokerWaits() async throws {
        try await withClient { client, broker in
            let result = MQTTMessage(topic: "result", payload: [], qos: .atLeastOnce)
            client.react = { event in
                guard case .acknowledged(1000, _) = event, Self.commands(client) < 300 else { return }
                try? client.client.publish(result, ticket: 1000)
            }
            client.client.withholdsAcknowledgements = true
            let sender = try await Self.flood(client, broker, 300)
            try client.client.publish(result, ticket: 1000)
            try await until("all of them") { Self.commands(client) == 300 }
            #expect(client.errors.isEmpty)
            await sender.client.stop()
        }
    }

    @Test("wait while the broker does not answer, but do not hold up the probe of a silent connection")
    func frozen() async throws {
        try await onLoop {
            // Accepts, and answers a message with twelve messages of QoS 1, but not with its acknowledgement.
            let commands = (1...12).flatMap { [0x32, 0x06, 0x00, 0x01, 0x61, 0x00, $0, 0x00] as [UInt8] }
            let server = try ScriptedServer { bytes in
                switch bytes.first {
                case 0x10: .send(Packet.accepted5)
                case 0x32: .send(commands)
                default: .nothing
                }
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.keepAlive = .seconds(5)
            let client = TestClient(configuration)
            try await client.connected()
            client.client.withholdsAcknowledgements = true
            try client.client.publish(MQTTMessage(topic: "b", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("the commands") { client.messages.count == 12 }
            #expect(Self.acknowledgements(server) == 0)
            // They leave with the probe of the silent connection.
            try await until("the probe", within: .seconds(20)) { server.received.last?.suffix(2) == [0xC0, 0x00] }
            #expect(Self.acknowledgements(server) == 12)
            await client.client.stop(within: .zero)
        }
    }

    @Test("are not delayed while nothing is in flight, and are sent as soon as the delay is over")
    func nothingInFlight() async throws {
        try await withClient { client, broker in
            client.client.withholdsAcknowledgements = true
            let sender = try await Self.flood(client, broker, 200)
            try await until("all of them") { Self.commands(client) == 200 }
            await sender.client.stop()
            #expect(client.client.withholdsAcknowledgements)
            await client.client.stop()
            #expect(!client.client.withholdsAcknowledgements, "without a connection, nothing waits")
        }
    }

    /// How many PUBACKs have come: the type 0x40 with a length of 2.
    @LoopActor
    private static func acknowledgements(_ server: ScriptedServer) -> Int {
        let bytes = server.received.joined()
        var (count, rest) = (0, Array(bytes)[...])
        while rest.count >= 2 {
            if rest.first == 0x40 { count += 1 }
            rest = rest.dropFirst(2 + Int(rest[rest.startIndex + 1]))
        }
        return count
    }
}
