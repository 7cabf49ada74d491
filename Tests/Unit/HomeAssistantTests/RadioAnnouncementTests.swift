import Testing

@testable import HomeAssistant

@Suite("Radios in Home Assistant")
struct RadioAnnouncementTests {
    private static func text(_ hasRadios: Bool) -> String {
        var discovery = HomeAssistantDiscovery.attic(.device)
        discovery.adopt(
            Vocabulary(
                gestures: ["cover"], unknownGesture: "unknown", touchModes: Choices([]), effects: [], pairingStates: [],
                hasRadios: hasRadios))
        return discovery.documents.announcement(of: .sleeve).map(\.text).joined()
    }

    @Test("are a sensor of each tag, and an attribute of its connection, only if there are several")
    func sensor() {
        #expect(Self.text(true).contains(#""name":"Radio""#))
        #expect(Self.text(true).contains("'radio': value_json.radio | default(none)"))
        #expect(!Self.text(false).lowercased().contains("radio"))
    }
}
