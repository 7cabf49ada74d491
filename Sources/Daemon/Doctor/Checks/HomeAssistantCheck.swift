/// Whether Home Assistant is at the same broker.
enum HomeAssistantCheck {
    /// Says what it retains on its status topic.
    static func finding(_ homeAssistant: Configuration.HomeAssistant, _ facts: BrokerFacts) -> Finding {
        guard homeAssistant.discovery else {
            return Finding(.homeAssistant, .skipped, "home_assistant.discovery is switched off")
        }
        guard case .accepted = facts.contact else {
            return Finding(.homeAssistant, .skipped, "the broker was not asked that far")
        }
        switch facts.homeAssistantStatus {
        case "online": return Finding(.homeAssistant, .ok, "online")
        case nil:
            // Home Assistant publishes its birth message without the retain flag unless it is told otherwise.
            return Finding(
                .homeAssistant, .warning,
                "nothing is retained on \(homeAssistant.statusTopic): not known whether it is there",
                remedies: [
                    "in Home Assistant: Settings, Devices & services, MQTT, Configure: retain the birth message",
                    "mosquitto_sub -v -t \(homeAssistant.statusTopic), then restart Home Assistant",
                ])
        case let status?:
            return Finding(
                .homeAssistant, .warning, "its status is \(DisplayText.quoted(status))",
                remedies: ["start Home Assistant, or check its connection to the broker"])
        }
    }
}
