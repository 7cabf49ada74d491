import JSON
import Testing

@testable import HomeAssistant

@Suite("Chords in Home Assistant")
struct ChordAnnouncementTests {
    /// The documents with chords: one of all tags, and one of another tag.
    private static func documents(
        _ form: HomeAssistantConfiguration.Form, _ chords: [DiscoveredChord]
    ) -> DiscoveryDocuments {
        var discovery = HomeAssistantDiscovery.attic(form)
        discovery.adopt(
            Vocabulary(
                gestures: ["cover"], unknownGesture: "unknown", chords: chords, touchModes: Choices([]), effects: [],
                pairingStates: []))
        return discovery.documents
    }

    private static let all = DiscoveredChord(name: "tap_in")
    private static let other = DiscoveredChord(name: "in_out", tags: ["0001"])

    @Test("are event types and triggers of the tags that can make them")
    func announcement() throws {
        let message = try #require(
            Self.documents(.device, [Self.all, Self.other]).announcement(of: .sleeve).first)
        let text = message.text
        #expect(text.contains(#""event_types":["cover","tap_in","unknown"]"#))
        #expect(text.contains(#""subtype":"tap_in""#))
        #expect(!text.contains("in_out"))
    }

    @Test("that are removed leave no trigger in the device form")
    func removedFromDevice() {
        let (old, new) = (Self.documents(.device, [Self.all, Self.other]), Self.documents(.device, []))
        let texts = new.announcement(of: .sleeve, removing: old.components(ofTag: "003R")).map(\.text)
        #expect(texts.count == 2)
        #expect(texts.first?.contains(#""trigger_tap_in":{"platform":"device_automation"}"#) == true)
        #expect(texts.last == new.announcement(of: .sleeve).first?.text)
        #expect(old.announcement(of: .sleeve, removing: new.components(ofTag: "003R")) == old.announcement(of: .sleeve))
    }

    @Test("that are removed leave no trigger in the single form")
    func removedFromSingle() {
        let (old, new) = (Self.documents(.single, [Self.all]), Self.documents(.single, []))
        let messages = new.announcement(of: .sleeve, removing: old.components(ofTag: "003R"))
        let topic = "homeassistant/device_automation/jacquard_tag_003R/trigger_tap_in/config"
        #expect(messages.first == DiscoveryMessage(topic: topic, payload: []))
        #expect(Array(messages.dropFirst()) == new.announcement(of: .sleeve))
        #expect(old.withdrawal(ofTag: "003R").contains { $0.topic == topic })
    }

    @Test("of an earlier run leave no trigger either", arguments: HomeAssistantConfiguration.Form.allCases)
    func earlierRun(form: HomeAssistantConfiguration.Form) {
        let old = Self.documents(form, [Self.all]).announcement(of: .sleeve)
        var discovery = HomeAssistantDiscovery.attic(form)
        discovery.life.brokerConnected(at: .zero)
        let foreign = #"{"components":{"trigger_x":{"platform":"device_automation"}},"origin":{"name":"other"}}"#
        let device = "homeassistant/device/jacquard_tag_003R/config"
        _ = discovery.received(device, Array(foreign.utf8), isRetained: true, at: .zero)
        for message in old {
            _ = discovery.received(message.topic, message.payload, isRetained: true, at: .zero)
        }
        let messages = discovery.firstAnnouncement(of: .sleeve)
        let removal = messages.dropLast(discovery.documents.announcement(of: .sleeve).count)
        #expect(removal.count == 1)
        switch form {
        case .device:
            #expect(removal.first?.text.contains(#""trigger_tap_in":{"platform":"device_automation"}"#) == true)
            #expect(removal.first?.text.contains("trigger_x") == false)
        case .single:
            let topic = "homeassistant/device_automation/jacquard_tag_003R/trigger_tap_in/config"
            #expect(removal == [DiscoveryMessage(topic: topic, payload: [])])
        }
    }
}
