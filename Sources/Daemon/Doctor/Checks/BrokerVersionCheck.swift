import Configuration
import MQTT

/// Which version of MQTT the broker speaks.
enum BrokerVersionCheck {
    /// Says which, and what is missing in the older one.
    static func finding(_ wanted: Settings.MQTT.Version, _ contact: BrokerContact) -> Finding {
        contact.finding(
            .brokerVersion, .version,
            passed: passed(wanted, contact),
            failed: Finding(
                .brokerVersion, .failed, "the broker does not speak \(wanted.rawValue)",
                remedies: ["set mqtt.version to auto"]))
    }

    private static func passed(_ wanted: Settings.MQTT.Version, _ contact: BrokerContact) -> Finding {
        guard case .accepted(.v311) = contact else { return Finding(.brokerVersion, .ok, "MQTT 5") }
        guard wanted == .automatic else { return Finding(.brokerVersion, .ok, "MQTT 3.1.1, as configured") }
        return Finding(
            .brokerVersion, .warning, "MQTT 3.1.1: old gestures do not expire at the broker",
            remedies: ["use a broker that speaks MQTT 5, such as mosquitto 1.6 or later"])
    }
}
