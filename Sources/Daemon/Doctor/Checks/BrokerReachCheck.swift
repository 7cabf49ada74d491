import Configuration

/// Whether something answers at the broker's address.
enum BrokerReachCheck {
    /// Says where the broker was looked for, and what came of it.
    static func finding(_ mqtt: Settings.MQTT, _ contact: BrokerContact) -> Finding {
        let place = "\(mqtt.host), port \(mqtt.port)"
        return contact.finding(
            .brokerReach, .reach,
            passed: Finding(.brokerReach, .ok, "answers at \(place)"),
            failed: Finding(
                .brokerReach, .failed, "no connection to \(place): \(contact.failureText)", remedies: remedies(mqtt)))
    }

    private static func remedies(_ mqtt: Settings.MQTT) -> [String] {
        let port = "check mqtt.port: a listener without encryption cannot be spoken to with it"
        return (mqtt.tls == nil ? [] : [port]) + placeRemedies(mqtt)
    }

    private static func placeRemedies(_ mqtt: Settings.MQTT) -> [String] {
        mqtt.isOnThisMachine
            ? ["sudo apt install mosquitto", "sudo systemctl enable --now mosquitto"]
            : [
                "nc -vz \(mqtt.host) \(mqtt.port)",
                "check mqtt.host and mqtt.port, and the broker's listener and firewall",
            ]
    }
}

extension Settings.MQTT {
    /// Whether the broker is reached without a network.
    var isOnThisMachine: Bool {
        ["localhost", "::1", "ip6-localhost"].contains(host) || host.hasPrefix("127.")
    }
}
