import JSON
import Testing

@testable import HomeAssistant

@Suite("The tables of entities")
struct EntityTableTests {
    private let tag = {
        var discovery = HomeAssistantDiscovery.attic()
        return discovery.announcement(of: .sleeve)[0].entities
    }()
    private let bridge = HomeAssistantDiscovery.attic().documents.announcementOfBridge[0].entities

    @Test("a tag has these entities and triggers")
    func tagItems() {
        let platforms = tag.compactMapValues { $0["platform"]?.string }
        let haptics = [
            "short", "long", "stop", "sine_increase", "sine_decrease", "linear_increase", "linear_decrease",
            "parabolic_increase", "parabolic_decrease",
        ]
        let triggers = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]
        let others = [
            "connection": "binary_sensor", "battery": "sensor", "charging": "binary_sensor",
            "battery_low": "binary_sensor", "forget": "button",
            "attached": "binary_sensor", "gear": "sensor", "gesture": "event", "led": "light",
            "touch_mode": "select", "connect": "switch", "rssi": "sensor", "firmware": "sensor",
            "battery_forecast": "sensor", "purr": "switch", "notify": "notify", "why_disconnected": "sensor",
            "status": "sensor",
            "last_gesture": "sensor", "signal": "select",
        ]
        let expected = others.merging(haptics.map { ("haptic_" + $0, "button") }) { first, _ in first }
            .merging(triggers.map { ("trigger_" + $0, "device_automation") }) { first, _ in first }
        #expect(platforms == expected)
    }

    @Test("the bridge has these entities")
    func bridgeItems() {
        #expect(
            bridge.compactMapValues { $0["platform"]?.string } == [
                "connection": "binary_sensor", "scan": "button", "found": "sensor", "pair_serial": "text",
                "pair": "button", "pairing": "sensor", "connected_tags": "sensor", "problem": "binary_sensor",
                "pair_tag": "select", "pairing_hint": "sensor", "problem_text": "sensor",
            ])
    }

    @Test("each entity has QoS 1, since early releases do not pass a shared one on")
    func qualityOfService() {
        for (key, item) in tag.merging(bridge, uniquingKeysWith: { first, _ in first }) {
            #expect(item["qos"] == .integer(1), "\(key)")
        }
    }

    @Test("each entity has a unique id, a trigger has none")
    func uniqueIDs() {
        let ids = tag.compactMap { $1["unique_id"]?.string } + bridge.compactMap { $1["unique_id"]?.string }
        #expect(Set(ids).count == ids.count)
        for (key, item) in tag {
            #expect((item["unique_id"]?.string == "jacquard_tag_003R_\(key)") == !key.hasPrefix("trigger_"))
        }
    }

    @Test("no name repeats the name of the device")
    func names() {
        for (key, item) in tag where !key.hasPrefix("trigger_") {
            #expect(item["name"]?.string?.contains("sleeve") == false, "\(key)")
        }
    }

    @Test("entities that keep a value, gestures and the connection need the bridge; all others need the tag too")
    func availability() {
        for (key, item) in tag where !key.hasPrefix("trigger_") {
            let topics = (item["availability"]?.elements ?? []).compactMap { $0["topic"]?.string }
            let needsBridgeOnly = [
                "gesture", "connection", "connect", "battery", "battery_low", "battery_forecast", "firmware", "gear",
                "forget",
                "attached", "why_disconnected", "status", "last_gesture",
            ].contains(key)
            #expect(topics.first == "jacquard/bridge/attic/state")
            #expect(topics.dropFirst().first == (needsBridgeOnly ? nil : "jacquard/tag/003R/availability"))
            #expect(topics.contains("jacquard/tag/003R/gear") == (key.hasPrefix("haptic_") || key == "touch_mode"))
            #expect(item["availability_mode"]?.string == "all")
        }
        for (key, item) in tag where key.hasPrefix("trigger_") { #expect(item["availability"] == nil) }
        #expect(bridge["connection"]?["availability"] == nil)
    }

    @Test("error, hint and next attempt are attributes of the connection")
    func connectionAttributes() {
        #expect(tag["connection"]?["json_attributes_topic"]?.string == "jacquard/tag/003R/connection")
        let template = tag["connection"]?["json_attributes_template"]?.string ?? ""
        for part in [
            "'error': value_json.error.text", "'hint': value_json.error.hint", "'retry': value_json.retry_at",
        ] {
            #expect(template.contains(part))
        }
    }

    @Test("a key that a document lacks has a default, so that no message makes a warning of a template")
    func defaults() {
        let all = HomeAssistantDiscovery.everything()
        for (key, item) in all where !key.hasPrefix("trigger_") && !["gesture", "button", "slide"].contains(key) {
            let templates =
                item.values.compactMap(\.string)
                + (item["availability"]?.elements ?? []).compactMap {
                    $0["value_template"]?.string
                }
            for template in templates {
                for part in template.split(separator: "value_json.").dropFirst() {
                    // A key of an object is read after the object was tested.
                    let rest = part.drop { $0.isLetter || $0 == "_" }
                    #expect(rest.hasPrefix(" | default(") || rest.hasPrefix(".text if ") || rest.hasPrefix(".hint if "))
                }
            }
        }
    }

    @Test("the status is one of a few words, with the reason as an attribute")
    func status() {
        #expect(tag["status"]?["options"]?.strings == ["Connected", "Disconnected by you"])
        #expect(
            tag["status"]?["value_template"]?.string?.contains("'disconnected_by_user': 'Disconnected by you'") == true)
        #expect(
            tag["status"]?["json_attributes_template"]?.string
                == "{{ {'why': value_json.why | default(none)} | tojson }}")
        #expect(tag["why_disconnected"]?["enabled_by_default"] == false)
    }

    @Test("the last gesture is in words, also one that the bridge does not know")
    func lastGesture() {
        let template = tag["last_gesture"]?["value_template"]?.string ?? ""
        let options = tag["last_gesture"]?["options"]?.strings ?? []
        #expect(options.first == "Double tap" && options.suffix(2) == ["Chord", "Unknown gesture"])
        #expect(template.contains("'double_tap': 'Double tap'") && template.contains("else 'Unknown gesture'"))
    }

    @Test("a signal is one of the names, and can be selected again")
    func signals() {
        #expect(tag["signal"]?["options"]?.strings == ["default", "doorbell"])
        #expect(tag["signal"]?["command_topic"]?.string == "jacquard/tag/003R/notify/set")
        #expect(tag["signal"]?["command_template"]?.string == "{{ {'signal': value} | tojson }}")
        #expect(tag["signal"]?["value_template"]?.string == "None")
    }

    @Test(
        "a tag links to its place on the web page, if Home Assistant can open it",
        arguments: [
            ("http://hall:8377/", "003R", "http://hall:8377/#tag/003R"),
            ("https://hall", "a b/ä", "https://hall#tag/a%20b%2f%c3%a4"),
            ("http://hall/#other", "003R", "http://hall/#other"),
            ("homeassistant://hassio/ingress/jacquard", "003R", "homeassistant://hassio/ingress/jacquard"),
        ])
    func page(page: String, id: String, link: String) {
        let bridge = DiscoveredBridge(instance: "attic", topic: "jacquard/bridge/attic", version: "0.1.0", page: page)
        var discovery = HomeAssistantDiscovery(HomeAssistantConfiguration(), bridge, .sample)
        let tag = DiscoveredTag(id: id, topic: "jacquard/tag/" + id, name: "Sleeve", serial: "003R", firmware: nil)
        #expect(discovery.announcement(of: tag)[0].document["device"]?["configuration_url"]?.string == link)
    }

    @Test("no announcement proposes an entity id, which would replace the one that the owner has chosen")
    func entityIDs() {
        for (key, item) in HomeAssistantDiscovery.everything() {
            #expect(item["default_entity_id"] == nil && item["object_id"] == nil, "\(key)")
        }
    }

    @Test("a device has only the keys that every release knows")
    func deviceKeys() {
        var discovery = HomeAssistantDiscovery(
            HomeAssistantConfiguration(),
            DiscoveredBridge(instance: "attic", topic: "jacquard/bridge/attic", version: "1", page: "http://hall/"),
            .sample)
        let tag = DiscoveredTag(
            id: "003R", topic: "jacquard/tag/003R", name: "Sleeve", serial: "003R", firmware: "1.96.0")
        let documents = (discovery.announcement(of: tag) + discovery.documents.announcementOfBridge).map(\.document)
        let known: Set<String> = [
            "identifiers", "name", "manufacturer", "model", "serial_number", "sw_version", "via_device",
            "configuration_url",
        ]
        for document in documents {
            let device = Set((document["device"]?.object ?? [:]).keys)
            let origin = Set((document["origin"]?.object ?? [:]).keys)
            #expect(Set(document.keys) == ["device", "origin", "components"])
            #expect(origin == ["name", "sw_version"])
            #expect(device.isSubset(of: known))
        }
    }

    @Test("gear without a name is shown by its product number")
    func unnamedGear() {
        #expect(
            tag["gear"]?["value_template"]?.string?.contains(
                "value_json.product | default(none) or value_json.product_id | default(none)") == true)
    }

    @Test("a text and a button of the bridge pair a tag")
    func pairing() {
        #expect(bridge["pair_serial"]?["command_topic"]?.string == "jacquard/bridge/attic/request/pair_serial")
        #expect(bridge["pair_serial"]?["state_topic"]?.string == "jacquard/bridge/attic/pairing")
        #expect(bridge["pair"]?["command_topic"]?.string == "jacquard/bridge/attic/request/pair")
        #expect(bridge["pair"]?["payload_press"]?.string == "{}")
        #expect(bridge["pairing"]?["device_class"]?.string == "enum")
        #expect(bridge["pairing"]?["options"]?.elements?.count == 7)
    }

    @Test("platforms and unique ids are those of version 0.1.0, so that an update leaves nothing behind")
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
                #expect(items[key]?["platform"]?.string == platform, "\(key)")
                #expect(items[key]?["unique_id"]?.string == "\(objectID)_\(key)")
            }
        }
        for word in ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"] {
            #expect(tag["trigger_" + word]?["subtype"]?.string == word)
            #expect(tag["trigger_" + word]?["payload"]?.string == word)
            #expect(tag["trigger_" + word]?["value_template"]?.string == "{{ value_json.event_type }}")
        }
    }

    @Test("a command for an area or a whole device reaches nothing that moves, lights or pairs a tag")
    func areaCommands() {
        let all = HomeAssistantDiscovery.everything()
        // A message is for the people of an area.
        for (key, item) in all where item["command_topic"] != nil && key != "notify" {
            #expect(item["entity_category"] != nil, "\(key)")
        }
    }

    @Test("entities have these categories, classes and units")
    func classes() {
        typealias Classes = [String: String]
        func classes(_ item: [String: JSONValue]) -> Classes {
            item.filter { ["entity_category", "device_class", "state_class", "unit_of_measurement"].contains($0.key) }
                .compactMapValues(\.string)
        }
        let plain: Classes = ["entity_category": "diagnostic"]
        let config: Classes = ["entity_category": "config"]
        let measurement: Classes = ["entity_category": "diagnostic", "state_class": "measurement"]
        func diagnostic(_ name: String) -> Classes { ["entity_category": "diagnostic", "device_class": name] }
        let ofTag: [String: Classes] = [
            "connection": diagnostic("connectivity"), "charging": diagnostic("battery_charging"),
            "battery": measurement.merging(["device_class": "battery", "unit_of_measurement": "%"]) { $1 },
            "rssi": measurement.merging(["device_class": "signal_strength", "unit_of_measurement": "dBm"]) { $1 },
            "battery_forecast": diagnostic("timestamp"), "firmware": plain, "touch_mode": config, "connect": config,
            "why_disconnected": plain, "led": config, "purr": config, "forget": config,
            "battery_low": diagnostic("battery"), "status": diagnostic("enum"),
            "last_gesture": ["device_class": "enum"],
            "signal": config,
        ]
        let ofBridge: [String: Classes] = [
            "connection": diagnostic("connectivity"), "problem": diagnostic("problem"), "connected_tags": measurement,
            "pairing": ["device_class": "enum"], "found": ["state_class": "measurement"], "problem_text": plain,
            "scan": config, "pair": config, "pair_tag": config, "pair_serial": config,
        ]
        for (key, item) in tag {
            #expect(classes(item) == ofTag[key] ?? (key.hasPrefix("haptic_") ? config : [:]), "\(key)")
        }
        for (key, item) in bridge { #expect(classes(item) == ofBridge[key] ?? [:], "\(key)") }
    }
}
