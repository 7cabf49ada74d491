import JSON
import Testing

@testable import HomeAssistant

@Suite("The announcement of a tag from a template")
struct AnnouncementTemplateTests {
    /// Noncharacters, which the templates use.
    private static let odd = String(decoding: [0xEF, 0xB7, 0x91, 0xEF, 0xB7, 0x94], as: UTF8.self)
    private static let tags = [
        DiscoveredTag.sleeve,
        DiscoveredTag(id: "0001", topic: "a/b/tag/0001", name: "", serial: "0001", firmware: "1.2.3"),
        DiscoveredTag(
            id: "left-1_x", topic: "jacquard/tag/left-1_x", name: "\"Ärmel\"\\\n\u{1}/😀" + odd, serial: "000Z",
            firmware: odd, features: .all),
        DiscoveredTag(id: "ä", topic: "jacquard/\"x\"/ä", name: "e\u{301}", serial: "", firmware: nil),
    ]
    private static let chords = [
        DiscoveredChord(name: "tap_in"), DiscoveredChord(name: "in_out", tags: ["0001"]),
    ]

    private static func discovery(_ form: HomeAssistantConfiguration.Form) -> HomeAssistantDiscovery {
        var discovery = HomeAssistantDiscovery.attic(form, prefix: "ha/x")
        discovery.adopt(
            Vocabulary(
                gestures: ["cover"], unknownGesture: "unknown", chords: Self.chords, touchModes: Choices(["gesture"]),
                effects: ["solid"], pairingStates: []))
        return discovery
    }

    @Test("has the bytes of the encoded documents", arguments: HomeAssistantConfiguration.Form.allCases)
    func bytes(form: HomeAssistantConfiguration.Form) {
        var discovery = Self.discovery(form)
        // Twice, because the template is kept.
        for tag in Self.tags + Self.tags {
            let announcement = discovery.announcement(of: tag)
            #expect(announcement == discovery.documents.announcement(of: tag))
            let topics = discovery.topics(ofTag: tag.id)
            #expect(topics == announcement.map(\.topic))
        }
    }

    @Test("has the chords that only some tags can make, also if there are more shapes than templates")
    func manyShapes() {
        var discovery = HomeAssistantDiscovery.attic()
        let ids = (0..<40).map(String.init)
        discovery.adopt(
            Vocabulary(
                gestures: [], unknownGesture: "unknown",
                chords: ids.map { DiscoveredChord(name: "c" + $0, tags: [$0]) },
                touchModes: Choices([]), effects: [], pairingStates: []))
        for id in ids + ids {
            let tag = DiscoveredTag(id: id, topic: id, name: id, serial: id, firmware: nil)
            let announcement = discovery.announcement(of: tag)
            #expect(announcement == discovery.documents.announcement(of: tag))
        }
    }

    @Test("follows changed words")
    func words() {
        var discovery = Self.discovery(.device)
        let old = discovery.announcement(of: .sleeve)
        discovery.adopt(.sample)
        let new = discovery.announcement(of: .sleeve)
        #expect(new != old && new == discovery.documents.announcement(of: .sleeve))
    }
}
