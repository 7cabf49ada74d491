import EventLoop
import Glibc
import Logging
import MQTTTypes
import TestSupport
import Testing
import Time

@testable import MQTT

@Suite("Session")
struct MQTTSessionTests {
    private static let will = MQTTMessage(
        topic: "bridge/state", payload: Array("offline".utf8), qos: .atLeastOnce, isRetained: true)
    private static let birth = MQTTMessage(
        topic: "bridge/state", payload: Array("online".utf8), qos: .atLeastOnce, isRetained: true)

    /// The states of the bridge that a watcher has received.
    @LoopActor
    private static func states(_ watcher: TestClient) -> [String] {
        watcher.messages.filter { $0.topic == "bridge/state" }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    @Test("wakes up for a connection that has ended no more")
    func timers() async throws {
        try await withClient { client, _ in
            let connection = try #require(client.client.connection)
            #expect(connection.keepAliveTimer.isArmed)
            client.client.cut()
            try await client.connected(times: 2)
            #expect(!connection.keepAliveTimer.isArmed)
        }
    }

    @Test("leaves its will when the connection is cut, and reconnects")
    func will() async throws {
        try await withClient({ $0.will = Self.will }) { client, broker in
            let watcher = TestClient(.test(broker.port, "watcher"))
            try await watcher.connected()
            try await watcher.subscribe("bridge/state")
            client.react = { if case .connected = $0 { try? client.client.publish(Self.birth, ticket: 2) } }
            try client.client.publish(Self.birth, ticket: 1)
            try await until("birth") { Self.states(watcher) == ["online"] }
            client.client.cut()
            try await until("will and second birth") { Self.states(watcher).count == 3 }
            #expect(Self.states(watcher) == ["online", "offline", "online"])
            // The retain flag as it was published: a later subscriber finds the will too.
            #expect(watcher.messages.filter { $0.topic == "bridge/state" }.map(\.isRetained) == [true, true, true])
            #expect(client.errors.map(\.code) == [.connectionLost])
            await watcher.client.stop()
        }
    }

    @Test("leaves no will at a clean stop, and sends everything first")
    func stop() async throws {
        try await withClient({ $0.will = Self.will }) { client, broker in
            let watcher = TestClient(.test(broker.port, "watcher"))
            try await watcher.connected()
            try await watcher.subscribe("#")
            for ticket in 1...500 as ClosedRange<UInt64> {
                try client.client.publish(MQTTMessage(topic: "last", payload: [], qos: .atLeastOnce), ticket: ticket)
            }
            // Longer than the slowest machine takes: what is left at the limit is not written.
            await client.client.stop(within: .seconds(120))
            #expect(client.acknowledged.count == 500)
            #expect(client.events.last == .disconnected(.stopped, retryIn: nil))
            #expect(!client.client.isConnected)
            try await until("all of them") { watcher.messages.count { $0.topic == "last" } == 500 }
            // The broker handles its packets in order: what comes after this one would come after the will.
            try watcher.client.publish(MQTTMessage(topic: "end", payload: [], qos: .atLeastOnce), ticket: 0)
            try await until("the end") { watcher.messages.last?.topic == "end" }
            #expect(Self.states(watcher).isEmpty)
            await watcher.client.stop()
        }
    }

    @Test("sends at a stop what its owner publishes at each acknowledgement")
    func stopWithQueue() async throws {
        try await withClient { client, broker in
            let watcher = TestClient(.test(broker.port, "watcher"))
            try await watcher.connected()
            try await watcher.subscribe("queue")
            @LoopActor func publish(_ ticket: UInt64) {
                let message = MQTTMessage(topic: "queue", payload: Array("\(ticket)".utf8), qos: .atLeastOnce)
                do { try client.client.publish(message, ticket: ticket) } catch { Issue.record("\(error)") }
            }
            client.react = { if case .acknowledged(let ticket, _) = $0, ticket < 5 { publish(ticket + 1) } }
            publish(1)
            await client.client.stop(within: .seconds(60))
            #expect(client.acknowledged == [1, 2, 3, 4, 5])
            #expect(client.events.last == .disconnected(.stopped, retryIn: nil))
            try await until("all of them") {
                watcher.messages.filter { $0.topic == "queue" }.map { String(decoding: $0.payload, as: UTF8.self) }
                    == ["1", "2", "3", "4", "5"]
            }
            await watcher.client.stop()
        }
    }

    @Test("stops in time if the broker does not respond, and can be started again")
    func stopFrozen() async throws {
        try await withClient { client, broker in
            broker.daemon.signal(SIGSTOP)
            try client.client.publish(MQTTMessage(topic: "a", payload: [], qos: .atLeastOnce), ticket: 1)
            await client.client.stop(within: .milliseconds(200))
            #expect(client.acknowledged.isEmpty)
            broker.daemon.signal(SIGCONT)
            client.client.start()
            try await client.connected(times: 2)
        }
    }

    @Test(
        "makes one more connection at a stop, for what its owner publishes then",
        arguments: [MQTTConfiguration.Version.v5, .v311], [true, false])
    func stopReconnects(version: MQTTConfiguration.Version, isBackAlready: Bool) async throws {
        try await onLoop {
            var broker: PrivateBroker? = try await PrivateBroker()
            let place = try #require(broker?.place)
            var configuration = MQTTConfiguration.test(place.number)
            configuration.version = version
            // Longer than the test may last.
            configuration.shortestRetry = .seconds(600)
            configuration.longestRetry = .seconds(600)
            configuration.will = Self.will
            let client = TestClient(configuration)
            try await client.connected()
            broker?.daemon.signal(SIGKILL)
            try await until("the end of the broker") { broker?.daemon.isRunning == false }
            broker = nil
            try await until("the loss") { !client.errors.isEmpty }
            client.react = { event in
                if case .connected = event { try? client.client.publish(Self.birth, ticket: 7) }
            }
            if isBackAlready { broker = try await PrivateBroker(at: place) }
            async let end: Void = client.client.stop(within: .seconds(60), reconnectingFor: .seconds(60))
            if !isBackAlready {
                try await until("a failure while it stops") { client.errors.count >= 2 }
                broker = try await PrivateBroker(at: place)
            }
            await end
            #expect(client.acknowledged == [7])
            #expect(client.sessions.count == 2)
            #expect(client.events.last == .disconnected(.stopped, retryIn: nil))
            let watcher = TestClient(.test(place.number, "watcher"))
            try await watcher.connected()
            try await watcher.subscribe("bridge/state")
            #expect(Self.states(watcher) == ["online"])
            await watcher.client.stop()
            #expect(broker != nil)
        }
    }

    @Test("ends such a stop in time if the broker hangs or stays away", arguments: [true, false])
    func stopWithoutBroker(hangs: Bool) async throws {
        try await onLoop {
            let server = hangs ? try ScriptedServer { _ in .nothing } : nil
            let unused = try ReservedPort()
            let client = TestClient(.test(server?.port ?? unused.number))
            if let server { try await until("the CONNECT") { !server.received.isEmpty } }
            let begin = Instant.now
            await client.client.stop(within: .seconds(60), reconnectingFor: .milliseconds(300))
            #expect(Instant.now - begin >= .milliseconds(300))
            #expect(client.sessions.isEmpty)
            #expect(client.events.last == .disconnected(.stopped, retryIn: nil))
            #expect(client.client.connection == nil)
            // It can be started again.
            client.client.start()
            let count = client.errors.count
            if !hangs { try await until("another attempt") { client.errors.count > count } }
            await client.client.stop()
        }
    }

    @Test("reconnects when the broker restarts, and receives messages sent meanwhile")
    func reconnects() async throws {
        try await onLoop {
            var broker: PrivateBroker? = try await PrivateBroker()
            let place = try #require(broker?.place)
            let client = TestClient(.test(place.number))
            try await client.connected()
            broker?.daemon.stop()
            broker = nil
            try await until("the loss and some attempts") { client.errors.count > 3 }
            #expect(client.errors.first?.code == .connectionLost || client.errors.first?.code == .serverShuttingDown)
            #expect(client.errors.last?.code == .unreachable)
            let error = #expect(throws: MQTTError.self) {
                try client.client.publish(MQTTMessage(topic: "a", payload: []), ticket: 1)
            }
            #expect(error?.code == .notConnected)
            broker = try await PrivateBroker(at: place)
            try await client.connected(times: 2)
            // The loss and the first failed attempt; further attempts are logged at debug level.
            #expect(client.warnings.count == 2)
            await client.client.stop()
        }
    }

