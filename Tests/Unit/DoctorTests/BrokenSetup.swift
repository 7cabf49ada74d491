import Bridge
import BrokerAccess
import EventLoop
import Foundation
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

/// A set-up in which one thing is wrong: what the doctor has to find, and how the set-up is made, of real parts.
struct BrokenSetup: Sendable, CustomTestStringConvertible {
    let name: String
    /// The check that has to find it.
    let check: Check
    var verdict = Finding.Verdict.failed
    /// A part of what is found.
    let cause: String
    /// A part of what to do about it.
    let remedy: String
    /// Breaks something.
    let arrange: @LoopActor @Sendable (Bench) async throws -> Void

    var testDescription: String { name }
}

/// The parts of a set-up.
@LoopActor
final class Bench {
    let folder: ScratchFolder
    var configuration = Settings.test(1)
    var bus = "unix:path=/nonexistent/bus"
    var machine = Machine()
    private var parts: [any Sendable] = []

    init() throws {
        folder = try ScratchFolder()
        machine.containerMarks = []
    }

    /// A broker with further options, at which the bridge looks as `localhost`.
    func broker(_ options: [String] = []) async throws {
        let broker = try await PrivateBroker(options: options)
        parts.append(broker)
        configuration.mqtt.port = Int(broker.port)
        configuration.mqtt.host = "localhost"
    }

    /// A server that answers CONNECT, given its version and whether it asks for a clean session, as the test says.
    func server(_ answer: @escaping (_ version: UInt8, _ isClean: Bool) -> ScriptedServer.Answer) throws {
        let server = try ScriptedServer { bytes in
            // CONNECT has the protocol's name in bytes 2 to 7, its version and the flags follow.
            bytes.first == 0x10 && bytes.count > 9 ? answer(bytes[8], bytes[9] & 2 != 0) : .nothing
        }
        parts.append(server)
        configuration.mqtt.port = Int(server.port)
    }

    /// A port without a listener.
    func noBroker() throws {
        let nobody = try ReservedPort()
        parts.append(nobody)
        configuration.mqtt.port = Int(nobody.number)
    }

    /// An encrypted broker.
    func encryptedBroker(_ options: [String] = [], isExpired: Bool = false) async throws -> Certificates {
        let certificates = try await Certificates()
        parts.append(certificates)
        if isExpired { try await certificates.expireBroker() }
        try await broker(certificates.brokerOptions + options)
        configuration.mqtt.tls = Settings.TLS(authorityFile: certificates.path("authority.crt"))
        return certificates
    }

    /// A bus, and on it the simulator's BlueZ.
    func bluetooth(rules: String = "", _ options: [String] = []) async throws -> Program {
        let bus = try await PrivateBus(rules: rules)
        parts.append(bus)
        self.bus = bus.address
        let simulator = try Program(
            Program.buildFolder + "/jacquard-simulator", ["--tags", "1", "--bus", bus.address, "--json"] + options)
        parts.append(simulator)
        try await until("the simulator is ready") { simulator.printed.contains("ready\n") }
        return simulator
    }

    /// A bus alone.
    func emptyBus() async throws {
        let bus = try await PrivateBus()
        parts.append(bus)
        self.bus = bus.address
    }

    /// Writes a file that others may read, as the broker does.
    func write(_ name: String, _ text: String, mode: Int = 0o755) throws -> String {
        let file = try folder.write(name, text)
        for path in [folder.path, file] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        return file
    }
}

extension Settings {
    /// The instance `attic` at a broker of a test.
    static func test(_ port: UInt16, version: MQTT.Version = .automatic) -> Settings {
        var mqtt = MQTT(clientID: "jacquard-attic")
        mqtt.port = Int(port)
        mqtt.version = version
        return Settings(instance: "attic", mqtt: mqtt)
    }
}
