import Configuration
import Text

/// Whether Home Assistant is at the same broker.
enum HomeAssistantCheck {
    /// Says what it retains on its status topic.
    static func finding(_ homeAssistant: Settings.HomeAssistant, _ facts: BrokerFacts) -> Finding {
        guard homeAssistant.discovery else {
            return Finding(.homeAssistant, .skipped, "home_assistant.discovery is switched off")
        }
        guard case .accepted = facts.contact else {
            return Finding(.homeAssistant, .skipped, "the broker could not be reached or does not accept the login")
        }
        switch facts.homeAssistantStatus {
        case "online": return Finding(.homeAssistant, .ok, "online")
        case nil:
            // Home Assistant publishes its birth message without the retain flag by default, so this is no fault.
            return Finding(
                .homeAssistant, .ok,
                "\(homeAssistant.statusTopic) has no retained message, which is Home Assistant's default")
        case let status?:
            return Finding(
                .homeAssistant, .warning,
                "\(homeAssistant.statusTopic) is \(DisplayText.quoted(status)), expected \"online\"",
                remedies: ["start Home Assistant, or check its connection to the broker"])
        }
    }
}