    @Test(
        "resumes its session after a short absence, with the queued messages",
        arguments: [MQTTConfiguration.Version.v5, .v311])
    func resumes(version: MQTTConfiguration.Version) async throws {
        try await withClient({
            $0.version = version
            $0.shortestRetry = .milliseconds(300)
            $0.longestRetry = .milliseconds(300)
        }) { client, broker in
            try await client.subscribe("command")
            client.client.cut()
            let sender = TestClient(.test(broker.port, "sender"))
            try await sender.connected()
            try sender.client.publish(MQTTMessage(topic: "command", payload: [1], qos: .atLeastOnce), ticket: 1)
            try await client.connected(times: 2)
            #expect(client.sessions.map(\.isSessionPresent) == [false, true])
            try await until("the command") { client.messages.contains { $0.topic == "command" } }
            let connected = client.events.lastIndex(of: .connected(try #require(client.sessions.last)))
            let received = client.events.firstIndex {
                if case .message(let message) = $0 { message.topic == "command" } else { false }
            }
            #expect(try #require(connected) < #require(received))
            await sender.client.stop()
        }
    }

    @Test(
        "gets a message that was sent while it was away, from a broker that was restarted",
        arguments: [MQTTConfiguration.Version.v5, .v311])
    func resumesAtRestartedBroker(version: MQTTConfiguration.Version) async throws {
        let folder = try ScratchFolder()
        try await onLoop {
            let options = ["persistence true", "persistence_location \(folder.path)/", "user root"]
            var broker: PrivateBroker? = try await PrivateBroker(options: options)
            let place = try #require(broker?.place)
            var configuration = MQTTConfiguration.test(place.number)
            configuration.version = version
            // The message is sent before the next attempt.
            configuration.shortestRetry = .seconds(2)
            configuration.longestRetry = .seconds(2)
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.sessions.map(\.isSessionPresent) == [false])
            try await client.subscribe("command")
            broker?.daemon.signal(SIGTERM)
            try await until("the end of the broker") { broker?.daemon.isRunning == false }
            broker = nil
            try await until("the loss") { !client.errors.isEmpty }
            broker = try await PrivateBroker(options: options, at: place)
            let sender = TestClient(.test(place.number, "sender"))
            try await sender.connected()
            try sender.client.publish(MQTTMessage(topic: "command", payload: [1], qos: .atLeastOnce), ticket: 1)
            try await until("the command") { client.messages.contains { $0.topic == "command" } }
            #expect(client.sessions.last?.isSessionPresent == true)
            for each in [client, sender] { await each.client.stop() }
        }
    }

    @Test(
        "discards what an earlier client with its identifier has left, also of one that is still connected",
        arguments: [MQTTConfiguration.Version.v5, .v311], [true, false])
    func discardsEarlierSession(version: MQTTConfiguration.Version, isStillThere: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.version = version
            configuration.shortestRetry = .seconds(600)
            configuration.longestRetry = .seconds(600)
            let earlier = TestClient(configuration)
            try await earlier.connected()
            try await earlier.subscribe("command")
            if !isStillThere { earlier.client.cut() }
            if !isStillThere { try await until("the loss") { !earlier.errors.isEmpty } }
            let sender = TestClient(.test(broker.port, "sender"))
            try await sender.connected()
            if !isStillThere {
                try sender.client.publish(MQTTMessage(topic: "command", payload: [1], qos: .atLeastOnce), ticket: 1)
                try await until("its acknowledgement") { sender.acknowledged == [1] }
            }
            let later = TestClient(configuration)
            try await later.connected()
            try await later.subscribe("other")
            #expect(later.sessions.map(\.isSessionPresent) == [false])
            #expect(!later.messages.contains { $0.topic == "command" })
            for each in [later, earlier, sender] { await each.client.stop() }
        }
    }

