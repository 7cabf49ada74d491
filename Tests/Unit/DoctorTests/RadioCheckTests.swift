import Bridge
import DBus
import EventLoop
import Glibc
import JSON
import Logging
import TestSupport
import Testing

@testable import Configuration
@testable import Doctor

@Suite("Doctor: radios")
struct RadioCheckTests {
    private static let ssh: RadioSettings.SSH = {
        var ssh = RadioSettings.SSH(target: "pi@hall.lan")
        (ssh.port, ssh.identityFile, ssh.knownHostsFile) = (2222, "/etc/hostname", "/k")
        return ssh
    }()

    @Test(
        "what the SSH client prints is a cause with a remedy",
        arguments: [
            (
                255, "@@@ REMOTE HOST IDENTIFICATION HAS CHANGED! @@@\nHost key verification failed.",
                "has changed", "ssh-keygen -R '[hall.lan]:2222' -f /k"
            ),
            (
                255,
                "No ED25519 host key is known for hall.lan and you have requested it\n"
                    + "Host key verification failed.", "is not in /k", "radios setup pi@hall.lan --port 2222"
            ),
            (
                255, "WARNING: UNPROTECTED PRIVATE KEY FILE!\npi@hall.lan: Permission denied (publickey).",
                "other users can read", "chmod 600 /etc/hostname"
            ),
            (
                255, "Load key \"/etc/hostname\": Permission denied\npi@hall.lan: Permission denied (publickey).",
                "this user cannot read", "sudo -u jacquard2mqtt"
            ),
            (255, "pi@hall.lan: Permission denied (publickey).", "does not accept the key", "radios setup pi@hall.lan"),
            (
                255, "Load key \"/etc/hostname\": error in libcrypto\npi@hall.lan: Permission denied (publickey).\n",
                "does not accept the key", "radios setup pi@hall.lan"
            ),
            (255, "ssh: Could not resolve hostname hall.lan: Name or service not known", "is unknown", "getent hosts"),
            (255, "ssh: connect to host hall.lan port 22: Connection refused", "Connection refused", "openssh-server"),
            (127, "sh: 1: systemd-stdio-bridge: not found", "no systemd-stdio-bridge", "apt install systemd"),
        ])
    func causes(status: Int32, errors: String, cause: String, remedy: String) throws {
        let problem = try #require(SSHProblem(Subprocess.Ending(status: status, errors: errors), Self.ssh))
        #expect(problem.text.contains(cause), "\(problem)")
        #expect(problem.remedies.contains { $0.contains(remedy) }, "\(problem)")
    }

    @Test("a client that ends well is no problem, and one without an answer or a key is one")
    func ends() {
        for status in [0, 1] as [Int32] {
            #expect(SSHProblem(Subprocess.Ending(status: status, errors: ""), Self.ssh) == nil)
        }
        var ssh = Self.ssh
        ssh.identityFile = "/nonexistent/key"
        let refused = Subprocess.Ending(status: 255, errors: "pi@hall.lan: Permission denied (publickey).")
        #expect(SSHProblem(refused, ssh)?.text == "there is no key /nonexistent/key")
    }

    @Test("a key that this user may not read is not the other computer's fault")
    func forbiddenKey() throws {
        // The client prints the first line for a key in a folder of another user.
        let errors =
            "Warning: Identity file /etc/hostname not accessible: Permission denied.\n"
            + "pi@hall.lan: Permission denied (publickey)."
        let refused = Subprocess.Ending(status: 255, errors: errors)
        let problem = try #require(SSHProblem(refused, Self.ssh, keyError: EACCES))
        #expect(problem.text == "this user cannot read the key /etc/hostname")
        #expect(problem.remedies.first == "sudo -u jacquard2mqtt jacquard2mqtt doctor")
    }

    @Test(
        "bluetoothd of another computer that does not answer needs a group only if its bus refuses the user",
        arguments: [
            ("org.freedesktop.DBus.Error.AccessDenied", "does not let pi talk", "adduser pi bluetooth"),
            ("org.freedesktop.DBus.Error.NoReply", "does not answer", "systemctl restart bluetooth"),
        ])
    func refusedCall(name: String, cause: String, remedy: String) {
        var facts = BluetoothFacts()
        facts.isServiceRunning = true
        facts.callError = DBusError(.refused, name: name, text: "x")
        let radio = RadioSettings(name: "hall", place: .ssh(Self.ssh))
        let finding = RadioCheck.finding(facts, of: radio, on: "hall.lan")
        #expect(finding.verdict == .failed && finding.found.contains(cause), "\(finding)")
        #expect(finding.remedies.first == "on hall.lan: sudo \(remedy)")
    }

    @Test("without an adapter of this host, its checks are skipped; each radio has a finding")
    func elsewhere() async throws {
        try await onLoop {
            let bench = try Bench()
            let port = try ReservedPort()
            let simulator = try await bench.bluetooth()
            let bus = bench.bus
            bench.configuration.bluetooth.radios = [
                RadioSettings(name: "lab", place: .bus(bus)),
                RadioSettings(name: "gone", place: .bus("unix:path=/nonexistent/bus")),
                RadioSettings(
                    name: "loft", place: .esphome(RadioSettings.ESPHome(host: "127.0.0.1", port: Int(port.number)))),
            ]
            let loaded = LoadedConfiguration(configuration: bench.configuration, file: "c.yaml", notices: [])
            let findings = await Examination(
                loaded: .success(loaded), busAddress: bench.bus, stateFolder: bench.folder.path, machine: bench.machine,
                log: Logger("test", to: MemorySink())
            ).findings()
            let radios = findings.filter { $0.check == .radio }
            #expect(radios.map(\.verdict) == [.ok, .failed, .failed], "\(radios)")
            #expect(radios[0].found.hasPrefix("lab: hci0 "))
            #expect(radios[1].found.hasPrefix("gone: the bus of unix:path=/nonexistent/bus is not reachable"))
            #expect(radios[2].found.hasPrefix("loft: 127.0.0.1:\(port.number): "))
            let own = findings.filter { $0.check == .adapter || $0.check == .systemBus }
            #expect(own.map(\.verdict) == [.skipped, .skipped])
            simulator.signal(15)
        }
    }

    @Test("a proxy that the bridge has lost to another program is a finding, from its health")
    func taken() {
        let health: JSONValue = ["problems": [["code": "radio_taken", "text": "Radio loft is in use"], ["code": "x"]]]
        #expect(RadioCheck.taken(health).map(\.found) == ["Radio loft is in use"])
        #expect(RadioCheck.taken(nil) == [])
    }
}
