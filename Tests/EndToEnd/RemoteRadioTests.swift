import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

/// An SSH server on the loopback interface, whose only key runs `systemd-stdio-bridge`.
@LoopActor
private final class PrivateSSHServer {
    let folder: ScratchFolder
    private(set) var server: Program
    private let port: ReservedPort
    private let configuration: String

    /// Starts a server whose clients reach a bus.
    init(bus: String) async throws {
        folder = try ScratchFolder()
        port = try ReservedPort()
        for name in ["host", "user", "other"] {
            let maker = try Program(
                "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder.path + "/" + name])
            try await until("the key \(name)") { maker.hasEnded }
        }
        let command = "restrict,command=\"systemd-stdio-bridge -p\(bus)\""
        _ = try folder.write("authorized_keys", "\(command) \(Self.text(folder.path + "/user.pub"))")
        _ = try folder.write("known_hosts", "[127.0.0.1]:\(port.number) \(Self.text(folder.path + "/host.pub"))")
        configuration = try folder.write(
            "sshd_config",
            """
            Port \(port.number)
            ListenAddress 127.0.0.1
            HostKey \(folder.path)/host
            AuthorizedKeysFile \(folder.path)/authorized_keys
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            StrictModes no
            UsePAM no
            PidFile none
            """ + "\n")
        // The server of root needs it, and Debian makes it at startup.
        if getuid() == 0 {
            try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        }
        server = try Program("/usr/sbin/sshd", ["-D", "-e", "-f", configuration])
        try await listening()
    }

    private func listening() async throws {
        try await until("the SSH server") { server.printed.contains("listening on 127.0.0.1") }
    }

    /// Kills the server and its sessions.
    func kill() async throws {
        let all = sessions + [server.identifier]
        for process in all { Glibc.kill(process, SIGKILL) }
        try await until("the end of the server") { !server.isRunning }
    }

    /// Starts the server again after it was killed, with this host key.
    func restart(hostKey: String = "host") async throws {
        let text = try Self.text(configuration).replacing("/other\n", with: "/host\n")
        try text.replacing("/host\n", with: "/\(hostKey)\n").write(
            toFile: configuration, atomically: true, encoding: .utf8)
        server = try Program("/usr/sbin/sshd", ["-D", "-e", "-f", configuration])
        try await listening()
    }

    /// Runs another command for the user's key.
    func use(_ command: String) throws {
        let line = "restrict,command=\"\(command)\" \(try Self.text(folder.path + "/user.pub"))"
        _ = try folder.write("authorized_keys", line)
    }

    /// Accepts another key in place of the user's.
    func refuseUser() throws {
        _ = try folder.write("authorized_keys", Self.text(folder.path + "/other.pub"))
    }

    /// The processes of the server's sessions.
    var sessions: [pid_t] {
        var parents: [pid_t: pid_t] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let process = pid_t(name), let status = try? Self.text("/proc/\(name)/stat"),
                let end = status.lastIndex(of: ")")
            else { continue }
            parents[process] = status[end...].split(separator: " ").dropFirst(2).first.flatMap { pid_t($0) }
        }
        func isOfServer(_ process: pid_t) -> Bool {
            guard let parent = parents[process] else { return false }
            return parent == server.identifier || isOfServer(parent)
        }
        return parents.keys.filter(isOfServer)
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The item of `bluetooth.radios`.
    func radio(named name: String) -> String {
        """
            - ssh: \(NSUserName())@127.0.0.1
              name: \(name)
              port: \(port.number)
              identity_file: \(folder.path)/user
              known_hosts_file: \(folder.path)/known_hosts
        """
    }

    /// The clients of this server, by their key.
    var clients: [pid_t] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { pid_t($0) }.filter { process in
            guard let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return false }
            let text = String(decoding: words, as: UTF8.self)
            return text.hasPrefix("/usr/bin/ssh\0") && text.contains(folder.path + "/user\0")
        }
    }
}

/// The children of a process, also those that have ended and that it has not waited for.
private func children(of process: pid_t) -> Set<pid_t> {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let found = processes.compactMap { pid_t($0) }.filter { child in
        guard let bytes = FileManager.default.contents(atPath: "/proc/\(child)/stat") else { return false }
        // The parent follows the name in parentheses, and the state.
        let words = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        return words.count > 1 && pid_t(words[1]) == process
    }
    return Set(found)
}

