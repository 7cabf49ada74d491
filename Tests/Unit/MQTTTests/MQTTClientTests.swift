import EventLoop
import Glibc
import Logging
import MQTTTypes
import Synchronization
import TestSupport
import Testing

@testable import MQTT

@Suite("Client")
struct MQTTClientTests {
    @Test("uses MQTT 5 with a broker that supports it")
    func connects() async throws {
        try await withClient { client, _ in
            #expect(client.events == [.connected(MQTTSession(version: .v5, isSessionPresent: false))])
            #expect(client.client.isConnected)
        }
    }

    @Test(
        "uses the configured version",
        arguments: [(.v5, .v5), (.v311, .v311)] as [(MQTTConfiguration.Version, MQTTVersion)])
    func version(wanted: MQTTConfiguration.Version, spoken: MQTTVersion) async throws {
        // No connection lasts until its time limit, not even the one that only discards an old session.
        try await withClient({ ($0.version, $0.connectDeadline) = (wanted, .seconds(3_600)) }) { client, _ in
            #expect(client.sessions.map(\.version) == [spoken])
        }
    }

    @Test(
        "reports tickets in the order of publishing",
        arguments: [MQTTQoS.atMostOnce, .atLeastOnce], [MQTTConfiguration.Version.v5, .v311])
    func tickets(qos: MQTTQoS, version: MQTTConfiguration.Version) async throws {
        try await withClient({ $0.version = version }) { client, _ in
            for ticket in 1...100 as ClosedRange<UInt64> {
                try client.client.publish(MQTTMessage(topic: "a", payload: [1], qos: qos), ticket: ticket)
            }
            #expect(client.acknowledged.isEmpty)
            try await until("the answers") { client.acknowledged.count == 100 }
            #expect(client.acknowledged == Array(1...100))
        }
    }

    @Test("no child process inherits a descriptor of the connection")
    func closeOnExec() async throws {
        try await withClient { client, broker in
            let instance = try #require(client.client.connection?.instance)
            let descriptors = (0..<1024).filter { Self.peerPort($0) == broker.port }
            #expect(descriptors.contains(instance.descriptor))
            // The library's own one, and that of the watch.
            #expect(descriptors.count >= 2)
            #expect(descriptors.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 }, "\(descriptors)")
        }
    }

    @Test("the socket sends a packet without waiting for the acknowledgement of the one before")
    func noDelay() async throws {
        try await withClient { client, _ in
            let instance = try #require(client.client.connection?.instance)
            var isOn: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            #expect(getsockopt(instance.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, &length) == 0)
            #expect(isOn == 1)
        }
    }

