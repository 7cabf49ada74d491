import EventLoop
import Glibc
import Logging
import MQTTTypes
import Synchronization
import TestSupport
import Testing
import Time

@testable import MQTT

@Suite("A name with several addresses")
struct SeveralAddressesTests {
    /// Accepts no connection at an address of the loopback interface: packets to it are ignored.
    @LoopActor
    private final class SilentAddress {
        private var descriptors: [CInt] = []

        init(_ text: String, _ port: UInt16) throws {
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = port.bigEndian
            place.sin_addr.s_addr = inet_addr(text)
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            func with(_ call: (UnsafePointer<sockaddr>) -> CInt) -> CInt {
                withUnsafePointer(to: &place) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0) } }
            }
            try #require(with { bind(listener, $0, size) } == 0)
            try #require(listen(listener, 0) == 0)
            descriptors = [listener]
            // Behind a full queue of connections Linux ignores further ones.
            for _ in 0..<8 {
                let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
                _ = fcntl(client, F_SETFL, O_NONBLOCK)
                _ = with { connect(client, $0, size) }
                descriptors.append(client)
            }
        }

        isolated deinit {
            for descriptor in descriptors { close(descriptor) }
        }
    }

    /// A configuration whose resolver gives these answers, one after the other, and then the last one again.
    private static func configuration(_ port: UInt16, _ answers: [[String]]) -> MQTTConfiguration {
        var configuration = MQTTConfiguration.test(port)
        configuration.host = "broker.test"
        let count = Atomic(0)
        configuration.addresses = { _ in
            let number = count.add(1, ordering: .relaxed).oldValue
            return .success(answers[min(number, answers.count - 1)])
        }
        return configuration
    }

    @Test(
        "reaches the broker at whichever address of whichever family it is, without a report of the others",
        arguments: [
            ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
            ["::1", "127.0.0.2", "127.0.0.1"], ["127.0.0.2", "::1", "127.0.0.1"],
        ])
    func found(addresses: [String]) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let client = TestClient(Self.configuration(broker.port, [addresses]))
            try await client.connected()
            #expect(client.errors.isEmpty)
            #expect(client.client.lastAddress == "127.0.0.1")
            #expect(client.client.failedAddresses.map(\.address) == Array(addresses.prefix { $0 != "127.0.0.1" }))
            try await client.subscribe("a")
            await client.client.stop()
        }
    }

    @Test("follows an answer that changes between attempts")
    func changedAnswer() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let answers = [["127.0.0.2"], ["127.0.0.3", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"]]
            let client = TestClient(Self.configuration(broker.port, answers))
            try await client.connected()
            #expect(
                client.errors.map(\.text) == [
                    "Connection refused", "Connection refused (127.0.0.3, 127.0.0.2)",
                ])
            await client.client.stop()
        }
    }

    @Test("gives an address that does not answer its share of the time only, and tries it last from then on")
    func silent() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let silent = try SilentAddress("127.0.0.2", broker.port)
            var configuration = Self.configuration(broker.port, [["127.0.0.2", "127.0.0.1"]])
            configuration.connectDeadline = .seconds(4)
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.errors.isEmpty)
            // The connection that discards the session has met it, the one that lasts has not.
            #expect(client.client.failedAddresses.isEmpty)
            client.client.cut()
            try await client.connected(times: 2)
            #expect(client.errors.map(\.code) == [.connectionLost])
            await client.client.stop()
            withExtendedLifetime(silent) {}
        }
    }

    @Test("goes on to the next address if something else answers at the first one")
    func otherServer() async throws {
        try await onLoop {
            // The same port at two addresses: the resolver's answer is the same for all.
            let broker = try await PrivateBroker()
            var configuration = Self.configuration(broker.port, [["127.0.0.2", "127.0.0.1"]])
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = broker.port.bigEndian
            place.sin_addr.s_addr = inet_addr("127.0.0.2")
            let status = withUnsafePointer(to: &place) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(status == 0 && listen(listener, 8) == 0)
            let source = try DescriptorSource(listener, for: .readable) { _ in close(accept(listener, nil, nil)) }
            configuration.connectDeadline = .seconds(20)
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.sessions.map(\.version) == [.v5])
            #expect(client.errors.isEmpty)
            await client.client.stop()
            source.cancel()
            close(listener)
        }
    }

    @Test("checks the certificate against the name, at whichever address the broker answers")
    func encrypted() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let broker = try await PrivateBroker(options: certificates.brokerOptions)
            for (host, isRight) in [("localhost", true), ("broker.test", false)] {
                var configuration = Self.configuration(broker.port, [["127.0.0.2", "127.0.0.1"]])
                configuration.host = host
                configuration.tls = .init(caFile: certificates.path("authority.crt"))
                let client = TestClient(configuration)
                if isRight {
                    try await client.connected()
                    #expect(client.client.failedAddresses.map(\.address) == ["127.0.0.2"])
                } else {
                    try await until("the failure") { !client.errors.isEmpty }
                    #expect(client.errors.first?.code == .certificateName)
                }
                await client.client.stop()
            }
        }
    }

    @Test("uses all addresses of each node, listed or found by records of type SRV", arguments: [true, false])
    func nodes(isService: Bool) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            var configuration = Self.configuration(broker.port, [["127.0.0.2", "127.0.0.1"]])
            configuration.addresses = { host in
                .success(host == "far.test" ? ["127.0.0.2", "127.0.0.3"] : ["127.0.0.2", "127.0.0.1"])
            }
            let nodes = ["far.test", "near.test"].map { MQTTAddress(host: $0, port: broker.port) }
            if isService {
                configuration.service = "_mqtt._tcp.test"
                configuration.lookUp = { _, _ in .success(nodes) }
            } else {
                configuration.nodes = nodes
            }
            let client = TestClient(configuration)
            try await client.connected()
            #expect(client.errors.map(\.text) == ["Connection refused (127.0.0.2, 127.0.0.3)"])
            #expect(client.sessions.map(\.node?.host) == ["near.test"])
            await client.client.stop()
        }
    }

    @Test("has the addresses of the resolver")
    func resolver() throws {
        for address in ["127.0.0.1", "::1"] {
            #expect(try BrokerAddresses.addresses(of: address).get() == [address])
        }
        #expect(try BrokerAddresses.addresses(of: "localhost").get().contains("127.0.0.1"))
        #expect(throws: MQTTError.self) { try BrokerAddresses.addresses(of: "no..such..host").get() }
    }

    @Test("answers a lookup for one name of one thread, and all others as usual")
    func pinned() throws {
        let (pinned, other) = PinnedLookup.with("no..such..host", at: "127.0.0.9") {
            (BrokerAddresses.addresses(of: "no..such..host"), BrokerAddresses.addresses(of: "127.0.0.1"))
        }
        // This module's own lookup is not answered: it asks for what the library does not see.
        #expect(throws: MQTTError.self) { try pinned.get() }
        #expect(try other.get() == ["127.0.0.1"])
        #expect(PinnedLookup.address(of: "no..such..host") == nil)
    }
}
