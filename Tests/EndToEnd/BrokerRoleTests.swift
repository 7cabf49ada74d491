import EventLoop
import Foundation
import Logging
import MQTT
import MQTTTypes
import TestSupport
import Testing

/// `config/mosquitto/acl.conf` as it is delivered, in a mosquitto that knows every user of it.
@Suite("Roles at the broker")
struct BrokerRoleTests {
    /// Everything that is tried, and who may do it. `.` stands for the base topic.
    static let mayPublish: [(topic: String, roles: Set<String>)] = [
        ("./tag/0001/gesture", ["bridge", "admin"]),
        ("./tag/0001/battery", ["bridge", "admin"]),
        ("./tag/0001/led/result", ["bridge", "admin"]),
        ("./tag/0001/led/set", ["bridge", "automation", "admin", "homeassistant"]),
        ("./tag/0001/haptic/set", ["bridge", "automation", "admin", "homeassistant"]),
        ("./tag/0001/battery/get", ["bridge", "automation", "admin", "homeassistant"]),
        ("./tag/0001/name/set", ["bridge", "admin", "homeassistant"]),
        ("./tag/0001/connection/set", ["bridge", "admin", "homeassistant"]),
        ("./tag/0001/config/set", ["bridge", "admin", "homeassistant"]),
        ("./tag/0001/modules/set", ["bridge", "admin"]),
        ("./tag/0001/raw/set", ["bridge", "admin"]),
        ("./group/hall/led/set", ["automation", "admin", "homeassistant"]),
        ("./group/hall/name/set", ["admin", "homeassistant"]),
        ("./bridge/attic/state", ["bridge", "admin"]),
        ("./bridge/attic/beat", ["bridge", "admin"]),
        ("./bridge/attic/request/refresh", ["bridge", "admin"]),
        ("./bridge/attic/request/scan", ["bridge", "admin", "homeassistant"]),
        ("./bridge/attic/request/pair", ["bridge", "admin", "homeassistant"]),
        ("./bridge/attic/request/pair_serial", ["bridge", "admin", "homeassistant"]),
        ("./bridge/attic/request/forget", ["bridge", "admin", "homeassistant"]),
        ("./client/somebody/response", ["bridge", "admin"]),
        ("homeassistant/device/jacquard_tag_0001/config", ["bridge", "admin", "homeassistant"]),
        ("homeassistant/status", ["bridge", "admin", "homeassistant"]),
        ("shadow/tag/0001/gesture", ["admin", "replay"]),
        ("shadow/else", []),
        ("somebody/else", []),
    ]

