import Configuration
import DBus
import ESPHome

extension RadioSettings {
    /// The D-Bus address of the radio's BlueZ.
    ///
    /// - Parameter bus: that of this host.
    /// - Returns: the address.
    func busAddress(here bus: String) -> String {
        switch place {
        case .here, .esphome: bus
        case .bus(let address): address
        case .ssh(let ssh): BusProgram(path: "/usr/bin/ssh", arguments: ssh.arguments).address
        }
    }
}

extension RadioSettings {
    /// How to reach the proxy; nil if the radio is none.
    var proxy: ESPHomeCentral.Configuration? {
        guard case .esphome(let proxy) = place else { return nil }
        // The key was checked when it was read.
        return ESPHomeCentral.Configuration(
            host: proxy.host, port: UInt16(clamping: proxy.port), name: name,
            key: proxy.key.flatMap { NoiseKey(base64: $0.value) })
    }
}

extension RadioSettings.SSH {
    /// The arguments of the SSH client. No shell reads them, and the client reads no configuration of a user that could
    /// change them.
    ///
    /// The client asks nothing, trusts the given host keys only, and ends 10 to 15 s after the other computer has stopped
    /// answering.
    var arguments: [String] {
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
