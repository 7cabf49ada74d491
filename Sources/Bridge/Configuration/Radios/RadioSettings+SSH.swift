extension RadioSettings.SSH {
    /// The SSH client.
    public static let program = "/usr/bin/ssh"

    /// The host without the user.
    public var host: String { target.split(separator: "@").last.map(String.init) ?? target }

    /// The user; nil: that of this process.
    public var user: String? {
        let parts = target.split(separator: "@")
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// The arguments of the SSH client. No shell reads them, and the client reads no configuration of a user that could
    /// change them.
    ///
    /// The client asks nothing, trusts the given host keys only, and ends 10 to 15 s after the other computer has stopped
    /// answering.
    public var arguments: [String] {
        let options =
            [
                "BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=\(knownHostsFile)",
                "GlobalKnownHostsFile=/dev/null", "ConnectTimeout=8", "ServerAliveInterval=5", "ServerAliveCountMax=2",
                "ForwardAgent=no", "ClearAllForwardings=yes", "LogLevel=ERROR",
            ] + (identityFile == nil ? [] : ["IdentitiesOnly=yes"])
        let identity = identityFile.map { ["-i", $0] } ?? []
        let port = port.map { ["-p", "\($0)"] } ?? []
        // The forced command of the key replaces this one.
        return ["-T", "-F", "none"] + identity + port + options.flatMap { ["-o", $0] }
            + ["--", target, "systemd-stdio-bridge"]
    }
}
