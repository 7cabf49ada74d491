import EventLoop
import Glibc
import Logging
import MQTTTypes
import TestSupport
import Testing

@testable import MQTT

@Suite("TLS")
struct MQTTTLSTests {
    @Test(
        "connects to a broker whose certificate the authority has signed",
        arguments: [MQTTConfiguration.Version.v5, .v311])
    func trusted(version: MQTTConfiguration.Version) async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let broker = try await PrivateBroker(options: certificates.brokerOptions)
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.host = "localhost"
            configuration.version = version
            configuration.tls = .init(caFile: certificates.path("authority.crt"))
            let client = TestClient(configuration)
            try await client.connected()
            try await client.subscribe("a")
            let large = MQTTMessage(topic: "a", payload: Array(repeating: 1, count: 100_000), qos: .atLeastOnce)
            for ticket in 1...20 as ClosedRange<UInt64> { try client.client.publish(large, ticket: ticket) }
            try await until("the messages") { client.messages.count { $0 == large } == 20 }
            try await until("the answers") { client.acknowledged.filter { $0 <= 20 } == Array(1...20) }
            #expect(client.errors.isEmpty)
            await client.client.stop()
        }
    }

    @Test("names what is wrong with a certificate")
    func untrusted() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let broker = try await PrivateBroker(options: certificates.brokerOptions)
            let authority = certificates.path("authority.crt")
            let fifo = certificates.path("fifo")
            #expect(mkfifo(fifo, 0o600) == 0)
            let cases: [(host: String, tls: MQTTConfiguration.TLS, code: MQTTError.Code, text: String)] = [
                (
                    "localhost", .init(caFile: certificates.path("other.crt")), .certificateUntrusted,
                    "certificate verify failed"
                ),
                ("localhost", .init(), .certificateUntrusted, "no authority that is trusted"),
                ("127.0.0.1", .init(caFile: authority), .certificateName, "as an IP address"),
                (
                    "localhost", .init(caFile: "/nowhere.crt"), .tls,
                    "cannot read /nowhere.crt: No such file or directory"
                ),
                ("localhost", .init(caFile: fifo), .tls, "cannot read \(fifo): it is not a regular file"),
                ("localhost", .init(caFile: certificates.path("broker.key")), .tls, "Unable to load CA certificates"),
                (
                    "localhost",
                    .init(
                        caFile: authority, certificateFile: certificates.path("client.crt"),
                        keyFile: certificates.path("other.key")), .tls, "key values mismatch"
                ),
            ]
            for (host, tls, code, text) in cases {
                var configuration = MQTTConfiguration.test(broker.port)
                configuration.host = host
                configuration.tls = tls
                let client = TestClient(configuration)
                try await until("a failure") { !client.errors.isEmpty }
                #expect(client.errors.first?.code == code)
                #expect(client.errors.first?.text.contains(text) == true, "\(client.errors)")
                await client.client.stop()
            }
            // It has no reader: the check has closed it.
            #expect(open(fifo, O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO)
        }
    }

    @Test("reads no file of more than 4 MiB")
    func largeFile() async throws {
        let folder = try TemporaryFolder()
        try await onLoop {
            let instance = try MosquittoInstance(
                .test(0), .init(version: .v5, isCleanStart: true, isDiscardOnly: false))
            let path = folder.path("authority.crt")
            try folder.write(String(repeating: " ", count: 4_194_304), to: "authority.crt")
            try instance.set(MQTTConfiguration.TLS(caFile: path))
            try folder.write(String(repeating: " ", count: 4_194_305), to: "authority.crt")
            let error = #expect(throws: MQTTError.self) { try instance.set(MQTTConfiguration.TLS(caFile: path)) }
            #expect(error?.text == "cannot read \(path): it is larger than 4194304 bytes")
        }
    }

    @Test("says that a certificate has expired")
    func expired() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            try await certificates.expireBroker()
            let broker = try await PrivateBroker(options: certificates.brokerOptions)
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.host = "localhost"
            configuration.tls = .init(caFile: certificates.path("authority.crt"))
            let client = TestClient(configuration)
            try await until("a failure") { !client.errors.isEmpty }
            #expect(client.errors.first?.code == .certificateExpired)
            #expect(client.errors.first?.text.hasPrefix("the broker's certificate has expired") == true)
            await client.client.stop()
        }
    }

    @Test("ends a connection that the broker resets during the handshake, and stays idle")
    func resetInHandshake() async throws {
        try await onLoop {
            let server = try ScriptedServer { _ in .nothing }
            var configuration = MQTTConfiguration.test(server.port)
            configuration.tls = .init()
            // Only the reset may end the attempt, not the deadline.
            configuration.connectDeadline = .seconds(3600)
            let client = TestClient(configuration)
            try await until("the handshake") {
                !server.received.isEmpty && client.client.connection?.phase == .greeting
            }
            server.reset()
            try await until("the end of the attempt") { !client.errors.isEmpty }
            #expect(client.errors.first?.code == .tls)
            #expect(client.errors.first?.text.contains("reset") == true, "\(client.errors)")
            await client.client.stop()
        }
    }

    @Test("tells a port without TLS from a port without a broker")
    func plain() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let unused = try ReservedPort()
            for (port, code) in [(broker.port, MQTTError.Code.tls), (unused.number, .unreachable)] {
                // The answer of the broker comes at another step each time.
                for _ in 0..<5 {
                    var configuration = MQTTConfiguration.test(port)
                    configuration.tls = .init()
                    let client = TestClient(configuration)
                    try await until("a failure") { !client.errors.isEmpty }
                    #expect(client.errors.first?.code == code, "\(client.errors)")
                    await client.client.stop()
                }
            }
        }
    }

    @Test("skips the check of the host name if configured")
    func insecure() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let broker = try await PrivateBroker(options: certificates.brokerOptions)
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.tls = .init(caFile: certificates.path("authority.crt"), isInsecure: true)
            let client = TestClient(configuration)
            try await client.connected()
            await client.client.stop()
        }
    }

    @Test("sends its own certificate to a broker that requires one")
    func clientCertificate() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let broker = try await PrivateBroker(options: certificates.brokerOptions + ["require_certificate true"])
            var configuration = MQTTConfiguration.test(broker.port)
            configuration.host = "localhost"
            configuration.tls = .init(caFile: certificates.path("authority.crt"))
            let stranger = TestClient(configuration)
            try await until("a failure") { !stranger.errors.isEmpty }
            // The broker's reset may overtake its alert, `certificate required`.
            #expect(
                [.clientCertificate, .tls, .connectionLost].contains(try #require(stranger.errors.first).code),
                "\(stranger.errors)")
            #expect(stranger.errors.first?.text.contains("certificate") == true, "\(stranger.errors)")
            await stranger.client.stop()
            configuration.tls?.certificateFile = certificates.path("client.crt")
            configuration.tls?.keyFile = certificates.path("client.key")
            let known = TestClient(configuration)
            try await known.connected()
            await known.client.stop()
        }
    }
}
