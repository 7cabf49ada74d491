import Testing

@testable import Configuration

@Suite("Configuration errors")
struct ConfigurationErrorsTests {
    @Test(
        "a wrong value is named with place, key and what is allowed",
        arguments: [
            ("mqtt:\n  host: a\n  port: abc", "3:9: mqtt.port: \"abc\" is not a whole number; allowed: 1 to 65535"),
            (
                "host: a",
                "1:1: host: unknown key (did you mean mqtt.host?)"
                    + "; allowed: \(keyNames(of: ""))"
            ),
            (
                "serial: 0001",
                "1:1: serial: unknown key (did you mean tags.0.serial?)"
                    + "; allowed: \(keyNames(of: ""))"
            ),
            ("log: {tls: x}", "1:7: log.tls: unknown key (did you mean mqtt.tls?); allowed: \(keyNames(of: "log"))"),
            (
                "mqtt: {tls: yes}",
                "1:13: mqtt.tls: \"yes\" is neither true nor false"
                    + "; allowed: true, false, or the keys ca_file, certificate_file, key_file, insecure"
            ),
            ("mqtt:\n  port: 0", "2:9: mqtt.port: \"0\" is out of range; allowed: 1 to 65535"),
            ("mqtt:\n  port: -1", "2:9: mqtt.port: \"-1\" is out of range; allowed: 1 to 65535"),
            ("mqtt:\n  port: 0x10", "2:9: mqtt.port: \"0x10\" is not a whole number; allowed: 1 to 65535"),
            ("mqtt:\n  port: 18.5", "2:9: mqtt.port: \"18.5\" is not a whole number; allowed: 1 to 65535"),
            (
                "mqtt:\n  port: 99999999999999999999",
                "2:9: mqtt.port: \"99999999999999999999\" is out of range; allowed: 1 to 65535"
            ),
            ("mqtt:\n  port:", "2:8: mqtt.port: no value; allowed: 1 to 65535"),
            ("mqtt:\n  port: ~", "2:9: mqtt.port: no value; allowed: 1 to 65535"),
            ("mqtt:\n  port: [1]", "2:9: mqtt.port: a list where one value belongs; allowed: 1 to 65535"),
            ("mqtt:\n  port: {a: 1}", "2:9: mqtt.port: keys where one value belongs; allowed: 1 to 65535"),
            ("mqtt:\n  version: 4", "2:12: mqtt.version: \"4\" is not one of these; allowed: auto, 5, 3.1.1"),
            ("mqtt: {keepalive_s: 4}", "1:21: mqtt.keepalive_s: \"4\" is out of range; allowed: 5 to 65535 seconds"),
            (
                "log: {level: dbug}",
                "1:14: log.level: \"dbug\" is not one of these (did you mean debug?)"
                    + "; allowed: error, warning, notice, info, debug, trace"
            ),
            ("log: {format: xml}", "1:15: log.format: \"xml\" is not one of these; allowed: auto, text, json"),
            (
                "bluetooth: {reset_adapter: yes}",
                "1:28: bluetooth.reset_adapter: \"yes\" is neither true nor false; allowed: true, false"
            ),
            (
                "bluetooth: {connect_timeout_s: 1.5}",
                "1:32: bluetooth.connect_timeout_s: \"1.5\" is not a whole number; allowed: 1 to 3600 seconds"
            ),
            (
                "bluetooth: {adapter: hci}",
                "1:22: bluetooth.adapter: \"hci\" is not an adapter"
                    + "; allowed: auto, hci and a number, or an address such as F0:00:00:00:00:01"
            ),
            ("defaults: {led_on_s: 0}", "1:22: defaults.led_on_s: \"0\" is out of range; allowed: 0.1 to 3600 seconds"),
            (
                "defaults: {led_on_s: -1}",
                "1:22: defaults.led_on_s: \"-1\" is out of range; allowed: 0.1 to 3600 seconds"
            ),
            (
                "defaults: {led_on_s: .5}",
                "1:22: defaults.led_on_s: \".5\" is not a number; allowed: 0.1 to 3600 seconds"
            ),
            (
                "defaults: {led_on_s: 1.2345}",
                "1:22: defaults.led_on_s: \"1.2345\" has more than three decimals; allowed: 0.1 to 3600 seconds"
            ),
            (
                "limits: {commands_per_tag: 1025}",
                "1:28: limits.commands_per_tag: \"1025\" is out of range; allowed: 1 to 1024"
            ),
            (
                "limits: {gestures_while_broker_away_s: 301}",
                "1:40: limits.gestures_while_broker_away_s: \"301\" is out of range; allowed: 0 to 300 seconds"
            ),
        ])
    func value(yaml: String, line: String) {
        #expect(errorLines(yaml) == ["/etc/x.yaml:\(line)"])
    }

    @Test(
        "an instance is 1 to 32 of a-z 0-9 -",
        arguments: [
            ("Attic", "holds other characters"), ("a_b", "holds other characters"),
            ("\u{E4}", "holds other characters"),
            ("a/b", "holds other characters"), ("", "is empty"),
        ])
    func instance(text: String, reason: String) {
        let expected = "/etc/x.yaml:1:11: instance: \"\(text)\" \(reason); allowed: 1 to 32 of a-z 0-9 -"
        #expect(errorLines("instance: \"\(text)\"") == [expected])
        #expect(errorLines("instance: " + String(repeating: "a", count: 32)) == [])
        #expect(errorLines("instance: " + String(repeating: "a", count: 33)).count == 1)
    }

