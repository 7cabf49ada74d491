/// Whether the connection to the broker is as safe as it is meant to be.
enum BrokerTLSCheck {
    /// Says what protects the connection, and what is wrong with it.
    static func finding(_ mqtt: Configuration.MQTT, _ contact: BrokerContact) -> Finding {
        contact.finding(
            .brokerTLS, .tls,
            passed: passed(mqtt),
            failed: Finding(.brokerTLS, .failed, contact.failureText, remedies: remedies(mqtt)))
    }

    private static func passed(_ mqtt: Configuration.MQTT) -> Finding {
        if let tls = mqtt.tls {
            return tls.isInsecure
                ? Finding(
                    .brokerTLS, .warning, "encrypted, but whoever answers is taken for the broker",
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

    private static func remedies(_ mqtt: Configuration.MQTT) -> [String] {
        let authority = mqtt.tls?.authorityFile.map { " -CAfile \($0)" } ?? ""
        return [
            "openssl s_client -connect \(mqtt.host):\(mqtt.port)\(authority) < /dev/null",
            "check mqtt.tls.ca_file, and that the certificate names \(mqtt.host)",
        ]
    }
}
