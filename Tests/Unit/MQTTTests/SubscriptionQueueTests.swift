import EventLoop
import Glibc
import Logging
import MQTTTypes
import TestSupport
import Testing
import Time

@testable import MQTT

@Suite("Subscriptions in packets")
struct SubscriptionQueueTests {
    private static func filters(_ count: Int) throws -> [(MQTTTopicFilter, MQTTQoS)] {
        try (0..<count).map { (try MQTTTopicFilter("a/\($0)"), .atLeastOnce) }
    }

    /// SUBACK of MQTT 5 for a SUBSCRIBE whose identifier is in bytes 2 and 3: everything is granted.
    private static func answer(to packet: [UInt8], _ count: Int) -> [UInt8] {
        [0x90, UInt8(3 + count), packet[2], packet[3], 0x00] + Array(repeating: 1, count: count)
    }

    /// The packets in received bytes, all shorter than 128 bytes.
    private static func packets(_ bytes: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 2 {
            let count = 2 + Int(rest[rest.startIndex + 1])
            packets.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return packets
    }

    /// The number of filters of a SUBSCRIBE of MQTT 5 without properties: each has two bytes of length and one of options.
    private static func filterCount(_ packet: [UInt8]) -> Int {
        var (index, count) = (5, 0)
        while index < packet.count {
            index += 3 + Int(packet[index]) << 8 + Int(packet[index + 1])
            count += 1
        }
        return count
    }

    @Test("a packet has at most eight filters, the next one follows the answer, and messages follow the last packet")
    func packets() async throws {
        try await onLoop {
            var (seen, maySubscribe) = ([[UInt8]](), true)
            let server = try ScriptedServer { bytes in
                guard Packet.level(of: bytes) == nil else { return .send(Packet.accepted5) }
                let packets = Self.packets(bytes)
                // Not the DISCONNECT of the connection that discards an earlier session.
                seen += packets.filter { $0[0] != 0xE0 }
                let answers = packets.filter { $0[0] == 0x82 && maySubscribe }
                    .flatMap { Self.answer(to: $0, Self.filterCount($0)) }
                return .send(answers)
            }
            let client = TestClient(.test(server.port))
            try await client.connected()
            maySubscribe = false
            client.client.subscribe(to: try Self.filters(19))
            try client.client.publish(MQTTMessage(topic: "m", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("the first packet") { seen.count == 1 }
            // A turn of the loop later, nothing has followed: the broker owes its answer.
            #expect(client.client.connection?.subscriptions.holdsMessages == true)
            #expect(seen.map(Self.filterCount) == [8])
            maySubscribe = true
            client.client.connection?.subscriptionAnswered()
            try await until("all of them") { seen.count == 4 }
            #expect(seen.prefix(3).map(Self.filterCount) == [8, 8, 3])
            #expect(seen[3][0] == 0x32)
            await client.client.stop(within: .zero)
        }
    }

    @Test("names a subscription that ends the connection, one filter at a time, also beside messages")
    func ending() async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                guard Packet.level(of: bytes) == nil else { return .send(Packet.accepted5) }
                let packets = Self.packets(bytes)
                guard !packets.contains(where: { $0[0] == 0x82 && $0.firstRange(of: Array("a/1".utf8)) != nil }) else {
                    return .close
                }
                var answers: [UInt8] = []
                for packet in packets where packet[0] == 0x82 {
                    answers += Self.answer(to: packet, Self.filterCount(packet))
                }
                for packet in packets where packet[0] == 0x32 { answers += [0x40, 0x02, packet[5], packet[6]] }
                return .send(answers)
            }
            let client = TestClient(.test(server.port))
            let filters = try Self.filters(3)
            client.react = {
                guard case .connected = $0 else { return }
                client.client.subscribe(to: filters)
                try? client.client.publish(MQTTMessage(topic: "m", payload: [], qos: .atLeastOnce), ticket: 1)
            }
            try await until("the cause") { client.errors.contains { $0.code == .subscriptionEndsConnection } }
            let error = try #require(client.errors.first { $0.code == .subscriptionEndsConnection })
            #expect(error.text.contains("the subscription to a/1 ("))
            #expect(!error.mayBeCausedByMessage)
            #expect(client.warnings.contains { "\($0.metadata)".contains("subscription to a/1") })
            await client.client.stop(within: .zero)
        }
    }

    @Test("a filter that was not sent yet is not subscribed after its end")
    func removed() throws {
        var queue = SubscriptionQueue(isCareful: true)
        queue.append(try Self.filters(3).map(\.0), .atLeastOnce)
        #expect(queue.next()?.filters.map(\.description) == ["a/0"])
        #expect(queue.next() == nil)
        queue.remove(try MQTTTopicFilter("a/1"))
        queue.hold(MQTTMessage(topic: "m", payload: []), 1)
        #expect(queue.takeMessages().isEmpty)
        queue.answered()
        #expect(queue.next()?.filters.map(\.description) == ["a/2"])
        #expect(queue.takeMessages().isEmpty)
        queue.answered()
        #expect(queue.takeMessages().map(\.ticket) == [1])
        #expect(!queue.holdsMessages)
    }

    @Test("messages of a broker that does not answer wait for the connect deadline only")
    func silence() async throws {
        try await onLoop {
            let server = try ScriptedServer { Packet.level(of: $0) == nil ? .nothing : .send(Packet.accepted5) }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.connectDeadline = .milliseconds(300)
            let client = TestClient(configuration)
            try await client.connected()
            client.client.subscribe(to: try Self.filters(9))
            try client.client.publish(MQTTMessage(topic: "m", payload: [], qos: .atLeastOnce), ticket: 1)
            try await until("the message") {
                server.received.contains { Self.packets($0).contains { $0.first == 0x32 } }
            }
            await client.client.stop(within: .zero)
        }
    }
}