    @Test(
        "a topic has no wildcard, no slash at its ends, no empty level, no $ in front",
        arguments: [
            ("a/+/b", "holds a wildcard"), ("a/#", "holds a wildcard"), ("/a", "begins or ends with a slash"),
            ("a/", "begins or ends with a slash"), ("a//b", "holds an empty level"), ("$SYS/a", "begins with $"),
            ("", "is empty"), (String(repeating: "a", count: 129), "is too long"),
            ("a\\tb", "holds a control character"),
        ], ["mqtt: {base_topic: ", "home_assistant: {prefix: ", "home_assistant: {status_topic: "])
    func topic(value: (text: String, reason: String), key: String) throws {
        let lines = errorLines("\(key)\"\(value.text)\"}")
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.contains("\" \(value.reason); allowed: 1 to 128 bytes without control characters, + and #"))
    }

    @Test(
        "the broker's host is no URL and holds no port; what stands there is not repeated",
        arguments: [
            ("mqtt://bridge:hunter2@broker", "holds characters that no host name has"),
            ("broker:1883", "holds a port; write it to mqtt.port"),
            ("a b", "holds characters that no host name has"),
            ("", "is empty"),
        ])
    func host(text: String, reason: String) {
        let allowed = "a host name or address; port, user and password have keys of their own"
        #expect(
            errorLines("mqtt: {host: \"\(text)\"}") == [
                "/etc/x.yaml:1:14: mqtt.host: the value \(reason); allowed: \(allowed)"
            ])
    }

    @Test(
        "the topics of Home Assistant are none of a bridge",
        arguments: [
            ("jacquard", "jacquard/tag/0001/led/set", "jacquard/tag"), ("jacquard", "jacquard/tag", "jacquard/tag"),
            ("a/b", "a/b/bridge/attic/request/pair", "a/b/bridge"), ("jacquard", "jacquard/status", nil),
            ("jacquard", "jacquard/tags/status", nil), ("jacquard", "jacquard", nil), ("a/b", "jacquard/tag/x", nil),
        ] as [(String, String, String?)],
        [("prefix", "homeassistant"), ("status_topic", "homeassistant/status")])
    func homeAssistantTopic(topics: (base: String, topic: String, owner: String?), key: (name: String, example: String))
    {
        let lines = errorLines("mqtt: {base_topic: \(topics.base)}\nhome_assistant: {\(key.name): \(topics.topic)}")
        let line = topics.owner.map { owner in
            "/etc/x.yaml:2:\(key.name.count + 20): home_assistant.\(key.name): a topic of the bridges: \(owner) begins it; "
                + "allowed: a topic of Home Assistant, such as \(key.example)"
        }
        #expect(lines == [line].compactMap(\.self))
    }

    @Test("all errors are reported, in the order of the file")
    func all() {
        let lines = errorLines("log: {level: loud}\nmqtt:\n  port: x\n  hots: y\ninstance: Z\n")
        #expect(lines.map { $0.split(separator: " ")[1] } == ["log.level:", "mqtt.port:", "mqtt.hots:", "instance:"])
    }

    @Test("of very many errors the first hundred are reported, with their number")
    func limit() {
        let lines = errorLines((0..<1000).map { "key\($0): 1\n" }.joined())
        #expect(lines.count == 101)
        #expect(lines.last == "/etc/x.yaml: and 900 more")
    }

    @Test(
        "a password is in no error, whichever key it was set for",
        arguments: [
            "mqtt: {password: [hunter2]}",
            "mqtt: {password: {hunter2 hunter2: 1}}",
            "mqtt: {password: \"hunter2\\x07\"}",
            "mqtt: {username: \"hunter2\\x07\"}",
            "mqtt: {password:hunter2}",
            "mqtt:\n  password:hunter2\n",
            "mqtt:\n  password:hunter2\n  host: a\n",
            "mqtt:\n  password: \"hunter2\n",
            "mqtt:\n  password: hunter2: x\n",
            "mqtt:\n  password: @hunter2\n",
            "mqtt:\n  password: &hunter2 a\n",
            "mqtt:\n  password: *hunter2\n",
            "mqtt:\n  password: !hunter2 a\n",
            "mqtt:\n  password: hunter2\n  password: hunter2\n",
            "mqtt:\n  password: hunter2\n  password_file: a\n",
            "mqtt:\n  host: u:hunter2@host\n",
            "mqtt: hunter2",
            "tags: hunter2",
        ])
    func secrets(yaml: String) {
        let lines = errorLines(yaml)
        #expect(!lines.isEmpty)
        #expect(!lines.contains { $0.contains("hunter2") })
    }

    @Test("control characters of a file are escaped in errors")
    func display() {
        let text = "\"\\e[31m\\u202e" + String(repeating: "x", count: 100) + "\""
        let shown = "\"\\u{1b}[31m\\u{202e}" + String(repeating: "x", count: 34) + "...\""
        #expect(
            errorLines("instance: \(text)") == [
                "/etc/x.yaml:1:11: instance: \(shown) holds other characters; allowed: 1 to 32 of a-z 0-9 -"
            ])
    }
}
