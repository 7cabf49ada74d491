import Bridge
import BrokerAccess
import Configuration
import MQTT

/// The steps of a connection to the broker, in order.
enum BrokerStage: Int, Comparable, Sendable {
    case name, reach, tls, login, version

    static func < (left: BrokerStage, right: BrokerStage) -> Bool { left.rawValue < right.rawValue }
}

extension BrokerContact {
    /// The step that failed; nil if none did. Errors without a step of their own belong to `reach`.
    var failedStage: BrokerStage? {
        guard case .failed(let code, _) = self else { return nil }
        let stages: [(BrokerStage, [MQTTError.Code])] = [
            (.name, [.nameNotResolved]), (.tls, MQTTError.Code.ofEncryption),
            (.login, [.badUserNameOrPassword, .notAuthorized]),
            (.version, [.unsupportedProtocolVersion, .sessionRefused]),
        ]
        return stages.first { $0.1.contains { $0.name == code } }?.0 ?? .reach
    }

    /// The error of TLS; nil if there is none.
    var failureOfEncryption: MQTTError.Code? {
        guard case .failed(let name, _) = self else { return nil }
        return MQTTError.Code.ofEncryption.first { $0.name == name }
    }

    /// The outcome of an encrypted connection. If the broker closes it during the handshake, the reason often arrives too late:
    /// libmosquitto then reports a lost connection, which is reported here as an error of TLS.
    var ofEncryption: BrokerContact {
        guard case .failed(MQTTError.Code.connectionLost.name, let text) = self else { return self }
        return .failed(
            code: MQTTError.Code.tls.name,
            text: "the encrypted connection breaks: the broker may want a client certificate (\(text))")
    }

    /// Whether something took the connection, and did not answer as a broker does.
    var isUnanswered: Bool { failureText.hasPrefix(MQTTError.unanswered) }

    /// The error text; empty if there is no error.
    var failureText: String {
        guard case .failed(_, let text) = self else { return "" }
        return text
    }

    /// Returns the finding of a check for one step.
    ///
    /// - Parameters:
    ///   - check: the check.
    ///   - stage: its step.
    ///   - passed: the finding if the step succeeded.
    ///   - failed: the finding if it failed.
    /// - Returns: one of the two, or `skipped` if an earlier step failed.
    func finding(
        _ check: Check, _ stage: BrokerStage, passed: @autoclosure () -> Finding, failed: @autoclosure () -> Finding
    ) -> Finding {
        guard let failedStage, failedStage <= stage else { return passed() }
        return failedStage == stage
            ? failed() : Finding(check, .skipped, "an earlier step of the connection to the broker has failed")
    }
}

/// Checks that the broker's name resolves to an address.
enum BrokerNameCheck {
    /// Reports the addresses.
    static func finding(_ host: String, _ answer: BrokerAddresses.Answer) -> Finding {
        switch answer {
        case .addresses(let addresses):
            Finding(
                .brokerName, .ok,
                addresses == [host]
                    ? "\(host) is an address, no lookup needed"
                    : "\(host) has the address \(addresses.joined(separator: ", "))")
        case .failure(let reason):
            Finding(
                .brokerName, .failed, "\(host) has no address: \(reason)",
                remedies: ["getent hosts \(host)", "set mqtt.host to a name that resolves, or to an address"])
        }
    }
}

/// The outcome of a connection to one node of a broker.
struct NodeContact: Hashable, Sendable {
    /// Host name or address.
    let host: String
    /// TCP port.
    let port: Int
    /// The outcome.
    let contact: BrokerContact

    /// Host and port.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// A command that shows whether the port can be reached.
    var probe: String { "nc -vz \(host) \(port)" }
}