    @Test("at most a thousand messages wait for the answer of a broker that sets no limit; others are sent meanwhile")
    func inFlight() async throws {
        try await onLoop {
            let server = try ScriptedServer { $0.first == 0x10 ? .send(Packet.accepted5) : .nothing }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.sessionExpiry = .zero
            let client = TestClient(configuration)
            try await client.connected()
            for ticket in 1...1_100 as ClosedRange<UInt64> {
                try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: ticket)
            }
            try client.client.publish(MQTTMessage(topic: "b", payload: [], qos: .atMostOnce), ticket: 0)
            let last: [UInt8] = [0x30, 0x04, 0x00, 0x01, UInt8(ascii: "b"), 0x00]
            try await until("the message without an answer") { server.received.last?.suffix(last.count) == last[...] }
            // Each packet has a topic of three bytes, an identifier of two, and no properties.
            let bytes = server.received.dropFirst().joined()
            #expect(bytes.count == 1_000 * 8 + last.count)
            await client.client.stop(within: .zero)
        }
    }

    /// The port to which a descriptor is connected; nil when it is no such socket.
    private static func peerPort(_ descriptor: CInt) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return status == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }

    @Test("publishes from a handler, any number of times")
    func fromHandler() async throws {
        try await withClient { client, _ in
            client.react = { event in
                guard case .acknowledged(let ticket, _) = event, ticket < 50 else { return }
                let next = MQTTMessage(
                    topic: "a", payload: [], qos: ticket.isMultiple(of: 2) ? .atMostOnce : .atLeastOnce)
                try? client.client.publish(next, ticket: ticket + 1)
            }
            try client.client.publish(MQTTMessage(topic: "a", payload: []), ticket: 1)
            try await until("the last answer") { client.acknowledged.count == 50 }
            #expect(client.acknowledged == Array(1...50))
        }
    }

    @Test("receives what it has subscribed to, with the properties of MQTT 5")
    func receives() async throws {
        try await withClient { client, broker in
            try await client.subscribe("command/+")
            let sender = TestClient(.test(broker.port, "sender"))
            try await sender.connected()
            let message = MQTTMessage(
                topic: "command/led", payload: Array("flash".utf8), qos: .atLeastOnce, messageExpirySeconds: 60,
                responseTopic: "answer/here", correlationData: [0, 255, 7])
            try sender.client.publish(message, ticket: 1)
            try await until("the message") { client.messages.contains { $0.topic == "command/led" } }
            #expect(client.messages.last == message)
        }
    }

    @Test(
        "sends a user property with its name and its value, and none with 3.1.1",
        arguments: [
            (.v5, [0x30, 11, 0, 1, 0x61, 7, 0x26, 0, 1, 0x6E, 0, 1, 0x76]), (.v311, [0x30, 3, 0, 1, 0x61]),
        ] as [(MQTTConfiguration.Version, [UInt8])])
    func userProperty(version: MQTTConfiguration.Version, packet: [UInt8]) async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                Packet.level(of: bytes).map { .send($0 == 5 ? Packet.accepted5 : Packet.accepted311) } ?? .nothing
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.version = version
            configuration.sessionExpiry = .zero
            let client = TestClient(configuration)
            try await client.connected()
            var message = MQTTMessage(topic: "a", payload: [])
            message.userProperty = MQTTUserProperty("n", "v")
            try client.client.publish(message, ticket: 1)
            try await until("the message") { server.received.last?.first == 0x30 }
            #expect(server.received.last == packet)
            await client.client.stop()
        }
    }

    @Test("receives nothing after it has unsubscribed")
    func unsubscribes() async throws {
        try await withClient { client, _ in
            try await client.subscribe("a")
            try await client.subscribe("b")
            client.client.unsubscribe(from: try MQTTTopicFilter("a"))
            try client.client.publish(MQTTMessage(topic: "a", payload: [1], qos: .atLeastOnce), ticket: 1)
            try client.client.publish(MQTTMessage(topic: "b", payload: [2], qos: .atLeastOnce), ticket: 2)
            try await until("the other message") { client.messages.contains { $0.topic == "b" } }
            #expect(!client.messages.contains { $0.topic == "a" })
        }
    }

    @Test(
        "receives binary and empty payloads unchanged",
        arguments: [[], [0], [0, 0xFF, 0xC3, 0x28], Array(repeating: 9, count: 200_000)] as [[UInt8]])
    func payloads(payload: [UInt8]) async throws {
        try await withClient { client, _ in
            try await client.subscribe("a", qos: .atMostOnce)
            try client.client.publish(MQTTMessage(topic: "a", payload: payload), ticket: 1)
            try await until("the message") { client.messages.last?.topic == "a" }
            #expect(client.messages.last?.payload == payload)
        }
    }

    @Test("does not receive messages larger than 256 KiB")
    func tooLarge() async throws {
        try await withClient { client, _ in
            try await client.subscribe("a")
            let sizes = [300_000, 1]
            for size in sizes {
                let message = MQTTMessage(topic: "a", payload: Array(repeating: 0, count: size), qos: .atLeastOnce)
                try client.client.publish(message, ticket: 1)
            }
            try await until("the small one") { client.messages.contains { $0.topic == "a" } }
            #expect(client.messages.last?.payload.count == 1)
        }
    }

    @Test("reports whether a message is retained")
    func retained() async throws {
        try await withClient { client, _ in
            let fact = MQTTMessage(topic: "fact", payload: [1], qos: .atLeastOnce, isRetained: true)
            try client.client.publish(fact, ticket: 1)
            try await client.subscribe("#")
            try client.client.publish(fact, ticket: 2)
            try client.client.publish(MQTTMessage(topic: "fact", payload: [2]), ticket: 3)
            try await until("all three") { client.messages.count { $0.topic == "fact" } == 3 }
            #expect(client.messages.filter { $0.topic == "fact" }.map(\.isRetained) == [true, true, false])
        }
    }

    @Test("reports which message the broker refused, and why")
    func refused() async throws {
        let folder = try ScratchFolder()
        let rules = try folder.write("acl", "topic write allowed/#\ntopic read #\n")
        // With Debian's mosquitto a queue without limit, as the other tests have it, makes a refusal end the connection.
        try await withClient(options: ["acl_file \(rules)", "max_queued_messages 1000"]) { client, _ in
            try client.client.publish(MQTTMessage(topic: "allowed/a", payload: [], qos: .atLeastOnce), ticket: 1)
            try client.client.publish(MQTTMessage(topic: "forbidden", payload: [], qos: .atLeastOnce), ticket: 2)
            try client.client.publish(MQTTMessage(topic: "allowed/b", payload: [], qos: .atLeastOnce), ticket: 3)
            try await until("three answers") { client.events.count == 4 }
            #expect(client.acknowledged == [1, 3])
            guard case .rejected(2, let error) = client.events[2] else {
                Issue.record("no rejection")
                return
            }
            #expect(error.code == .notAuthorized)
            #expect(error.underlying?.number == 0x87)
        }
    }

    @Test("logs a subscription that the broker refuses")
    func refusedSubscription() async throws {
        try await onLoop {
            // SUBACK of MQTT 5 with the number of the request, no properties, one grant and one `not authorized`.
            let server = try ScriptedServer { bytes in
                bytes.first == 0x82
                    ? .send([0x90, 0x05, bytes[2], bytes[3], 0x00, 0x01, 0x87]) : .send(Packet.accepted5)
            }
            let client = TestClient(.test(server.port))
            try await client.connected()
            client.client.subscribe(to: try ["open", "secret"].map { (try MQTTTopicFilter($0), .atLeastOnce) })
            try await until("the answer") { !client.warnings.isEmpty }
            #expect(client.warnings.count == 1)
            #expect(client.warnings.first?.line.contains("topic=secret reason=not_authorized") == true)
            await client.client.stop()
        }
    }

    @Test("repeats a subscription that the broker refuses without a definite reason")
    func repeatedSubscription() async throws {
        try await onLoop {
            var answers = 0
            // SUBACK of MQTT 3.1.1: a failure, then a grant.
            let server = try ScriptedServer { bytes in
                guard bytes.first == 0x82 else { return .send(Packet.accepted311) }
                answers += 1
                return .send([0x90, 0x03, bytes[2], bytes[3], answers == 1 ? 0x80 : 0x01])
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.version = .v311
            configuration.sessionExpiry = .zero
            let client = TestClient(configuration)
            try await client.connected()
            let filter = try MQTTTopicFilter("a/#")
            client.client.subscribe(to: [(filter, .atLeastOnce)])
            try await until("the grant") { client.events.contains(.subscriptionGranted(filter)) }
            let refusals = client.events.count { if case .subscriptionRefused = $0 { true } else { false } }
            #expect(refusals == 1)
            #expect(client.sessions.count == 1)
            await client.client.stop()
        }
    }

    @Test("repeats each refused subscription, also while the broker does not answer the repetition of another one")
    func repeatedSubscriptions() async throws {
        try await onLoop {
            var subscribes: [[UInt8]] = []
            let server = try ScriptedServer { bytes in
                guard bytes.first == 0x82 else { return .send(Packet.accepted311) }
                subscribes.append(bytes)
                return subscribes.count <= 3 ? .send([0x90, 0x03, bytes[2], bytes[3], 0x80]) : .nothing
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.version = .v311
            configuration.sessionExpiry = .zero
            // The time that the broker has for an answer to a SUBSCRIBE.
            configuration.connectDeadline = .seconds(1)
            let client = TestClient(configuration)
            try await client.connected()
            // The second one is repeated between two repetitions of the first one.
            client.client.subscribe(to: [(try MQTTTopicFilter("a"), .atLeastOnce)])
            try await until("the second refusal") { subscribes.count == 2 }
            client.client.subscribe(to: [(try MQTTTopicFilter("b"), .atLeastOnce)])
            try await until("all of them") { subscribes.count == 5 }
            // The filter is followed by its quality of service.
            #expect(subscribes.map { $0[$0.count - 2] } == Array("aabba".utf8))
            await client.client.stop(within: .zero)
        }
    }

    @Test("reports a refused subscription on each connection, and does not repeat it after the end of one")
    func endedSubscription() async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                bytes.first == 0x82 ? .send([0x90, 0x03, bytes[2], bytes[3], 0x80]) : .send(Packet.accepted311)
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.version = .v311
            configuration.sessionExpiry = .zero
            let client = TestClient(configuration)
            let filter = try MQTTTopicFilter("a/#")
            var isArmed: [Bool] = []
            client.react = { [unowned client] event in
                switch event {
                case .connected: client.client.subscribe(to: [(filter, .atLeastOnce)])
                case .subscriptionRefused: client.client.cut()
                case .disconnected: isArmed.append(client.client.subscriptionTimer.isArmed)
                default: break
                }
            }
            try await until("the end of two connections") { isArmed.count == 2 }
            #expect(isArmed == [false, false])
            await client.client.stop()
        }
    }

    @Test(
        "refuses a message that MQTT does not allow, and continues",
        arguments: ["", "a/+", "#", "a\0b", "a\u{1}b", String(repeating: "a", count: 65_536)])
    func invalid(topic: String) async throws {
        try await withClient { client, _ in
            let error = #expect(throws: MQTTError.self) {
                try client.client.publish(MQTTMessage(topic: topic, payload: [], qos: .atLeastOnce), ticket: 1)
            }
            #expect(error?.code == .invalidMessage)
            try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: 2)
            try await until("the answer") { client.acknowledged == [2] }
        }
    }

    @Test("delivers ten thousand messages in order, and accepts no more than it can number")
    func manyMessages() async throws {
        try await withClient { client, broker in
            let reader = TestClient(.test(broker.port, "reader"))
            try await reader.connected()
            try await reader.subscribe("count")
            var next: UInt64 = 1
            let fill = {
                while next <= 10_000 {
                    let digits = Array(String(next).utf8)
                    do throws(MQTTError) {
                        try client.client.publish(
                            MQTTMessage(topic: "count", payload: digits, qos: .atLeastOnce), ticket: next)
                    } catch {
                        #expect(error.code == .backlogFull)
                        #expect(MQTTClient.backlogLimit == 8_192)
                        #expect(next > UInt64(MQTTClient.backlogLimit))
                        return
                    }
                    next += 1
                }
            }
            client.react = { if case .acknowledged = $0 { fill() } }
            fill()
            try await until("all of them", within: .seconds(60)) {
                client.acknowledged.count == 10_000 && reader.messages.count == 10_001
            }
            #expect(client.acknowledged == Array(1...10_000))
            let numbers = reader.messages.dropFirst().map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(numbers == (1...10_000).map { String($0) })
        }
    }

    @Test("receives a message with the quality of service that it was published with")
    func receivedQoS() async throws {
        try await withClient { client, _ in
            try await client.subscribe("a")
            for qos in [MQTTQoS.atMostOnce, .atLeastOnce] {
                try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: qos), ticket: 1)
            }
            try await until("both messages") { client.messages.count { $0.topic == "a" } == 2 }
            #expect(client.messages.filter { $0.topic == "a" }.map(\.qos) == [.atMostOnce, .atLeastOnce])
        }
    }

    @Test("uses only errors of the library's log for its own errors")
    func complaints() async throws {
        try await withClient { client, _ in
            let instance = try #require(client.client.connection?.instance as? MosquittoInstance)
            #expect(instance.complaints.withLock { $0 } == [])
        }
    }
}
