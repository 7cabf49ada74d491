import HomeAssistant
import JacquardProtocol
import MQTTTypes
import TestSupport
import Testing

@testable import Bridge

@Suite("Recorded discovery messages")
struct RecordedDiscoveryTests {
    /// A configured name with characters that JSON escapes, an id with characters that discovery topics don't allow, and a
    /// tag without a name, which has never been attached to gear.
    private static let tags: [TagEntry] = [
        TagEntry(id: .tag003R, serial: "003R", name: #"Left "sleeve" \ ä"#),
        TagEntry(id: .known("ä b"), serial: "0004", connect: .onDemand),
        TagEntry(id: .known("0005"), serial: "0005"),
    ]

    /// The recorded `topic payload` lines of a form; an empty payload withdraws the topic.
    /// `UPDATE_GENERATED=1 swift test --filter RecordedDiscoveryTests` writes them.
    private static func recording(
        _ form: HomeAssistantConfiguration.Form, generated messages: [Publication]
    ) throws -> [String] {
        let path = "Tests/Unit/BridgeTests/HomeAssistant/recorded-\(form)-form.txt"
        let text = messages.map { $0.line + "\n" }.joined()
        return try GeneratedFile.text(of: path, generated: text).split(separator: "\n").map(String.init)
    }

    /// Every discovery message: the announcements, then the withdrawal of them all.
    private static func messages(_ form: HomeAssistantConfiguration.Form) -> [Publication] {
        let scene = Scene.announcing(form, tags: tags, bare: [.known("0005")])
        scene.report(.information(.tag))
        scene.handle(.sighting(scene.state.handle(of: .known("ä b")) ?? .none, TagSighting(name: "Jacket")))
        scene.begin()
        scene.wait(.seconds(2))
        var off = scene.state.configuration
        off.homeAssistant = nil
        scene.handle(.configurationChanged(off, isBrokerConnected: true))
        return scene.publications.filter { $0.topic.hasSuffix("/config") }
    }

    @Test(
        "are equal to those of this version, byte for byte and in order",
        arguments: [
            HomeAssistantConfiguration.Form.device, .single,
        ])
    func recorded(form: HomeAssistantConfiguration.Form) throws {
        let messages = Self.messages(form)
        let recording = try Self.recording(form, generated: messages)
        #expect(messages.allSatisfy { $0.message.isRetained && $0.message.qos == .atLeastOnce })
        let (lines, first) = (messages.map(\.line), zip(messages, recording).first { $0.line != $1 })
        #expect(first?.0.line == first?.1, "the first difference")
        #expect(lines.count == recording.count)
        let isCurrent = lines == recording
        #expect(isCurrent, GeneratedFile.remedy)
    }
}
