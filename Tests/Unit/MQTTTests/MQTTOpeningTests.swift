import Dispatch
import EventLoop
import Glibc
import Logging
import MQTTTypes
import Synchronization
import TestSupport
import Testing
import Text
import Time

@testable import MQTT

@Suite("Opening a connection")
struct MQTTOpeningTests {
    @Test("times out if a server accepts the connection and never answers", arguments: [nil, MQTTConfiguration.TLS()])
    func blackHole(tls: MQTTConfiguration.TLS?) async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .nothing }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.connectDeadline = .milliseconds(200)
            configuration.tls = tls
            let client = TestClient(configuration)
            // On a busy machine the helper may not have come to it within the deadline: another failure comes first.
            try await until("two timeouts") { client.errors.count { $0.code == .timeout } >= 2 }
            await client.client.stop()
        }
    }

    @Test(
        "names what is wrong with the address",
        arguments: [
            ("no..such..host", MQTTError.Code.nameNotResolved), ("127.0.0.1", .unreachable),
            ("localhost", .unreachable),
        ], [nil, MQTTConfiguration.TLS()])
    func wrongAddress(address: (host: String, code: MQTTError.Code), tls: MQTTConfiguration.TLS?) async throws {
        try await onLoop {
            let nobody = try ReservedPort()
            var configuration = MQTTConfiguration.test(nobody.number)
            configuration.host = address.host
            configuration.tls = tls
            let client = TestClient(configuration)
            try await until("an attempt") { !client.errors.isEmpty }
            #expect(client.errors.first?.code == address.code)
            #expect(client.errors.first?.text.isEmpty == false)
            await client.client.stop()
        }
    }

    @Test(
        "reports the reason with which a server closes a connection, and reconnects",
        arguments: [
            (0x82, "protocol_error"), (0x87, "not_authorized"), (0x89, "server_busy"), (0x8B, "server_shutting_down"),
            (0x97, "quota_exceeded"), (0x98, "administrative_action"),
        ])
    func closed(reason: UInt8, name: String) async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .send(Packet.accepted5 + [0xE0, 0x02, reason, 0x00]) }
            let client = TestClient(.test(server.port))
            try await until("two ends") { client.errors.count >= 2 }
            #expect(client.errors[0].description.contains(name))
            await client.client.stop()
        }
    }

    @Test("limits the attempt only: the connection lasts longer")
    func lasts() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.connectDeadline = .milliseconds(500)
            let client = TestClient(configuration)
            try await client.connected()
            // A busy machine may have missed earlier deadlines.
            let (begin, sessions) = (Instant.now, client.sessions.count)
            try await until("the deadline") { begin + configuration.connectDeadline < .now }
            try await client.subscribe("a")
            #expect(client.sessions.count == sessions)
            await client.client.stop()
        }
    }

    @Test("waits for its only address, which does not answer, until the deadline")
    func silentAddress() async throws {
        try await onLoop {
            let place = try ReservedPort()
            let listener = try place.listen()
            // Behind a full queue of connections Linux ignores further ones.
            let queue = (0..<32).map { _ in Loopback.socket() }
            for descriptor in queue {
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                _ = Loopback.connect(descriptor, to: place.number)
            }
            var configuration = MQTTConfiguration.test(place.number)
            configuration.connectDeadline = .milliseconds(400)
            let begin = Instant.now
            var end: Instant?
            let client = TestClient(configuration)
            client.react = { if case .disconnected = $0 { end = end ?? .now } }
            try await until("the timeout") { end != nil }
            #expect(try #require(end) - begin >= configuration.connectDeadline)
            await client.client.stop()
            for descriptor in queue + [listener] { close(descriptor) }
        }
    }

    @Test("reports its end once, whatever else ends it")
    func oneEnd() async throws {
        try await onLoop {
            let plan = SessionPlanner.Plan(version: .v5, isCleanStart: true)
            let connection = try MQTTConnection(MQTTConfiguration(host: "127.0.0.1", clientIdentifier: "test"), plan)
            var ends: [MQTTError] = []
            connection.onEvent = { if case .closed(let error) = $0 { ends.append(error) } }
            for code in [MQTTError.Code.connectionLost, .timeout] { connection.close(MQTTError(code, "")) }
            connection.finish(within: .zero)
            #expect(ends.map(\.code) == [.connectionLost])
            // The helper thread may only come to it now.
            await #expect(throws: MQTTError(.stopped, "the attempt was cancelled")) {
                _ = try await connection.instance.open(connection.configuration, through: .lookup(last: []))
            }
        }
    }

    @Test("can be stopped at any time")
    func stopsWhileConnecting() async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .nothing }
            let atOnce = TestClient(.test(server.port))
            await atOnce.client.stop()
            #expect(atOnce.events == [.disconnected(.stopped, retryIn: nil)])
            let waiting = TestClient(.test(server.port))
            try await until("the CONNECT") { !server.received.isEmpty }
            await waiting.client.stop()
            #expect(waiting.events == [.disconnected(.stopped, retryIn: nil)])
            let nobody = try ReservedPort()
            let pausing = TestClient(.test(nobody.number))
            try await until("a failure") { !pausing.errors.isEmpty }
            await pausing.client.stop()
            #expect(pausing.events.last == .disconnected(.stopped, retryIn: nil))
        }
    }

    @Test("times out if the resolver hangs, can be stopped meanwhile, and ignores the late result")
    func hangingResolver() async throws {
        // The helper that hangs is everybody's.
        try await onLoop(alone: true) {
            let broker = try await PrivateBroker()
            let isBack = DispatchSemaphore(value: 0)
            let isAsked = Mutex(false)
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.connectDeadline = .milliseconds(50)
            configuration.addresses = { _ in
                isAsked.withLock { $0 = true }
                isBack.wait()
                isBack.signal()
                return .success(["127.0.0.1"])
            }
            let client = TestClient(configuration)
            // On a busy machine the helper may come too late to the first: such an attempt is forgotten at once.
            try await until("an attempt that hangs") {
                isAsked.withLock { $0 } && client.client.connection?.phase == .opening
            }
            weak let attempt = client.client.connection
            let count = client.errors.count
            try await until("the deadline") { client.errors.count > count }
            #expect(client.errors.first?.code == .nameNotResolved)
            try await until("the next attempt") { client.client.connection?.phase == .opening }
            await client.client.stop()
            #expect(client.errors.last?.code == .stopped)
            #expect(attempt != nil)
            isBack.signal()
            try await until("the end of the first attempt") { attempt == nil }
            // Other tests need a helper that has done all lookups of this one.
            let next = TestClient(.test(broker.port))
            try await next.connected()
            await next.client.stop()
        }
    }

    @Test(
        "falls back to MQTT 3.1.1 when the broker refuses MQTT 5, in whichever form",
        arguments: [Packet.refused5, Packet.refused311, nil])
    func fallback(refusal: [UInt8]?) async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                switch Packet.level(of: bytes) {
                case 4: .send(Packet.accepted311)
                case 5: refusal.map { .send($0) } ?? .close
                default: .nothing
                }
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.will = MQTTMessage(topic: "state", payload: [1], qos: .atLeastOnce, isRetained: true)
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.sessions == [MQTTSession(version: .v311, isSessionPresent: false)])
            #expect(client.errors.count == 1)
            let connects = server.received.filter { Packet.level(of: $0) != nil }
            #expect(connects.map(Packet.level) == [5, 4, 4])
            // The last one belongs to a session that is kept.
            #expect(connects.map(Packet.isCleanStart) == [true, true, false])
            #expect(connects.map(Packet.hasWill) == [false, false, true])
            #expect(client.log.records.contains { $0.level == .notice && $0.line.contains("version=3.1.1") })
            await client.client.stop()
        }
    }

    @Test(
        "connects to a broker that speaks 3.1.1 only within five seconds after an outage with long pauses",
        arguments: [Packet.refused311, nil])
    func fallbackAfterOutage(refusal: [UInt8]?) async throws {
        try await onLoop {
            var isUp = false
            let server = try ScriptedServer { bytes in
                guard isUp else {
                    return Packet.level(of: bytes) == 5 ? .send(Packet.accepted5 + [0xE0, 0x00]) : .close
                }
                return switch Packet.level(of: bytes) {
                case 4: .send(Packet.accepted311)
                case 5: refusal.map { .send($0) } ?? .close
                default: .nothing
                }
            }
            var configuration = MQTTConfiguration.test(server.port)
            // Later pauses are longer than the test may last.
            configuration.longestRetry = .seconds(3600)
            configuration.shortestRetry = .milliseconds(1)
            configuration.random = { 0.9 }
            let client = TestClient(configuration)
            try await until("short connections", within: .seconds(60)) {
                client.errors.count >= 11
            }
            isUp = true
            let watch = Stopwatch()
            try await until("the connection by 3.1.1", within: .seconds(30)) {
                client.sessions.last?.version == .v311
            }
            // The pause that had begun, of at most 5 s, and what a busy machine adds.
            #expect(watch.isWithin(.seconds(10)))
            await client.client.stop()
        }
    }

    @Test("a client that stops gives an attempt that has no answer yet no more time than it has itself")
    func stopsWhileItIsGreeted() async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .nothing }
            var configuration = MQTTConfiguration.test(server.port)
            // Longer than the test may last.
            configuration.connectDeadline = .seconds(600)
            let client = TestClient(configuration)
            try await until("the CONNECT") { !server.received.isEmpty }
            let watch = Stopwatch()
            await client.client.stop(within: .milliseconds(100), reconnectingFor: .milliseconds(100))
            #expect(watch.isWithin(.seconds(30)))
            #expect(client.sessions.isEmpty)
        }
    }

    @Test("tries MQTT 3.1.1 at once at a server that takes the connection and is silent to MQTT 5, and says so")
    func silentToVersion5() async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                Packet.level(of: bytes) == 4 ? .send(Packet.accepted311) : .nothing
            }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.connectDeadline = .milliseconds(500)
            // Later pauses are longer than the test may last.
            configuration.shortestRetry = .seconds(600)
            configuration.longestRetry = .seconds(600)
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.sessions.map(\.version) == [.v311])
            #expect(
                client.errors.map(\.text) == ["something took the connection and did not answer to MQTT 5"])
            await client.client.stop()
        }
    }

    @Test(
        "names the version to which something that takes the connection does not answer",
        arguments: [true, false], [MQTTConfiguration.Version.v5, .v311])
    func namesSilence(closes: Bool, version: MQTTConfiguration.Version) async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in closes ? .close : .nothing }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.connectDeadline = .milliseconds(500)
            configuration.version = version
            let client = TestClient(configuration)
            try await until("two failures") { client.errors.count >= 2 }
            let number = version == .v5 ? "5" : "3.1.1"
            let text =
                closes
                ? "closed it without an answer to MQTT \(number)" : "did not answer to MQTT \(number)"
            #expect(client.errors.allSatisfy { $0.text == "something took the connection and " + text })
            await client.client.stop()
        }
    }

    @Test(
        "names a broker that refuses a session that outlasts its connection, and does not change the version for it",
        arguments: [4, 5] as [UInt8])
    func refusedSession(level: UInt8) async throws {
        try await onLoop {
            let server = try ScriptedServer { bytes in
                guard let wanted = Packet.level(of: bytes) else { return .nothing }
                guard wanted == level else { return .close }
                let (yes, no) =
                    level == 5
                    ? (Packet.accepted5, Packet.refused5) : (Packet.accepted311, Packet.refused311)
                return .send(Packet.isCleanStart(bytes) ? yes : no)
            }
            let client = TestClient(.test(server.port))
            try await until("five refusals") { client.errors.count { $0.code == .sessionRefused } >= 5 }
            let refusal = try #require(client.errors.first { $0.code == .sessionRefused })
            let version = level == 5 ? "5" : "3.1.1"
            #expect(refusal.text.hasPrefix("the broker speaks MQTT \(version), but refuses a session"))
            let connects = server.received.filter { Packet.level(of: $0) != nil }
            let levels = connects.compactMap(Packet.level)
            #expect(levels == (level == 5 ? [] : [5]) + levels.dropFirst(level == 5 ? 0 : 1).map { _ in level })
            // Of all attempts, the first refusal is reported, and what led to this version.
            #expect(client.log.records.count { $0.level >= .info } <= (level == 5 ? 1 : 3))
            await client.client.stop()
        }
    }

    @Test("stays with MQTT 5 if configured")
    func noFallback() async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .send(Packet.refused5) }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.version = .v5
            let client = TestClient(configuration)
            try await until("three attempts") { client.errors.count >= 3 }
            #expect(server.received.compactMap(Packet.level).allSatisfy { $0 == 5 })
            await client.client.stop()
        }
    }

    @Test(
        "handles any bytes that a broker sends",
        arguments: [
            // A topic that is not UTF-8.
            [0x30, 0x06, 0x00, 0x02, 0xC3, 0x28, 0x00, 0x41],
            // A topic longer than its packet.
            [0x30, 0x03, 0x00, 0xFF, 0x41],
            // A length of five bytes.
            [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            // A SUBACK for nothing, without reasons.
            [0x90, 0x03, 0x00, 0x07, 0x00],
            // A PUBACK for nothing.
            [0x40, 0x02, 0x00, 0x09],
            // A packet of a type that does not exist, a second CONNACK, a CONNECT.
            [0x00, 0x00], [0x20, 0x03, 0x00, 0x87, 0x00], [0x10, 0x00],
            // A PUBLISH with a property that is cut off.
            [0x30, 0x06, 0x00, 0x01, 0x41, 0x05, 0x02, 0x00],
            // Session taken over.
            [0xE0, 0x01, 0x8E],
        ] as [[UInt8]])
    func hostile(bytes: [UInt8]) async throws {
        try await onLoop {
            var isFirst = true
            let server = try ScriptedServer { _ in
                defer { isFirst = false }
                return .send(isFirst ? Packet.accepted5 + bytes : Packet.accepted5)
            }
            let client = TestClient(.test(server.port))
            try await client.connected()
            // Whatever it was, there is a connection afterwards: the same, or a new one.
            let ping = MQTTMessage(topic: "a", payload: [])
            try await until("a working connection") {
                try? client.client.publish(ping, ticket: 1)
                return client.acknowledged.contains(1)
            }
            await client.client.stop()
        }
    }

    @Test("has no limit once the broker has accepted")
    func limit() async throws {
        try await withClient { client, _ in
            let connection = try #require(client.client.connection)
            #expect(!connection.limit.isArmed)
        }
    }

    @Test("takes ten seconds at most, and keeps a session for half a minute, unless the configuration says otherwise")
    func defaults() {
        let configuration = MQTTConfiguration(host: "127.0.0.1", clientIdentifier: "test")
        #expect(configuration.connectDeadline == .seconds(10))
        #expect(configuration.keepAlive == .seconds(30) && configuration.sessionExpiry == .seconds(30))
        #expect(configuration.port == 1883)
    }
}
