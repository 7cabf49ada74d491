import EventLoop
import Foundation
import TestSupport
import Testing

/// An SSH server on the loopback interface, whose only key runs `systemd-stdio-bridge`.
private final class PrivateSSHServer: Sendable {
    let folder: ScratchFolder
    let server: Program
    private let port: ReservedPort

    /// Starts a server whose clients reach a bus.
    @LoopActor
    init(bus: String) async throws {
        folder = try ScratchFolder()
        port = try ReservedPort()
        for name in ["host", "user"] {
            let maker = try Program(
                "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder.path + "/" + name])
            try await until("the key \(name)") { maker.hasEnded }
        }
        let command = "restrict,command=\"systemd-stdio-bridge -p\(bus)\""
        _ = try folder.write("authorized_keys", "\(command) \(Self.text(folder.path + "/user.pub"))")
        _ = try folder.write("known_hosts", "[127.0.0.1]:\(port.number) \(Self.text(folder.path + "/host.pub"))")
        let configuration = try folder.write(
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
        let server = try Program("/usr/sbin/sshd", ["-D", "-e", "-f", configuration])
        self.server = server
        try await until("the SSH server") { server.printed.contains("listening on 127.0.0.1") }
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
                for client in clients { kill(client, SIGKILL) }
                try await until("the loss of the radio") { world.problems.contains("radio_lost") }
                try await until("the radio", within: .seconds(30)) { world.problems.isEmpty }
                try await world.connected()
                try await world.succeeds("jacquard/tag/0001/led/set", "flash")
                world.daemon.signal(SIGTERM)
                try await until("the end of the bridge, and of its client") {
                    !world.daemon.isRunning && server.clients.isEmpty
                }
            }
        }
    }
}
