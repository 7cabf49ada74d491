import Configuration
import MQTT

/// Whether the connection to the broker is as safe as it is meant to be.
enum BrokerTLSCheck {
    /// Says what protects the connection, and what is wrong with it.
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

    /// A command that shows the certificate in question, then what to do about it.
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
            return ["\(part) -ext subjectAltName", "set mqtt.host to one of these names instead of \(mqtt.host)"]
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
