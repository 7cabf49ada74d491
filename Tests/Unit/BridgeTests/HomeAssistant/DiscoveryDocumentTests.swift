import Foundation
import HomeAssistant
import JSON
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Home Assistant discovery documents")
struct DiscoveryDocumentTests {
    private let tag = Scene.announced().components()
    private let bridge = Scene.announced().components(of: "jacquard_bridge_attic")

    @Test("has the words of the topic as event types, each with a label")
    func gestureTypes() {
        let types = tag["gesture"]?["event_types"]?.list.compactMap(\.text) ?? []
        #expect(types == GestureName.allCases.map(\.rawValue))
        let template = tag["gesture"]?["value_template"]?.text ?? ""
        let labels = ["Double tap", "Brush in", "Brush out", "Cover", "Brush up", "Brush down", "Unknown gesture"]
        for (type, label) in zip(types, labels) {
            #expect(template.contains("'\(type)': '\(label)'"))
        }
        #expect(template.contains("else 'unknown' %}"))
    }

    @Test("explains the touch modes, and maps the options to the bridge's values")
    func touchModeOptions() {
        let options = tag["touch_mode"]?["options"]?.list.compactMap(\.text) ?? []
        #expect(options == ["Gestures", "Touch data (gestures pause)"])
        for (word, option) in zip(TouchMode.allCases.map(\.word), options) {
            #expect(tag["touch_mode"]?["value_template"]?.text?.contains("'\(word)': '\(option)'") == true)
            #expect(tag["touch_mode"]?["command_template"]?.text?.contains("'\(option)': '\(word)'") == true)
        }
    }

    @Test("reads state topics that the bridge publishes")
    func stateTopics() {
        let scene = Scene.announced()
        scene.report(.gesture(.doubleTap))
        scene.connect()
        scene.send("tag/003R/notify/set", "doorbell")
        scene.answer()
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

    @Test("reads keys that are always present")
    func templates() throws {
        let scene = Scene.announced()
        let pattern = #/value_json\.([a-z_]+)/#
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first }) {
            guard let template = item["value_template"]?.text, let topic = item["state_topic"]?.text,
                let fact = scene.publications.last(where: { $0.topic == topic && $0.message.isRetained }),
                case .object(let document)? = JSONValue(parsing: fact.payload)
            else { continue }
            for match in template.matches(of: pattern) {
                #expect(document.keys.contains(String(match.1)), "\(key): \(match.1) in \(fact.text)")
            }
        }
    }

    @Test("sends commands that the bridge accepts")
    func commands() throws {
        for (key, item) in tag {
            guard let topic = item["command_topic"]?.text else { continue }
            let words = ["payload_press", "payload_on", "payload_off"].compactMap { item[$0]?.text }
            let values =
                (item["options"]?.list ?? [])
                + ["min", "max"].compactMap { item["platform"]?.text == "number" ? item[$0] : nil }
            let options = values.map { Self.payload(of: item["command_template"]?.text, $0) }
            let effects = (item["effect_list"]?.list ?? []).compactMap(\.text)
            let messages = key == "notify" ? [#"{"message":"doorbell"}"#, #"{"message":"success"}"#] : []
            let payloads = messages + words + options + effects.map { #"{"state":"ON","effect":"\#($0)"}"# }
            #expect(!payloads.isEmpty, "\(key)")
            for payload in payloads {
                let scene = Scene.connected()
                scene.receive(topic, payload)
                #expect(scene.lastError == nil, "\(key) \(payload)")
                #expect(
                    !scene.performed.isEmpty || !scene.actions.isEmpty || !scene.results.isEmpty, "\(key) \(payload)")
            }
        }
    }

    /// Returns what Home Assistant makes of an option or a number: by a template that looks it up, or that makes an object with it.
    private static func payload(of template: String?, _ value: JSONValue) -> String {
        let text = value.text ?? String(decoding: JSONText.bytes(of: value), as: UTF8.self)
        guard let template else { return text }
        if template.contains("[value]") {
            return template.components(separatedBy: "'\(text)': '").last?.prefix { $0 != "'" }.description ?? ""
        }
        let key = template.firstMatch(of: /'(\w+)': value\b/)?.1 ?? "value"
        return String(decoding: JSONText.bytes(of: [String(key): value]), as: UTF8.self)
    }

    @Test("lists the effects of the light's state")
    func effects() {
        #expect(
            tag["led"]?["effect_list"]?.list.compactMap(\.text)
                == ["solid", "breathe", "pulse", "blink", "double_blink", "triple_blink"])
        #expect(tag["led"]?["flash_time_short"] == .integer(1))
        #expect(tag["led"]?["transition"] == .bool(false))
    }

    @Test("are all in the article \"Home Assistant\"")
    func article() throws {
        let path = "../../../../Sources/Bridge/Bridge/Documentation.docc/HomeAssistant.md"
        let text = try String(contentsOf: URL(filePath: path, relativeTo: URL(filePath: #filePath)), encoding: .utf8)
        let shown = tag.merging(bridge) { first, _ in first }.values.filter { $0["enabled_by_default"] == nil }
        let words = shown.compactMap { $0["name"]?.text } + shown.compactMap { $0["subtype"]?.text.map { "`\($0)`" } }
        // Not asked in the expectation, which would print the article.
        let missing = words.filter { !text.contains($0) }
        #expect(missing.isEmpty, "HomeAssistant.md lacks these")
    }
}