/// Checks that the broker answers at its address.
enum BrokerReachCheck {
    /// Reports host, port and the error. For a broker with several nodes, each of them is reported.
    ///
    /// - Parameters:
    ///   - mqtt: the configuration.
    ///   - contact: the outcome of the connection.
    ///   - nodes: those of each node, if there are several.
    ///   - brokers: the brokers that are installed on this machine.
    ///   - trials: the addresses of the name that were tried.
    /// - Returns: the finding.
    static func finding(
        _ mqtt: Settings.MQTT, _ contact: BrokerContact, nodes: [NodeContact] = [], brokers: [InstalledBroker] = [],
        trials: AddressTrials = .init()
    ) -> Finding {
        let failed = nodes.filter { $0.contact.failedStage != nil }
        let answering = nodes.filter { $0.contact.failedStage == nil }.map(\.address).joined(separator: ", ")
        let failures = failed.map { "\($0.address) (\($0.contact.failureText))" }.joined(separator: ", ")
        switch (nodes.isEmpty, failed.isEmpty, answering.isEmpty) {
        case (true, _, _): return finding(mqtt, contact, brokers, trials)
        case (_, true, _): return Finding(.brokerReach, .ok, "each node answers: \(answering)")
        case (_, _, true):
            return Finding(
                .brokerReach, .failed, "no connection to any node: \(failures)",
                remedies: failed.map(\.probe) + ["check mqtt.hosts, and the listeners and firewalls of the nodes"])
        default:
            return Finding(
                .brokerReach, .warning, "no connection to \(failures); answers: \(answering)",
                remedies: failed.map(\.probe))
        }
    }

    private static func finding(
        _ mqtt: Settings.MQTT, _ contact: BrokerContact, _ brokers: [InstalledBroker], _ trials: AddressTrials
    ) -> Finding {
        let place = "\(mqtt.host), port \(mqtt.port)"
        let failure = "no connection to \(place): \(contact.failureText)"
        return contact.finding(
            .brokerReach, .reach,
            passed: Finding(.brokerReach, .ok, "answers at \(place)\(trials.text)"),
            failed: contact.isUnanswered
                ? Finding(.brokerUnanswered(failure, port: mqtt.port, isHere: mqtt.isOnThisMachine))
                : Finding(.brokerReach, .failed, failure, remedies: remedies(mqtt, contact, brokers, trials)))
    }

    private static func remedies(
        _ mqtt: Settings.MQTT, _ contact: BrokerContact, _ brokers: [InstalledBroker],
        _ trials: AddressTrials
    ) -> [String] {
        let port = "check mqtt.port: a listener without encryption cannot be spoken to with it"
        return (mqtt.tls == nil ? [] : [port]) + placeRemedies(mqtt, contact, brokers, trials)
    }

    private static func placeRemedies(
        _ mqtt: Settings.MQTT, _ contact: BrokerContact, _ brokers: [InstalledBroker],
        _ trials: AddressTrials
    ) -> [String] {
        guard mqtt.isOnThisMachine else {
            return trials.hosts(for: mqtt.host).map { "nc -vz \($0) \(mqtt.port)" } + [
                "check mqtt.host and mqtt.port, and the broker's listener and firewall"
            ]
        }
        guard case .failed(MQTTError.Code.unreachable.name, _) = contact else {
            return ["sudo ss -ltnp 'sport = :\(mqtt.port)'", "look at the log of the program that has this port"]
        }
        guard !brokers.isEmpty else {
            return ["sudo apt install mosquitto", "sudo systemctl enable --now mosquitto"]
        }
        return brokers.flatMap(\.remedies) + [
            "check mqtt.port, and the port on which the broker listens: sudo ss -ltnp"
        ]
    }
}

/// The addresses of a broker's name that were tried.
struct AddressTrials: Hashable, Sendable {
    /// Those at which the connection failed, each with the error.
    var failures: [MQTTAddressFailure] = []
    /// The last one that was tried; nil if the name has no address.
    var last: String?

    /// The addresses of a connection at last; empty if it is the only one that was tried.
    var text: String {
        guard let last, !failures.isEmpty else { return "" }
        let failed = failures.map { "\($0.address) (\($0.error.text))" }.joined(separator: ", ")
        return ", at \(last); no connection to \(failed)"
    }

    /// The places to probe after a failure: each address of a name with several.
    func hosts(for name: String) -> [String] {
        failures.count > 1 ? failures.map(\.address) : [name]
    }
}

extension Settings.MQTT {
    /// Whether the host is this machine.
    var isOnThisMachine: Bool {
        ["localhost", "::1", "ip6-localhost"].contains(host) || host.hasPrefix("127.")
    }
}

/// Checks the encryption of the connection.
enum BrokerTLSCheck {
    /// Reports whether the connection is encrypted, or the error of TLS.
    static func finding(_ mqtt: Settings.MQTT, _ contact: BrokerContact) -> Finding {
        contact.finding(
            .brokerTLS, .tls,
            passed: passed(mqtt),
            failed: Finding(.brokerTLS, .failed, contact.failureText, remedies: remedies(mqtt, contact)))
    }

