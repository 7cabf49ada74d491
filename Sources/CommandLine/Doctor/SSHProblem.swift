import Configuration
import EventLoop
import Glibc
import Text

/// Why the SSH client could not run `systemd-stdio-bridge` on another computer.
struct SSHProblem: Hashable {
    let text: String
    let remedies: [String]

    private init(_ text: String, _ remedies: String...) {
        (self.text, self.remedies) = (text, remedies)
    }

    /// Explains how the client ended; nil if it has run the program. That one may have failed, because nothing was sent to it.
    ///
    /// - Parameters:
    ///   - ending: how the client ended.
    ///   - ssh: the other computer.
    ///   - keyError: the number of the error of reading the key as this user, 0 without one; nil: try it.
    init?(_ ending: Subprocess.Ending, _ ssh: RadioSettings.SSH, keyError: Int32? = nil) {
        // 255 is an error of the client, 127 one of the shell of the other computer. Source: ssh(1), sh(1).
        guard ending.status == nil || ending.status == 255 || ending.status == 127 else { return nil }
        let host = ssh.host
        // `contains` would link the regular expressions of the standard library, a megabyte.
        func has(_ part: String) -> Bool { strstr(ending.errors, part) != nil }
        let setup = "jacquard2mqtt radios setup \(ssh.target)\(ssh.port.map { " --port \($0)" } ?? "")"
        let key = ssh.identityFile ?? "of this user"
        let keyError = keyError ?? ssh.keyError
        let line = ending.errors.split(separator: "\n").last.map { DisplayText.escaped(String($0)) } ?? "no output"
        if ending.status == nil, ending.errors.isEmpty {
            guard access(RadioSettings.SSH.program, X_OK) == 0 else {
                self = SSHProblem("there is no \(RadioSettings.SSH.program)", "sudo apt install openssh-client")
                return
            }
            self = SSHProblem("\(host) does not answer", "ping \(host)", "on \(host): sudo systemctl restart ssh")
        } else if has("IDENTIFICATION HAS CHANGED") {
            self = SSHProblem(
                "the host key of \(host) has changed: it was set up again, or another computer answers",
                "if it was set up again: sudo ssh-keygen -R '\(ssh.knownHost)' -f \(ssh.knownHostsFile)", setup)
        } else if has("host key is known") || has("Host key verification failed") {
            self = SSHProblem(
                "the host key of \(host) is not in \(ssh.knownHostsFile)",
                setup, "compare the fingerprint: on \(host), ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub")
        } else if has("UNPROTECTED PRIVATE KEY") {
            self = SSHProblem("other users can read the key \(key)", "sudo chmod 600 \(key)")
        } else if keyError == EACCES || has("Load key") && (has("Permission denied\n") || has("Permission denied\r")) {
            self = SSHProblem(
                "this user cannot read the key \(key)",
                "sudo -u jacquard2mqtt jacquard2mqtt doctor", "sudo chown jacquard2mqtt \(key)")
        } else if let file = ssh.identityFile, keyError == ENOENT {
            self = SSHProblem("there is no key \(file)", setup)
        } else if has("Permission denied") {
            self = SSHProblem("\(host) does not accept the key \(key) for \(ssh.user ?? "this user")", setup)
        } else if has("Could not resolve") {
            self = SSHProblem("the name \(host) is unknown", "getent hosts \(host)", "write its address in its place")
        } else if ending.status == 127 {
            self = SSHProblem("\(host) has no systemd-stdio-bridge", "on \(host): sudo apt install systemd")
        } else {
            self = SSHProblem(
                "\(host) is not reachable: \(line)", "ping \(host)", "on \(host): sudo apt install openssh-server")
        }
    }
}

extension RadioSettings.SSH {
    /// The number of the error of reading the key as this user; 0 without one. Of a key in a folder of another user, the client
    /// says only that the server does not accept it.
    fileprivate var keyError: Int32 {
        guard let identityFile, access(identityFile, R_OK) != 0 else { return 0 }
        return errno
    }

    /// The host as `known_hosts` has it.
    var knownHost: String { port.map { $0 == 22 ? host : "[\(host)]:\($0)" } ?? host }
}
