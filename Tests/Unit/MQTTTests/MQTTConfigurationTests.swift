import Testing

@testable import MQTT

@Suite("Configuration of a client")
struct MQTTConfigurationTests {
    private let configuration = MQTTConfiguration(host: "broker", clientIdentifier: "jacquard-attic")

    @Test("has the defaults of the contract")
    func defaults() {
        #expect(configuration.nodes == [MQTTAddress(host: "broker", port: 1883)])
        #expect(configuration.order == .listed && !configuration.prefersFirst && configuration.version == .automatic)
        #expect(
            [configuration.keepAlive, configuration.sessionExpiry, configuration.connectDeadline]
                == [30, 30, 10].map { .seconds($0) })
        #expect([configuration.shortestRetry, configuration.longestRetry] == [.milliseconds(500), .seconds(30)])
        #expect((0..<100).allSatisfy { _ in (0..<1).contains(configuration.random()) })
    }

    @Test("has a keep-alive of 5 s to 18 h, and a session that expires after at most 136 years")
    func seconds() {
        let times = [
            Duration.seconds(-1), .zero, .seconds(5), .milliseconds(30_500), .seconds(65_535), .seconds(1 << 40),
        ]
        let configurations = times.map { time in
            var copy = configuration
            (copy.keepAlive, copy.sessionExpiry) = (time, time)
            return copy
        }
        #expect(configurations.map(\.keepAliveSeconds) == [5, 5, 5, 30, 65_535, 65_535])
        #expect(configurations.map(\.sessionExpirySeconds) == [0, 0, 5, 30, 65_535, .max])
    }

    @Test("of one connection has the address of its node only, and that of a node that has gone is unchanged")
    func node() {
        var cluster = configuration
        cluster.nodes = ["a", "b", "::1"].map { MQTTAddress(host: $0, port: 8883) }
        #expect(cluster.description == "a:8883, b:8883, [::1]:8883")
        #expect((0...3).map { cluster.at($0).description } == ["a:8883", "b:8883", "[::1]:8883", cluster.description])
        #expect((0...3).map { cluster.at($0).address.host } == ["a", "b", "::1", "a"])
    }

    @Test("never contains the password as text")
    func password() {
        var configuration = configuration
        configuration.username = "bridge"
        configuration.password = "hunter2"
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration)\(String(reflecting: configuration))\(dumped)".contains("hunter2"))
    }
}
