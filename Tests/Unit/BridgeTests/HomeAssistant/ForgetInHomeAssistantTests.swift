import HomeAssistant
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Forgetting a tag in Home Assistant")
struct ForgetInHomeAssistantTests {
    @Test("is a button that is disabled until it is enabled, and has the id of its tag")
    func button() throws {
        let tags: [TagEntry] = [.sleeve, TagEntry(id: .known("left-1"), serial: "0004")]
        for form in HomeAssistantConfiguration.Form.allCases {
            let scene = Scene.announced(form, tags: tags)
            for tag in tags {
                let objectID = "jacquard_tag_\(tag.id)"
                let topic = "homeassistant/button/\(objectID)/forget/config"
                let item =
                    form == .device
                    ? scene.components(of: objectID)["forget"]
                    : scene.announcements.last { $0.topic == topic }?.document
                #expect(item?["payload_press"]?.text == tag.id.text)
                #expect(item?["command_topic"]?.text == "jacquard/bridge/attic/request/forget")
                #expect(item?["enabled_by_default"] == .bool(false))
                #expect(item?["entity_category"]?.text == "config")
            }
        }
    }

    @Test("removes the bond and the device")
    func pressed() {
        let scene = Scene.announced()
        scene.send("bridge/attic/request/forget", "003R")
        #expect(scene.takeActions().contains { if case .forget = $0 { true } else { false } })
        let lines = scene.done()
        #expect(lines.contains("homeassistant/device/jacquard_tag_003R/config "))
    }

    @Test("is permitted to the user of Home Assistant at the broker, and not to automations")
    func access() {
        let topic = "jacquard/bridge/attic/request/forget"
        #expect(AccessTable().mayPublish(.homeAssistant, to: topic))
        #expect(!AccessTable().mayPublish(.automation, to: topic))
    }
}