    @Test("leaves the broker to a second client with its identifier for the longest pause")
    func takenOver() async throws {
        try await onLoop {
            // DISCONNECT of MQTT 5: session taken over.
            let server = try ScriptedServer { _ in .send(Packet.accepted5 + [0xE0, 0x01, 0x8E]) }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.longestRetry = .seconds(3600)
            let client = TestClient(configuration)
            try await until("the end") { !client.errors.isEmpty }
            guard case .disconnected(let error, let pause) = client.events.last else { return }
            #expect(error.code == .sessionTakenOver)
            #expect(error.underlying?.number == 0x8E)
            #expect(pause == .seconds(3600))
            #expect(client.warnings.first?.message.contains("identifier") == true)
            await client.client.stop()
        }
    }

    @Test("suspects a second client with its identifier if the broker does not report it")
    func contested() async throws {
        // Neither MQTT 3.1.1 nor mosquitto 2.0 says why it closes.
        try await withClient { client, broker in
            let second = TestClient(.test(broker.port))
            try await until("the suspicion") { client.warnings.contains { $0.message.contains("identifier") } }
            await second.client.stop()
            try await until("the end of the quarrel") { client.client.isConnected }
        }
    }

    @Test("detects an unresponsive broker within one and a half keep-alive intervals")
    func frozen() async throws {
        try await withClient({ $0.keepAlive = .seconds(5) }) { client, broker in
            broker.daemon.signal(SIGSTOP)
            let watch = Stopwatch()
            try await until("the loss") { !client.errors.isEmpty }
            #expect(client.errors.first?.code == .keepAliveTimeout)
            // And what a busy machine adds.
            #expect(watch.isWithin(.seconds(10)))
            // It was not heard since then.
            let silence = client.client.lastHeard.map { Instant.now - $0 }
            #expect(silence.map { $0 > .seconds(4) } == true)
            broker.daemon.signal(SIGCONT)
            try await client.connected(times: 2)
        }
    }

    @Test("reports wrong credentials without the password, and retries later")
    func wrongPassword() async throws {
        let folder = try ScratchFolder()
        try await onLoop {
            let file = try await folder.writePasswords(["bridge": "right"])
            let broker = try await PrivateBroker(options: ["allow_anonymous false", "password_file \(file)"])
            for version in [MQTTConfiguration.Version.v5, .v311] {
                var configuration = MQTTConfiguration.test(broker.port)
                configuration.version = version
                configuration.username = "bridge"
                configuration.password = "wrong-word"
                let client = TestClient(configuration)
                try await until("two refusals") { client.errors.count >= 2 }
                // MQTT 3.1.1 brokers say `not authorized` for both.
                #expect(client.errors.allSatisfy { [.badUserNameOrPassword, .notAuthorized].contains($0.code) })
                #expect(client.warnings.count == 1)
                #expect(!client.log.records.contains { $0.line.contains("wrong-word") })
                await client.client.stop()
                configuration.password = "right"
                let allowed = TestClient(configuration)
                try await allowed.connected()
                await allowed.client.stop()
            }
        }
    }
}