@Suite("A radio of another computer")
struct RemoteRadioTests {
    @Test("is reached over SSH without descriptors; a connection that ends is made again, and nothing is left of it")
    func overSSH() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let server = try await PrivateSSHServer(bus: bus.address)
            defer { server.server.signal(SIGTERM) }
            let settings = "bluetooth:\n  radios:\n" + server.radio(named: "hall") + "\n"
            let plan = WorldPlan(options: ["--bus", bus.address], settings: settings)
            try await inWorld(plan) { world in
                try await world.connected()
                let connection = world.observer.document("jacquard/tag/0001/connection")
                #expect(connection["radio"] as? String == "hall" && connection["adapter"] as? String == "hci0")
                try await world.simulate("gesture 0001 double_tap")
                try await until("the gesture") { world.observer.payloads(of: "jacquard/tag/0001/gesture").count == 1 }
                try await world.succeeds("jacquard/tag/0001/led/set", "flash")
                let clients = server.clients
                #expect(clients.count == 1)
                // SIGTERM, too: the client inherits no blocked signal, and none is left that nobody has waited for.
                for signal in [SIGKILL, SIGTERM] {
                    for client in server.clients { kill(client, signal) }
                    try await until("the loss of the radio") { world.problems.contains("radio_lost") }
                    try await until("the radio", within: .seconds(30)) { world.problems.isEmpty }
                    try await world.connected()
                }
                try await until("no other child") { children(of: world.daemon.identifier) == Set(server.clients) }
                try await world.succeeds("jacquard/tag/0001/led/set", "flash")
                world.daemon.signal(SIGTERM)
                try await until("the end of the bridge, and of its client") {
                    !world.daemon.isRunning && server.clients.isEmpty
                }
            }
        }
    }

    /// What `doctor` prints.
    @LoopActor
    private static func doctor(_ world: World) async throws -> String {
        let doctor = try Program(
            Program.buildFolder + "/jacquard2mqtt", ["doctor"], environment: world.environment)
        try await until("the doctor", within: .seconds(40)) { doctor.hasEnded }
        return doctor.printed
    }

    @Test("that is killed or frozen is noticed and used again, and doctor says what is wrong with it")
    func faults() async throws {
        try await onLoop {
            let bus = try await PrivateBus()
            let server = try await PrivateSSHServer(bus: bus.address)
            let settings = "bluetooth:\n  radios:\n" + server.radio(named: "hall") + "\n"
            let plan = WorldPlan(options: ["--bus", bus.address], settings: settings)
            try await inWorld(plan) { world in
                try await world.connected()
                let healthy = try await Self.doctor(world)
                #expect(healthy.contains("hall: hci0 ") && healthy.contains(" is on (127.0.0.1)"), "\(healthy)")
                let list = try Program(
                    Program.buildFolder + "/jacquard2mqtt", ["radios"], environment: world.environment)
                try await until("the list") { list.hasEnded }
                #expect(list.printed.contains("hall   hci0     powered on  0001"), "\(list.printed)")

                let frozen = server.sessions
                let watch = Stopwatch()
                for process in frozen { kill(process, SIGSTOP) }
                try await until("the loss of the frozen radio", within: .seconds(25)) {
                    world.problems.contains("radio_lost")
                }
                #expect(watch.isWithin(.seconds(17)))
                for process in frozen { kill(process, SIGKILL) }
                try await until("the radio", within: .seconds(40)) { world.problems.isEmpty }
                try await world.connected()

                try await server.kill()
                try await until("the loss of the radio") { world.problems.contains("radio_lost") }
                let gone = try await Self.doctor(world)
                #expect(gone.contains("hall: 127.0.0.1 is not reachable") && gone.contains("refused"), "\(gone)")
                try await server.restart()
                try await until("the radio", within: .seconds(40)) { world.problems.isEmpty }
                try await world.connected()
                try await server.kill()
                try await server.restart(hostKey: "other")
                let changed = try await Self.doctor(world)
                #expect(changed.contains("the host key of 127.0.0.1 has changed"), "\(changed)")
                try await server.kill()
                try server.use("systemd-stdio-bridge -punix:path=/nonexistent")
                try await server.restart()
                let noBus = try await Self.doctor(world)
                #expect(noBus.contains("the bus of 127.0.0.1 is not reachable: "), "\(noBus)")
                try server.use("no-such-program")
                let none = try await Self.doctor(world)
                #expect(none.contains("127.0.0.1 has no systemd-stdio-bridge"), "\(none)")
                try server.refuseUser()
                let refused = try await Self.doctor(world)
                #expect(refused.contains("127.0.0.1 does not accept the key"), "\(refused)")
            }
            try await server.kill()
        }
    }
}
