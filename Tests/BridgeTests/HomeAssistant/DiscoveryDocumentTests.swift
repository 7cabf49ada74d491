import Foundation
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("Home Assistant discovery documents")
struct DiscoveryDocumentTests {
    private let tag = Scene.announced().components()
    private let bridge = Scene.announced().components(of: "jacquard_bridge_attic")

    @Test("are these entities and triggers of a tag")
    func tagItems() {
        let platforms = tag.compactMapValues { $0["platform"]?.text }
        let haptics = [
            "short", "long", "stop", "sine_increase", "sine_decrease", "linear_increase", "linear_decrease",
            "parabolic_increase", "parabolic_decrease",
        ]
        let triggers = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]
        let others = [
            "connection": "binary_sensor", "battery": "sensor", "charging": "binary_sensor",
            "attached": "binary_sensor", "gear": "sensor", "gesture": "event", "led": "light",
            "touch_mode": "select", "connect": "switch", "rssi": "sensor", "firmware": "sensor",
        ]
        let expected = others.merging(haptics.map { ("haptic_" + $0, "button") }) { first, _ in first }
            .merging(triggers.map { ("trigger_" + $0, "device_automation") }) { first, _ in first }
        #expect(platforms == expected)
    }

    @Test("are these entities of the bridge")
    func bridgeItems() {
        #expect(
            bridge.compactMapValues { $0["platform"]?.text } == [
                "connection": "binary_sensor", "scan": "button", "found": "sensor", "pair_serial": "text",
                "pair": "button", "pairing": "sensor", "connected_tags": "sensor", "problem": "binary_sensor",
            ])
    }

    @Test("is QoS 1 in each item, since early releases hand none down")
    func qualityOfService() {
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first }) {
            #expect(item["qos"] == .integer(1), "\(key)")
        }
    }

    @Test("is an id that no other entity has, and no trigger")
    func uniqueIDs() {
        let ids = tag.compactMap { $1["unique_id"]?.text } + bridge.compactMap { $1["unique_id"]?.text }
        #expect(Set(ids).count == ids.count)
        for (key, item) in tag {
            #expect((item["unique_id"]?.text == "jacquard_tag_003R_\(key)") == !key.hasPrefix("trigger_"))
        }
    }

    @Test("is a name that does not repeat the device's")
    func names() {
        for (key, item) in tag where !key.hasPrefix("trigger_") {
            #expect(item["name"]?.text?.contains("sleeve") == false, "\(key)")
        }
    }

    @Test("is that what keeps its last value, gestures and the connection need the bridge, and the rest the tag too")
    func availability() {
        for (key, item) in tag where !key.hasPrefix("trigger_") {
            let topics = (item["availability"]?.list ?? []).compactMap { $0["topic"]?.text }
            let needsBridgeOnly = ["gesture", "connection", "connect", "battery", "firmware", "gear"].contains(key)
            #expect(topics.first == "jacquard/bridge/attic/state")
            #expect(topics.dropFirst().first == (needsBridgeOnly ? nil : "jacquard/tag/003R/availability"))
            #expect(topics.contains("jacquard/tag/003R/gear") == (key.hasPrefix("haptic_") || key == "touch_mode"))
            #expect(item["availability_mode"]?.text == "all")
        }
        for (key, item) in tag where key.hasPrefix("trigger_") { #expect(item["availability"] == nil) }
        #expect(bridge["connection"]?["availability"] == nil)
    }

    @Test("gives each gesture a name for people, and maps every word that can come to it")
    func gestureNames() {
        let names = tag["gesture"]?["event_types"]?.list.compactMap(\.text) ?? []
        #expect(
            names == ["Double tap", "Brush in", "Brush out", "Cover", "Brush up", "Brush down", "Unknown gesture"])
        let template = tag["gesture"]?["value_template"]?.text ?? ""
        for (word, name) in zip(GestureName.allCases, names) {
            #expect(template.contains("'\(word.rawValue)': '\(name)'"))
        }
    }

    @Test("says in the touch mode that gestures pause, and maps the options to the bridge's words")
    func touchModeOptions() {
        let options = tag["touch_mode"]?["options"]?.list.compactMap(\.text) ?? []
        #expect(options == ["Gestures", "Touch data (gestures pause)"])
        for (word, option) in zip(TouchMode.allCases.map(\.word), options) {
            #expect(tag["touch_mode"]?["value_template"]?.text?.contains("'\(word)': '\(option)'") == true)
            #expect(tag["touch_mode"]?["command_template"]?.text?.contains("'\(option)': '\(word)'") == true)
        }
    }

    @Test("shows error, hint and next attempt as attributes of the connection")
    func connectionAttributes() {
        #expect(tag["connection"]?["json_attributes_topic"]?.text == "jacquard/tag/003R/connection")
        let template = tag["connection"]?["json_attributes_template"]?.text ?? ""
        for part in ["'error': value_json.error.text", "'hint': value_json.error.hint", "'retry': value_json.retry_at"]
        {
            #expect(template.contains(part))
        }
    }

    @Test("shows gear without a name by its product number")
    func unnamedGear() {
        #expect(tag["gear"]?["value_template"]?.text?.contains("value_json.product or value_json.product_id") == true)
    }

    @Test("pairs with a text and a button on the bridge's device")
    func pairing() {
        #expect(bridge["pair_serial"]?["command_topic"]?.text == "jacquard/bridge/attic/request/pair_serial")
        #expect(bridge["pair_serial"]?["state_topic"]?.text == "jacquard/bridge/attic/pairing")
        #expect(bridge["pair"]?["command_topic"]?.text == "jacquard/bridge/attic/request/pair")
        #expect(bridge["pair"]?["payload_press"]?.text == "{}")
        #expect(bridge["pairing"]?["device_class"]?.text == "enum")
        #expect(bridge["pairing"]?["options"]?.list.count == 7)
    }

    @Test("keeps platform and unique id of every entity of version 0.1.0, so that an update leaves nothing behind")
    func unchangedIDs() {
        let haptics = [
            "short", "long", "stop", "sine_increase", "sine_decrease", "linear_increase", "linear_decrease",
            "parabolic_increase", "parabolic_decrease",
        ]
        let ofTag =
            [
                ("connection", "binary_sensor"), ("battery", "sensor"), ("charging", "binary_sensor"),
                ("attached", "binary_sensor"), ("gear", "sensor"), ("gesture", "event"), ("led", "light"),
                ("touch_mode", "select"), ("connect", "switch"), ("rssi", "sensor"), ("firmware", "sensor"),
            ] + haptics.map { ("haptic_" + $0, "button") }
        let ofBridge = [
            ("connection", "binary_sensor"), ("scan", "button"), ("connected_tags", "sensor"),
            ("problem", "binary_sensor"),
        ]
        for (items, objectID, old) in [(tag, "jacquard_tag_003R", ofTag), (bridge, "jacquard_bridge_attic", ofBridge)] {
            for (key, platform) in old {
                #expect(items[key]?["platform"]?.text == platform, "\(key)")
                #expect(items[key]?["unique_id"]?.text == "\(objectID)_\(key)")
            }
        }
        for word in ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"] {
            #expect(tag["trigger_" + word]?["subtype"]?.text == word)
            #expect(tag["trigger_" + word]?["payload"]?.text == word)
            #expect(tag["trigger_" + word]?["value_template"]?.text == "{{ value_json.event_type }}")
        }
    }

    @Test("is a topic of states that the bridge publishes, for every entity that has one")
    func stateTopics() {
        var scene = Scene.announced()
        scene.tell(.gesture(.doubleTap))
        let published = Set(scene.publications.map(\.topic))
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first }) {
            for name in ["state_topic", "json_attributes_topic", "topic"] {
                if let topic = item[name]?.text { #expect(published.contains(topic), "\(key) \(name)") }
            }
            for source in item["availability"]?.list ?? [] {
                #expect(source["topic"]?.text.map(published.contains) == true, "\(key)")
            }
        }
    }

    @Test("is a key that is always there, in every template")
    func templates() throws {
        let scene = Scene.announced()
        let pattern = #/value_json\.([a-z_]+)/#
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first }) {
            guard let template = item["value_template"]?.text, let topic = item["state_topic"]?.text,
                let fact = scene.publications.last(where: { $0.topic == topic && $0.isRetained }),
                case .object(let document)? = JSONValue(parsing: fact.payload)
            else { continue }
            for match in template.matches(of: pattern) {
                #expect(document.keys.contains(String(match.1)), "\(key): \(match.1) in \(fact.text)")
            }
        }
    }

    @Test("are commands that the bridge understands")
    func commands() throws {
        for (key, item) in tag {
            guard let topic = item["command_topic"]?.text else { continue }
            let commands = item["command_template"]?.text ?? ""
            let words = ["payload_press", "payload_on", "payload_off"].compactMap { item[$0]?.text }
            let options = (item["options"]?.list ?? []).compactMap(\.text).map { option in
                commands.components(separatedBy: "'\(option)': '").last?.prefix { $0 != "'" }.description ?? ""
            }
            let effects = (item["effect_list"]?.list ?? []).compactMap(\.text)
            let payloads = words + options + effects.map { #"{"state":"ON","effect":"\#($0)"}"# }
            #expect(!payloads.isEmpty, "\(key)")
            for payload in payloads {
                var scene = Scene.connected()
                scene.hear(topic, payload)
                #expect(scene.lastError == nil, "\(key) \(payload)")
                #expect(
                    !scene.performed.isEmpty || !scene.actions.isEmpty || !scene.results.isEmpty, "\(key) \(payload)")
            }
        }
    }

    @Test("are effects that the light's state may have")
    func effects() {
        #expect(
            tag["led"]?["effect_list"]?.list.compactMap(\.text)
                == ["solid", "breathe", "pulse", "blink", "double_blink", "triple_blink"])
        #expect(tag["led"]?["flash_time_short"] == .integer(1))
        #expect(tag["led"]?["transition"] == .bool(false))
    }

    @Test("are all in the article \"Home Assistant\"")
    func article() throws {
        let path = "../../../Sources/Bridge/Documentation.docc/HomeAssistant.md"
        let text = try String(contentsOf: URL(filePath: path, relativeTo: URL(filePath: #filePath)), encoding: .utf8)
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first })
        where item["enabled_by_default"] == nil {
            if let name = item["name"]?.text { #expect(text.contains(name), "\(key)") }
            if let word = item["subtype"]?.text { #expect(text.contains("`\(word)`"), "\(key)") }
        }
    }

    @Test("has the category, the classes and the unit that it is shown with")
    func classes() {
        typealias Classes = [String: String]
        func classes(_ item: [String: JSONValue]) -> Classes {
            item.filter { ["entity_category", "device_class", "state_class", "unit_of_measurement"].contains($0.key) }
                .compactMapValues(\.text)
        }
        let plain: Classes = ["entity_category": "diagnostic"]
        let config: Classes = ["entity_category": "config"]
        let measurement: Classes = ["entity_category": "diagnostic", "state_class": "measurement"]
        func diagnostic(_ name: String) -> Classes { ["entity_category": "diagnostic", "device_class": name] }
        let ofTag: [String: Classes] = [
            "connection": diagnostic("connectivity"), "charging": diagnostic("battery_charging"),
            "battery": measurement.merging(["device_class": "battery", "unit_of_measurement": "%"]) { $1 },
            "rssi": measurement.merging(["device_class": "signal_strength", "unit_of_measurement": "dBm"]) { $1 },
            "firmware": plain, "touch_mode": config, "connect": config,
        ]
        let ofBridge: [String: Classes] = [
            "connection": diagnostic("connectivity"), "problem": diagnostic("problem"), "connected_tags": measurement,
            "pairing": ["device_class": "enum"], "found": ["state_class": "measurement"],
        ]
        for (key, item) in tag { #expect(classes(item) == ofTag[key] ?? [:], "\(key)") }
        for (key, item) in bridge { #expect(classes(item) == ofBridge[key] ?? [:], "\(key)") }
    }
}
