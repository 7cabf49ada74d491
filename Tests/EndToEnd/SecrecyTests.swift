import EventLoop
import Foundation
import MQTTTypes
import TestSupport
import Testing

@Suite("Secrets and open ports")
struct SecrecyTests {
    private static let secret = "c0rrect-horse"

    @Test(
        "the password is in no message, log line, argument or variable of the process",
        arguments: ["password: c0rrect-horse", "password_file: bridge-password"])
    func password(setting: String) async throws {
        let folder = try ScratchFolder()
        let passwords = try await onLoop { try await folder.writePasswords(["bridge": Self.secret]) }
        let plan = WorldPlan(
            mqtt: ["username: bridge", setting], broker: ["password_file \(passwords)"], isBridgeExpected: false)
        try await inWorld(plan) { world in
            if setting.hasPrefix("password_file") {
                // A name without a slash is a credential of systemd first.
                _ = try folder.write("bridge-password", Self.secret + "\n")
                try await until("it has ended for want of the file") { !world.daemon.isRunning }
                try world.restartDaemon(with: ["CREDENTIALS_DIRECTORY": folder.path])
            }
            try await world.connected()
            try await world.request("health")
            try await world.request("log_level", "trace")
            try await world.request("log", #"{"level":"trace"}"#)
            try await world.request("doctor")
            try await world.succeeds("jacquard/tag/0001/led/set", "flash")
            try await world.reload(
                WorldPlan(
                    mqtt: ["username: bridge", "password: \(Self.secret)x"], broker: ["password_file \(passwords)"]))
            try await until("it is refused") { world.daemon.printed.contains("not_authorized") }
            try Self.expectNothing(in: world)
        }
    }

    @LoopActor
    private static func expectNothing(in world: World) throws {
        let process = "/proc/\(world.daemon.identifier)"
        for file in ["cmdline", "environ", "comm"] {
            let bytes = try Data(contentsOf: URL(filePath: "\(process)/\(file)"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains(secret), "\(file)")
        }
        #expect(!world.daemon.printed.contains(secret))
        #expect(!world.observer.messages.contains { String(decoding: $0.payload, as: UTF8.self).contains(secret) })
    }

    @Test("the bridge listens on no port")
    func sockets() async throws {
        try await inWorld { world in
            try await world.connected()
            let process = "/proc/\(world.daemon.identifier)"
            let links = try FileManager.default.contentsOfDirectory(atPath: process + "/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)")
            }
            let own = Set(links.compactMap { $0.firstMatch(of: /^socket:\[(\d+)\]$/).map { String($0.1) } })
            #expect(!own.isEmpty)
            for table in ["tcp", "tcp6"] {
                #expect(try Self.sockets(process + "/net/" + table, "0A").isDisjoint(with: own), "\(table)")
            }
            // The resolver of names has a connected one for a moment, which takes nothing from anybody else.
            for table in ["udp", "udp6", "raw", "raw6"] {
                #expect(try Self.sockets(process + "/net/" + table, "07").isDisjoint(with: own), "\(table)")
            }
        }
    }

    /// The sockets of a table of the kernel (proc(5), `/proc/net/tcp`) in a state: the fourth column is that, the tenth the
    /// inode. 0A is `TCP_LISTEN`, 07 is a socket without connections that takes from anybody.
    private static func sockets(_ file: String, _ state: String) throws -> Set<String> {
        let rows = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self).split(separator: "\n")
        return Set(
            rows.dropFirst().compactMap { row in
                let columns = row.split(separator: " ")
                return columns.count > 9 && columns[3] == state ? String(columns[9]) : nil
            })
    }
}