    private static func passed(_ mqtt: Settings.MQTT) -> Finding {
        if let tls = mqtt.tls {
            return tls.isInsecure
                ? Finding(
                    .brokerTLS, .warning, "encrypted, but the broker's certificate does not have to match its name",
                    remedies: ["set mqtt.tls.insecure to false"])
                : Finding(.brokerTLS, .ok, "encrypted, and the broker's certificate is valid")
        }
        if mqtt.isOnThisMachine {
            return Finding(.brokerTLS, .ok, "none, and none needed: the broker is on this machine")
        }
        guard mqtt.password != nil else { return Finding(.brokerTLS, .ok, "none is configured") }
        return Finding(
            .brokerTLS, .warning, "none: the password can be read on the network",
            remedies: ["set mqtt.tls and a listener with certificates at the broker"])
    }

    /// A command that shows the certificate, then what to change.
    private static func remedies(_ mqtt: Settings.MQTT, _ contact: BrokerContact) -> [String] {
        let authority = mqtt.tls?.authorityFile.map { " -CAfile \($0)" } ?? ""
        let show = "openssl s_client -connect \(mqtt.host):\(mqtt.port)\(authority) < /dev/null"
        let part = "\(show) 2> /dev/null | openssl x509 -noout"
        switch contact.failureOfEncryption {
        case .certificateUntrusted:
            return [
                "\(part) -issuer",
                "set mqtt.tls.ca_file to the certificate of that issuer"
                    + (mqtt.tls?.authorityFile.map { "; now it is \($0)" } ?? "; now it is the system's store"),
            ]
        case .certificateName:
            let kind = mqtt.host.isAddress ? "IP Address" : "DNS"
            return [
                "\(part) -subject -ext subjectAltName",
                "set mqtt.host to one of these names instead of \(mqtt.host)",
                "or renew the certificate with \(kind):\(mqtt.host) in subjectAltName: a common name (CN) does not count",
            ]
        case .certificateExpired:
            return ["\(part) -dates; date -u", "renew the certificate at the broker: sudo systemctl reload mosquitto"]
        case .clientCertificate:
            return ["set mqtt.tls.certificate_file and mqtt.tls.key_file to a certificate that the broker knows"]
        default:
            return [
                show, "check mqtt.port: a listener without encryption cannot be spoken to with it",
                "set mqtt.tls.certificate_file and mqtt.tls.key_file if the broker wants a client certificate",
            ]
        }
    }
}

/// Checks that the broker accepts user name and password.
enum BrokerLoginCheck {
    /// Reports the user name.
    static func finding(_ mqtt: Settings.MQTT, _ contact: BrokerContact) -> Finding {
        let user = mqtt.username.map { "as \($0)" } ?? "without a user name"
        return contact.finding(
            .brokerLogin, .login,
            passed: Finding(.brokerLogin, .ok, "accepted \(user)"),
            failed: Finding(
                .brokerLogin, .failed, "refused \(user): \(contact.failureText)",
                remedies: [
                    "sudo mosquitto_passwd /etc/mosquitto/passwd \(mqtt.username ?? "bridge")",
                    "sudo systemctl restart mosquitto", "check mqtt.username and mqtt.password_file",
                ]))
    }
}

/// Checks the version of MQTT.
enum BrokerVersionCheck {
    /// Reports the version, and what MQTT 3.1.1 lacks.
    static func finding(_ wanted: Settings.MQTT.Version, _ contact: BrokerContact) -> Finding {
        contact.finding(
            .brokerVersion, .version,
            passed: passed(wanted, contact), failed: failed(wanted, contact))
    }

    private static func failed(_ wanted: Settings.MQTT.Version, _ contact: BrokerContact) -> Finding {
        if case .failed(MQTTError.Code.sessionRefused.name, let text) = contact {
            return Finding(.sessionRefused(text))
        }
        return Finding(
            .brokerVersion, .failed, "the broker does not speak \(wanted.rawValue)",
            remedies: ["set mqtt.version to auto"])
    }

    private static func passed(_ wanted: Settings.MQTT.Version, _ contact: BrokerContact) -> Finding {
        guard case .accepted(.v311) = contact else { return Finding(.brokerVersion, .ok, "MQTT 5") }
        guard wanted == .automatic else { return Finding(.brokerVersion, .ok, "MQTT 3.1.1, as configured") }
        return Finding(
            .brokerVersion, .warning, "MQTT 3.1.1: old gestures do not expire at the broker",
            remedies: ["use a broker that speaks MQTT 5, such as mosquitto 1.6 or later"])
    }
}
