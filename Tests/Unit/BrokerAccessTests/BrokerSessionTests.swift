import CommandLine
import EventLoop
import Logging
import MQTT
import MQTTTypes
import TestSupport
import Testing
import Time

@testable import BrokerAccess
@testable import Configuration

@Suite("Broker session")
struct BrokerSessionTests {
    @Test("a snapshot contains the retained messages of its filters, without cleared ones")
    func snapshot() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            try await Self.retain("jacquard/bridge/attic/state", at: broker)
            let session = BrokerSession(Self.settings(broker.port), log: Logger("test", to: MemorySink()))
            try await session.open()
            let messages = try await session.snapshot(of: ["jacquard/bridge/#"])
            #expect(messages.map(\.topic) == ["jacquard/bridge/attic/state"])
            let ticket = session.clear("jacquard/bridge/attic/state")
            let deadline = Instant.now + .seconds(30)
            while let signal = await session.next(until: deadline) {
                if case .taken(ticket) = signal { break }
            }
            #expect(try await session.snapshot(of: ["jacquard/bridge/attic/state"]).isEmpty)
            await session.close()
        }
    }

    @Test("a permanent error ends the attempt to connect, with a hint")
    func unreachable() async throws {
        try await onLoop {
            let port = try ReservedPort()
            let session = BrokerSession(Self.settings(port.number), log: Logger("test", to: MemorySink()))
            let failure = await #expect(throws: ClientFailure.self) { try await session.open() }
            #expect(failure?.code == "unreachable")
            #expect(failure?.exitCode == .noConnection)
            #expect(failure?.hint == "jacquard2mqtt doctor")
            await session.close()
        }
    }

    @Test("a name with several addresses is reached at the one that has a broker; the others are known")
    func addresses() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            var settings = Self.settings(broker.port)
            settings.mqtt.host = "localhost"
            let session = BrokerSession(settings, log: Logger("test", to: MemorySink()))
            try await session.open()
            #expect(session.lastAddress == "127.0.0.1")
            #expect(session.failedAddresses.allSatisfy { $0.address == "::1" })
            await session.close()
        }
    }

    @Test("Ctrl-C ends a wait")
    func interrupted() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let session = BrokerSession(Self.settings(broker.port), log: Logger("test", to: MemorySink()))
            try await session.open()
            session.interrupt()
            let failure = await #expect(throws: ClientFailure.self) { _ = try await session.snapshot(of: ["x"]) }
            #expect(failure == .interrupted)
            await session.close()
        }
    }

    /// Publishes a retained message.
    @LoopActor
    private static func retain(_ topic: String, at broker: PrivateBroker) async throws {
        let settings = MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientIdentifier: "bridge")
        let client = MQTTClient(configuration: settings, log: Logger("bridge", to: MemorySink()))
        var isTaken = false
        client.onEvent = { event in
            if case .acknowledged = event { isTaken = true }
        }
        client.start()
        try await until("the client is connected") { client.isConnected }
        try client.publish(
            MQTTMessage(topic: topic, payload: Array("online".utf8), qos: .atLeastOnce, isRetained: true), ticket: 1)
        try await until("the message is retained") { isTaken }
        await client.stop()
    }

    private static func settings(_ port: UInt16) -> Settings {
        var mqtt = Settings.MQTT(clientID: "jacquard-attic")
        mqtt.port = Int(port)
        return Settings(instance: "attic", mqtt: mqtt)
    }
}

@Suite("Mailbox")
struct MailboxTests {
    @Test("returns events in order, and nil at the deadline")
    func order() async throws {
        try await onLoop {
            let mailbox = Mailbox<Int>()
            mailbox.put(1)
            mailbox.put(2)
            #expect(await mailbox.next(until: nil) == 1)
            #expect(await mailbox.next(until: .now) == 2)
            #expect(await mailbox.next(until: .now + .milliseconds(5)) == nil)
        }
    }

    @Test("wakes its reader")
    func wake() async throws {
        try await onLoop {
            let mailbox = Mailbox<Int>()
            async let event = mailbox.next(until: .now + .seconds(30))
            let timer = LoopTimer { mailbox.put(7) }
            timer.arm(after: .milliseconds(1))
            #expect(await event == 7)
        }
    }
}
