import JSON
import Testing

@testable import HomeAssistant

@Suite("Settings of the announcements")
struct SettingsTests {
    private func words(hasButtons: Bool) -> Vocabulary {
        Vocabulary(
            gestures: ["cover"], unknownGesture: "unknown", touchModes: Choices([]), effects: [], pairingStates: [],
            hasButtons: hasButtons)
    }

    @Test("gestures are presses of a button only if it is set")
    func buttons() {
        var discovery = HomeAssistantDiscovery.attic(.device)
        discovery.adopt(words(hasButtons: false))
        #expect(discovery.announcement(of: .sleeve)[0].entities["button"] == nil)
        discovery.adopt(words(hasButtons: true))
        let button = discovery.announcement(of: .sleeve)[0].entities["button"]
        #expect(button?["platform"]?.string == "event")
        #expect(button?["device_class"]?.string == "button")
        #expect(button?["event_types"]?.strings == ["press_end", "multi_press_end"])
    }

    @Test(
        "the LED is one of the lights of its area only if it is set",
        arguments: HomeAssistantConfiguration.Form.allCases)
    func areaLight(form: HomeAssistantConfiguration.Form) {
        func category(_ isAreaLight: Bool) -> JSONValue? {
            var discovery = HomeAssistantDiscovery.attic(form)
            discovery.adopt(
                Vocabulary(
                    gestures: [], unknownGesture: "unknown", touchModes: Choices([]), effects: ["solid"],
                    pairingStates: [],
                    isAreaLight: isAreaLight))
            let messages = discovery.announcement(of: .sleeve)
            let light = form == .device ? messages.first : messages.first { $0.topic.contains("/light/") }
            #expect(light != nil)
            return form == .device ? light?.entities["led"]?["entity_category"] : light?.document["entity_category"]
        }
        #expect(category(false) == .string("config"))
        #expect(category(true) == nil)
    }

    @Test("the bridge's device links to the web page if there is one")
    func page() {
        func link(_ page: String?) -> JSONValue? {
            let bridge = DiscoveredBridge(
                instance: "attic", topic: "jacquard/bridge/attic", version: "0.1.0", page: page)
            let discovery = HomeAssistantDiscovery(HomeAssistantConfiguration(), bridge, .sample)
            return discovery.documents.announcementOfBridge[0].document["device"]?["configuration_url"]
        }
        #expect(link(nil) == nil)
        #expect(link("http://192.168.1.5:8377/") == .string("http://192.168.1.5:8377/"))
    }
}
