import Bridge
import BrokerAccess
import Configuration
import DBus
import ESPHome
import EventLoop
import Glibc
import JSON
import Logging
import Text

/// Checks each radio of `bluetooth.radios`.
enum RadioCheck {
    /// The time limit of the SSH client, which gives up connecting after 8 s.
    private static let patience = Duration.seconds(15)

    /// Examines all radios at the same time.
    ///
    /// - Parameters:
    ///   - radios: the radios.
    ///   - own: the state of BlueZ on this host.
    ///   - log: for log records of the libraries.
    /// - Returns: one finding for each, in their order.
    @LoopActor
    static func findings(_ radios: [RadioSettings], own: BluetoothFacts, log: Logger) async -> [Finding] {
        let mailbox = Mailbox<(Int, Finding)>()
        for (index, radio) in radios.enumerated() {
            EventLoop.shared.begin {
                let result = await examine(radio, own, log)
                mailbox.put((index, result.finding(of: radio)))
            }
        }
        var findings: [Int: Finding] = [:]
        while findings.count < radios.count {
            guard let (index, finding) = await mailbox.next(until: nil) else { break }
            findings[index] = finding
        }
        return radios.indices.compactMap { findings[$0] }
    }

    @LoopActor
    private static func examine(_ radio: RadioSettings, _ own: BluetoothFacts, _ log: Logger) async -> RadioResult {
        switch radio.place {
        case .here: return RadioResult(AdapterCheck.finding(own, radio.adapter))
        case .bus(let address):
            return RadioResult(await BluetoothProbe(busAddress: address, log: log).facts(), radio, on: address)
        case .ssh(let ssh):
            let ending = await HelperThread.shared.run(
                HelperThread.Concern("ssh " + radio.name), orIfFull: Subprocess.Ending(status: nil, errors: "")
            ) { Subprocess.ending(of: RadioSettings.SSH.program, ssh.arguments, within: patience) }
            if let problem = SSHProblem(ending, ssh) {
                return RadioResult(.failed, problem.text, problem.remedies)
            }
            // libdbus runs the client again, for the bus itself.
            let address = radio.busAddress(here: "")
            let facts = await BluetoothProbe(busAddress: address, log: log, patience: patience).facts()
            // The program there knows the reason, and the bus only that the client has ended.
            if facts.busError != nil, ending.status != 0, let line = ending.errors.split(separator: "\n").last {
                let text = "the bus of \(ssh.host) is not reachable: \(DisplayText.escaped(String(line)))"
                return RadioResult(.failed, text, ["on \(ssh.host): systemctl status dbus"])
            }
            return RadioResult(facts, radio, on: ssh.host)
        case .esphome:
            guard let proxy = radio.proxy else { return RadioResult(.skipped, "no proxy", []) }
            return RadioResult(await ProxyExamination.result(of: proxy, within: .seconds(12)), proxy)
        }
    }

    /// The finding for a radio of BlueZ on another bus.
    static func finding(_ facts: BluetoothFacts, of radio: RadioSettings, on place: String) -> Finding {
        RadioResult(facts, radio, on: place).finding(of: radio)
    }

    /// The proxies that another program has taken from the bridge, as its health says. An attempt to take one would
    /// disturb that program.
    static func taken(_ health: JSONValue?) -> [Finding] {
        let problems = health?["problems"]?.elements ?? []
        return problems.filter { $0["code"] == "radio_taken" }.map {
            Finding(
                .radio, .failed, $0["text"]?.string ?? "taken", remedies: ["remove the proxy from the other program"])
        }
    }
}

/// The result for one radio.
private struct RadioResult {
    let verdict: Finding.Verdict
    let text: String
    let remedies: [String]

    init(_ verdict: Finding.Verdict, _ text: String, _ remedies: [String]) {
        (self.verdict, self.text, self.remedies) = (verdict, text, remedies)
    }

    init(_ finding: Finding) {
        self.init(finding.verdict, finding.found, finding.remedies)
    }

    /// BlueZ on another bus.
    init(_ facts: BluetoothFacts, _ radio: RadioSettings, on place: String) {
        let user = if case .ssh(let ssh) = radio.place { ssh.user ?? "$USER" } else { "$USER" }
        if let error = facts.busError {
            self.init(
                .failed, "the bus of \(place) is not reachable: \(error.text.isEmpty ? error.name : error.text)",
                ["on \(place): systemctl status dbus"])
        } else if !facts.isServiceRunning {
            self.init(
                .failed, "bluetoothd does not run on \(place)",
                ["on \(place): sudo apt install bluez", "on \(place): sudo systemctl enable --now bluetooth"])
        } else if let error = facts.callError {
            self.init(Self.refusal(error, on: place, user))
        } else {
            let finding = AdapterCheck.finding(facts, radio.adapter)
            self.init(finding.verdict, "\(finding.found) (\(place))", finding.remedies.map { "on \(place): \($0)" })
        }
    }

    /// bluetoothd on another bus does not answer. Only its bus decides which users may talk to it.
    private static func refusal(_ error: DBusError, on place: String, _ user: String) -> Finding {
        guard error.name.hasSuffix(".AccessDenied") else {
            return Finding(
                .radio, .failed, "bluetoothd on \(place) does not answer: \(error.description)",
                remedies: ["on \(place): sudo systemctl restart bluetooth"])
        }
        return Finding(
            .radio, .failed, "the bus of \(place) does not let \(user) talk to bluetoothd",
            remedies: ["on \(place): sudo adduser \(user) bluetooth", "sudo systemctl restart jacquard2mqtt"])
    }

    init(_ result: Result<ProxyInfo, ProxyError>, _ proxy: ESPHomeCentral.Configuration) {
        let place = BrokerHost(host: proxy.host, port: Int(proxy.port)).text
        switch result {
        case .success(let info):
            let encryption = proxy.key == nil ? "without encryption" : "encrypted"
            self.init(.ok, "\(info.name) at \(place), ESPHome \(info.version), \(encryption)", [])
        case .failure(let error):
            let remedies =
                switch error {
                case .network, .silent, .closed:
                    ["ping \(proxy.host)", "esphome logs: the proxy must have api: and bluetooth_proxy:"]
                case .wrongKey, .handshakeRefused: ["compare key_file with api, encryption, key of the proxy"]
                case .encryptionRequired: ["set key_file in place of insecure: true"]
                case .notEncrypted: ["set a key in the proxy's configuration (api, encryption, key)"]
                case .noProxy: ["add bluetooth_proxy: { active: true } to its ESPHome configuration, and install it"]
                case .connectsNothing:
                    ["set bluetooth_proxy: { active: true } in its ESPHome configuration, and install it"]
                case .taken: ["remove the proxy from the other client, such as Home Assistant"]
                case .notAuthentic, .malformed, .unsuitable: ["update the proxy's firmware"]
                }
            self.init(.failed, "\(place): \(error)", remedies)
        }
    }

    func finding(of radio: RadioSettings) -> Finding {
        Finding(.radio, verdict, "\(radio.name): \(text)", remedies: remedies)
    }
}
