import BrokerAccess
import CommandLine
import Configuration
import EventLoop
import Glibc
import JSON
import Terminal

/// Prepares another computer to be a radio over SSH: a key of its own here, and there one line that lets the key run
/// `systemd-stdio-bridge` only.
struct RadioSetup {
    let ssh: RadioSettings.SSH
    private let keyFile: String
    private let folder = "/etc/jacquard2mqtt/ssh"

    /// - Parameter ssh: the other computer.
    init(_ ssh: RadioSettings.SSH) {
        self.ssh = ssh
        keyFile = "\(folder)/\(String(ssh.host.map { $0 == ":" ? "-" : $0 }))"
    }

    /// The command for the other computer. Nothing of it depends on the target: the line comes from standard input.
    static let remote =
        "umask 077; mkdir -p .ssh; read -r line; grep -qxF -- \"$line\" .ssh/authorized_keys 2>/dev/null"
        + " || printf '%s\\n' \"$line\" >> .ssh/authorized_keys"

    /// The line of `authorized_keys` with a public key.
    static func line(of key: String) -> String { "restrict,command=\"systemd-stdio-bridge\" \(key)" }

    /// The commands, for people who run them themselves.
    var lines: [String] {
        [
            "On this computer, make a key and read the host key:",
            "  sudo install -d -o jacquard2mqtt -m 700 \(folder)",
            "  sudo -u jacquard2mqtt ssh-keygen -q -t ed25519 -N '' -C jacquard2mqtt -f \(keyFile)",
            "  ssh-keyscan \(ssh.port.map { "-p \($0) " } ?? "")\(ssh.host) | sudo tee -a \(ssh.knownHostsFile)",
            "On \(ssh.host), compare the fingerprint: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
            "In .ssh/authorized_keys of \(ssh.user ?? "your user") there, one line with the key of \(keyFile).pub:",
            "  \(publicKey.map(Self.line) ?? Self.line(of: "ssh-ed25519 ..."))",
            "In the configuration, below bluetooth:",
            item,
            "Then: jacquard2mqtt doctor. To do the first three steps: add --run, as root.",
        ]
    }

    /// The same for programs.
    var document: JSONValue {
        [
            "authorized_keys": .string(publicKey.map(Self.line) ?? Self.line(of: "ssh-ed25519 ...")),
            "steps": .array(lines.map(JSONValue.string)),
        ]
    }

    /// The line of the configuration.
    private var item: String {
        "  radios: [{ ssh: \(ssh.target), \(ssh.port.map { "port: \($0), " } ?? "")identity_file: \(keyFile) }]"
    }

    private var publicKey: String? {
        guard let file = try? FileContents(path: keyFile + ".pub", limit: 4096) else { return nil }
        return String(decoding: file.bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }

    /// Makes the key if there is none, and adds the line on the other computer. `ssh` shows the host key's fingerprint, and asks
    /// for the user's password.
    ///
    /// - Throws: `failed` if a step fails.
    func run(_ printer: Printer) throws(ClientFailure) {
        if access(keyFile, F_OK) != 0 {
            _ = mkdir(folder, 0o700)
            try step("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "jacquard2mqtt", "-f", keyFile])
            give(to: "jacquard2mqtt", [folder, keyFile, keyFile + ".pub"])
        }
        guard let publicKey else { throw .setup("\(keyFile).pub cannot be read") }
        try step(RadioSettings.SSH.program, arguments, input: Self.line(of: publicKey) + "\n")
        give(to: "jacquard2mqtt", [ssh.knownHostsFile])
        let text = "\(ssh.host) is ready. In the configuration, below bluetooth:"
        printer.show(["status": "ok", "identity_file": .string(keyFile)], [text, item, "Then: jacquard2mqtt doctor"])
    }

    /// The arguments of the client that adds the line. The host key is kept where the bridge reads it.
    var arguments: [String] {
        ["-T", "-o", "StrictHostKeyChecking=ask", "-o", "UserKnownHostsFile=\(ssh.knownHostsFile)"]
            + (ssh.port.map { ["-p", "\($0)"] } ?? []) + ["--", ssh.target, Self.remote]
    }

    /// Gives files to the user of the bridge, if this process may. Without that user, they stay as they are.
    private func give(to user: String, _ files: [String]) {
        guard let entry = getpwnam(user) else { return }
        for file in files { _ = chown(file, entry.pointee.pw_uid, entry.pointee.pw_gid) }
    }

    /// Runs a program on this terminal.
    private func step(_ program: String, _ arguments: [String], input: String = "") throws(ClientFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .setup("no pipe") }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        let process: Int32
        do throws(SystemError) {
            process = try Subprocess.spawn(
                program, arguments,
                descriptors: [STDIN_FILENO: ends[0], STDOUT_FILENO: STDERR_FILENO, STDERR_FILENO: STDERR_FILENO])
        } catch {
            close(ends[0])
            close(ends[1])
            throw .setup(error.description)
        }
        close(ends[0])
        // Less than the kernel's buffer.
        _ = input.withCString { write(ends[1], $0, strlen($0)) }
        close(ends[1])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw .setup("\(program) has failed") }
    }
}

extension ClientFailure {
    fileprivate static func setup(_ text: String) -> ClientFailure {
        ClientFailure(exitCode: .failed, code: "setup_failed", text: text)
    }
}
