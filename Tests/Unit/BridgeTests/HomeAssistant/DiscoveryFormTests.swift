import HomeAssistant
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Forms of discovery")
struct DiscoveryFormTests {
    @Test("is one message for each device, the bridge's first, in the device form")
    func deviceForm() {
        #expect(
            Scene.announced().announcements.map(\.topic) == [
                "homeassistant/device/jacquard_bridge_attic/config", "homeassistant/device/jacquard_tag_003R/config",
            ])
    }

    @Test("is one message for each entity in the single form, named as in the device form")
    func singleForm() throws {
        // Home Assistant 2024.3 reports a platform that it does not know as an error.
        let components = Scene.announced().components().filter { $0.key != "notify" }
        let single = Scene.announced(.single).announcements.filter { $0.topic.contains("/jacquard_tag_003R/") }
        #expect(single.count == components.count)
        for (key, component) in components {
            let platform = try #require(component["platform"]?.text)
            let topic = "homeassistant/\(platform)/jacquard_tag_003R/\(key)/config"
            var document = try #require(single.first { $0.topic == topic }).document
            #expect(document.removeValue(forKey: "device")?["identifiers"]?.list == [.string("jacquard_tag_003R")])
            #expect(document.removeValue(forKey: "origin")?["name"] == .string("jacquard2mqtt"))
            #expect(document.removeValue(forKey: "color_mode") == (key == "led" ? .bool(true) : nil))
            if key == "battery_forecast" {
                #expect(document.removeValue(forKey: "device_class")?.text == nil)
                #expect(
                    document.removeValue(forKey: "value_template")
                        == .string("{{ value_json.empty | default(none) or 'unknown' }}"))
                let shared = component.filter { !["platform", "device_class", "value_template"].contains($0.key) }
                #expect(document == shared)
                continue
            }
            #expect(document == component.filter { $0.key != "platform" }, "\(key)")
        }
    }

    @Test("links a tag to the bridge, with no key in a device that any release does not know")
    func device() throws {
        let scene = Scene.announced()
        scene.report(.information(.tag))
        let document = try #require(scene.announcements.last).document
        #expect(
            document["device"]
                == .object([
                    "identifiers": .array([.string("jacquard_tag_003R")]), "name": .string("Left sleeve"),
                    "manufacturer": .string("Google"), "model": .string("Jacquard Tag"),
                    "serial_number": .string("003R"), "sw_version": .string("1.2.3"),
                    "via_device": .string("jacquard_bridge_attic"),
                ]))
        #expect(document["origin"] == .object(["name": .string("jacquard2mqtt"), "sw_version": .string("0.1.0")]))
    }

    @Test("is the same bytes for the same facts")
    func stability() {
        #expect(
            Scene.announced(.single).publications.first { $0.topic.hasSuffix("/battery/config") }?.text == #"""
                {"availability":[{"topic":"jacquard/bridge/attic/state"}],"availability_mode":"all","device":{\#
                "identifiers":["jacquard_tag_003R"],"manufacturer":"Google","model":"Jacquard Tag",\#
                "name":"Left sleeve","serial_number":"003R","via_device":"jacquard_bridge_attic"},\#
                "device_class":"battery","entity_category":"diagnostic","name":"Battery",\#
                "origin":{"name":"jacquard2mqtt","sw_version":"0.1.0"},"qos":1,"state_class":"measurement",\#
                "state_topic":"jacquard/tag/003R/battery","unique_id":"jacquard_tag_003R_battery",\#
                "unit_of_measurement":"%","value_template":"{{ value_json.level | default(none) }}"}
                """#)
        #expect(
            Scene.announced(.single).publications.first { $0.topic.hasSuffix("/trigger_cover/config") }?.text == #"""
                {"automation_type":"trigger","device":{\#
                "identifiers":["jacquard_tag_003R"],"manufacturer":"Google","model":"Jacquard Tag",\#
                "name":"Left sleeve","serial_number":"003R","via_device":"jacquard_bridge_attic"},\#
                "origin":{"name":"jacquard2mqtt","sw_version":"0.1.0"},"payload":"cover","qos":1,"subtype":"cover",\#
                "topic":"jacquard/tag/003R/gesture","type":"gesture","value_template":"{{ value_json.event_type }}"}
                """#)
        let messages = (0..<3).map { _ in Scene.announced().publications.map(\.line) }
        #expect(messages[0] == messages[1] && messages[1] == messages[2])
    }

    @Test("shows the configured name, else the tag's own, else its id")
    func names() {
        func shown(_ scene: Scene) -> JSONValue? { scene.announcements.last?.document["device"]?["name"] }
        let scene = Scene.announced(tags: [.tag003R])
        #expect(shown(scene) == .string("Jacquard 003R"))
        scene.handle(.sighting(.tag003R, TagSighting(name: "Sleeve")))
        #expect(shown(scene) == .string("Sleeve"))
        let named = Scene.announced()
        named.handle(.sighting(.tag003R, TagSighting(name: "Sleeve")))
        #expect(shown(named) == .string("Left sleeve"))
    }

    @Test("publishes nothing when discovery is off")
    func off() {
        let scene = Scene()
        scene.begin()
        scene.wait(.seconds(5))
        scene.receive("homeassistant/status", "online")
        scene.wait(.seconds(5))
        #expect(scene.publications.map(\.line).discoveryTopics == [])
    }
}
