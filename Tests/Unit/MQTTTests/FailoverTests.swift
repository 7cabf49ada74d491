import EventLoop
import Glibc
import Logging
import TestSupport
import Testing

@testable import MQTT

@Suite("Failover")
struct FailoverTests {
    /// Two brokers, and a client that has both addresses after one that nothing listens on.
    private func withNodes(
        _ version: MQTTConfiguration.Version = .automatic,
        _ body: @escaping @LoopActor @Sendable (TestClient, [PrivateBroker]) async throws -> Void
    ) async throws {
        try await onLoop {
            let unused = try ReservedPort()
            let brokers = [try await PrivateBroker(), try await PrivateBroker()]
            var configuration = MQTTConfiguration.test(0)
            configuration.nodes = ([unused.number] + brokers.map(\.port)).map {
                MQTTAddress(host: "127.0.0.1", port: $0)
            }
            configuration.version = version
            // Longer than the test: an attempt after a pause does not pass.
            configuration.shortestRetry = .seconds(60)
            configuration.longestRetry = .seconds(60)
            let client = TestClient(configuration)
            try await client.connected()
            try await body(client, brokers)
            await client.client.stop()
        }
    }

    @Test("connects to the first node that answers, and to the next one when that node is killed, without a pause")
    func killed() async throws {
        for version in [MQTTConfiguration.Version.automatic, .v311] {
            try await withNodes(version) { client, brokers in
                #expect(client.sessions.map(\.node?.port) == [brokers[0].port])
                #expect(client.errors.map(\.code) == [.unreachable])
                brokers[0].daemon.signal(SIGKILL)
                try await client.connected(times: 2)
                #expect(client.sessions.map(\.node?.port) == brokers.map(\.port))
                try await client.subscribe("a")
            }
        }
    }

    @Test("names the node of each record, and pauses when every node has failed")
    func log() async throws {
        try await withNodes { client, brokers in
            brokers[1].daemon.signal(SIGKILL)
            try await until("the end of the second broker") { !brokers[1].daemon.isRunning }
            brokers[0].daemon.signal(SIGKILL)
            try await until("the end of the round") { client.errors.count == 3 }
            let pauses = client.events.compactMap { if case .disconnected(_, let pause) = $0 { pause } else { nil } }
            #expect(pauses == [.zero, .zero, .seconds(60)])
            let nodes = client.log.records.filter { $0.message.hasPrefix("no connection") }.map(\.line)
            #expect(nodes.count == 3)
            #expect(nodes.first?.contains(" endpoint=127.0.0.1:") == true, "\(nodes)")
            for (line, broker) in zip(nodes[1...], brokers) {
                #expect(line.contains("endpoint=127.0.0.1:\(broker.port)"), "\(line)")
            }
        }
    }
}