    static let mayRead: [(topic: String, roles: Set<String>)] = [
        ("./tag/0001/gesture", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("./tag/0001/battery/level", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("./tag/0001/led/set", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("./group/hall/led/set", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./bridge/attic/state", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("./bridge/attic/info", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("./bridge/attic/beat", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./bridge/attic/health", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./bridge/attic/event", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./bridge/attic/response/pair", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./bridge/attic/request/scan", ["bridge", "dashboard", "admin", "homeassistant"]),
        ("./client/somebody/response", ["bridge", "dashboard", "automation", "admin", "homeassistant"]),
        ("homeassistant/device/jacquard_tag_0001/config", ["bridge", "admin", "homeassistant"]),
        ("ha/device/jacquard_tag_0001/config", ["bridge"]),
        ("$SYS/broker/version", ["admin"]),
        ("shadow/tag/0001/gesture", ["automation", "admin", "homeassistant"]),
        ("somebody/else", []),
    ]

    static let roles = ["bridge", "dashboard", "automation", "admin", "homeassistant", "replay"]

    @Test("have the listed rights, and no others", arguments: roles)
    func permissions(role: String) async throws {
        try await onLoop {
            let broker = try await RoleBroker()
            let person = try await broker.person(role)
            let everybody = try await broker.person("root")
            for (topic, allowed) in Self.mayPublish {
                let isTaken = try await person.isAllowedToPublish(Self.full(topic))
                #expect(isTaken == allowed.contains(role), "\(role) publishes \(topic)")
            }
            for (topic, allowed) in Self.mayRead {
                let isHeard = try await person.hears(Self.full(topic), from: everybody)
                #expect(isHeard == allowed.contains(role), "\(role) reads \(topic)")
            }
            await person.client.stop()
            await everybody.client.stop()
        }
    }

    @Test("require a password")
    func password() async throws {
        try await onLoop {
            let broker = try await RoleBroker()
            for (user, password) in [("bridge", "wrong"), ("nobody", "secret"), (nil, nil)] as [(String?, String?)] {
                let stranger = broker.client(user, password)
                try await until("the refusal") { stranger.error != nil }
                #expect([.notAuthorized, .badUserNameOrPassword].contains(try #require(stranger.error).code))
                await stranger.client.stop()
            }
        }
    }

    @Test("are those of the example mosquitto.conf, to which a bridge connects with TLS")
    func example() async throws {
        try await onLoop {
            let certificates = try await Certificates()
            let folder = try ScratchFolder()
            let passwords = try await RoleBroker.writePasswords(in: folder)
            let (plain, encrypted) = (try ReservedPort(), try ReservedPort())
            let text = try RoleBroker.delivered("mosquitto.conf")
                .replacing("/etc/mosquitto/passwd", with: passwords)
                .replacing("/etc/mosquitto/acl.conf", with: try RoleBroker.writeRules(in: folder))
                .replacing("/etc/mosquitto/certs/ca.pem", with: certificates.path("authority.crt"))
                .replacing("/etc/mosquitto/certs/", with: certificates.path(""))
                .replacing("broker.pem", with: "broker.crt")
                .replacing("/var/lib/mosquitto/", with: folder.path + "/")
                .replacing("listener 1883", with: "listener \(plain.number)")
                .replacing("listener 8883", with: "listener \(encrypted.number)")
            let mosquitto = try Program("mosquitto", ["-c", try folder.write("mosquitto.conf", text)])
            var configuration = MQTTConfiguration(host: "localhost", port: encrypted.number, clientIdentifier: "bridge")
            (configuration.username, configuration.password) = ("bridge", "secret")
            configuration.tls = .init(caFile: certificates.path("authority.crt"))
            let bridge = RolePlayer(configuration)
            try await until("the bridge is connected: \(mosquitto.printed)") { bridge.client.isConnected }
            #expect(try await bridge.isAllowedToPublish("jacquard/tag/0001/gesture"))
            #expect(try await !bridge.isAllowedToPublish("somebody/else"))
            await bridge.client.stop()
            mosquitto.stop()
        }
    }

    private static func full(_ topic: String) -> String {
        topic.hasPrefix("./") ? "jacquard/" + topic.dropFirst(2) : topic
    }
}

/// A mosquitto with the delivered rules, and a user `root` beside them who may do everything.
@LoopActor
private final class RoleBroker {
    private let folder = try? ScratchFolder()
    private let broker: PrivateBroker

    init() async throws {
        let folder = try #require(folder)
        let acl = try Self.writeRules(in: folder)
        let passwords = try await Self.writePasswords(in: folder)
        // With Debian's mosquitto a queue without limit makes a refusal end the connection.
        broker = try await PrivateBroker(
            options: [
                "allow_anonymous false", "password_file \(passwords)", "acl_file \(acl)", "max_queued_messages 1000",
            ])
    }

    /// A file of `config/mosquitto`.
    static func delivered(_ name: String) throws -> String {
        let path = URL(filePath: "../../config/mosquitto/" + name, relativeTo: URL(filePath: #filePath))
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// The delivered rules, and those of `root`.
    static func writeRules(in folder: ScratchFolder) throws -> String {
        let rules = try folder.write(
            "acl.conf", delivered("acl.conf") + "\nuser root\ntopic readwrite #\npattern read sentinel/%u\n")
        try share([folder.path, rules])
        return rules
    }

    /// Every user, with the password `secret`.
    static func writePasswords(in folder: ScratchFolder) async throws -> String {
        let users = BrokerRoleTests.roles + ["root"]
        let passwords = try await folder.writePasswords(Dictionary(uniqueKeysWithValues: users.map { ($0, "secret") }))
        try share([folder.path])
        return passwords
    }

    /// The broker gives up its rights before it reads its files.
    private static func share(_ files: [String]) throws {
        for file in files { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: file) }
    }

    func client(_ user: String?, _ password: String?) -> RolePlayer {
        var configuration = MQTTConfiguration(
            host: "127.0.0.1", port: broker.port, clientIdentifier: "\(user ?? "none")-\(UUID().uuidString)")
        configuration.version = .v5
        configuration.username = user
        configuration.password = password
        return RolePlayer(configuration)
    }

    func person(_ role: String) async throws -> RolePlayer {
        let person = client(role, "secret")
        try await until("\(role) is connected") { person.client.isConnected }
        return person
    }
}

/// A client that tries to publish and subscribe.
@LoopActor
private final class RolePlayer {
    let client: MQTTClient
    private(set) var error: MQTTError?
    private var answers: [UInt64: Bool] = [:]
    private var heard: [String] = []
    private var tickets: UInt64 = 0
    private let user: String

    init(_ configuration: MQTTConfiguration) {
        user = configuration.username ?? ""
        client = MQTTClient(configuration: configuration, log: Logger("role", to: MemorySink()))
        client.onEvent = { [unowned self] event in
            switch event {
            case .acknowledged(let ticket, _): answers[ticket] = true
            case .rejected(let ticket, _): answers[ticket] = false
            case .message(let message): heard.append(message.topic)
            case .disconnected(let error, _): self.error = error
            case .connected, .subscriptionRefused, .subscriptionGranted: break
            }
        }
        client.start()
    }

    /// Whether the broker takes a message.
    @discardableResult
    func isAllowedToPublish(_ topic: String) async throws -> Bool {
        tickets += 1
        let ticket = tickets
        try client.publish(MQTTMessage(topic: topic, payload: Array("x".utf8), qos: .atLeastOnce), ticket: ticket)
        try await until("an answer to \(topic)") { answers[ticket] != nil }
        return answers[ticket] == true
    }

    /// Whether what another one publishes is delivered, known by a later message that every user of this broker may read.
    func hears(_ topic: String, from other: RolePlayer) async throws -> Bool {
        let sentinel = "sentinel/\(user)"
        heard = []
        client.subscribe(to: try [topic, sentinel].map { (try MQTTTopicFilter($0), .atLeastOnce) })
        // The broker answers in order: with this answer the subscription is made.
        try await isAllowedToPublish("jacquard/tag/none/led/set")
        // The broker's own topics are retained, and clients must not publish to them.
        for topic in [topic, sentinel] where !topic.hasPrefix("$SYS") {
            #expect(try await other.isAllowedToPublish(topic))
        }
        try await until("the sentinel") { heard.contains(sentinel) }
        return heard.contains(topic)
    }
}
