import Bridge
import HomeAssistant
import JacquardProtocol
import Testing
import Text

@testable import Configuration

@Suite("Configuration values")
struct ConfigurationValuesTests {
    @Test(
        "an empty file is all defaults",
        arguments: ["", "\n# nothing\n", "---\n", "mqtt:\ntags:\nlog: ~\n", "{}", "\u{FEFF}"])
    func defaults(yaml: String) throws {
        let configuration = try readConfiguration(yaml).get()
        #expect(configuration == Settings(instance: "attic", mqtt: .init(clientID: "jacquard-attic")))
        #expect(configuration.mqtt.host == "127.0.0.1")
        #expect(configuration.mqtt.port == 1883)
        #expect(configuration.mqtt.version == .automatic)
        #expect(configuration.mqtt.baseTopic == "jacquard")
        #expect(configuration.mqtt.username == nil)
        #expect(configuration.mqtt.password == nil)
        #expect(configuration.mqtt.keepalive == .seconds(30))
        #expect(configuration.mqtt.tls == nil)
        #expect(configuration.bluetooth.adapter == .automatic)
        #expect(configuration.bluetooth.connectTimeout == .seconds(60))
        #expect(!configuration.bluetooth.resetAdapter)
        #expect(configuration.homeAssistant.discovery)
        #expect(configuration.homeAssistant.prefix == "homeassistant")
        #expect(configuration.homeAssistant.form == .device)
        #expect(configuration.homeAssistant.statusTopic == "homeassistant/status")
        #expect(!configuration.homeAssistant.areaLight)
        #expect(configuration.tags.isEmpty)
        #expect(configuration.log.level == .info)
        #expect(configuration.log.format == .automatic)
        #expect(configuration.bridge.ledOn == .seconds(10))
        #expect(configuration.bridge.gestureLifetime == .seconds(5))
        #expect(configuration.bridge.commandsPerTag == 32)
    }

    @Test("every key is read")
    func everyKey() throws {
        let configuration = try readConfiguration(
            """
            instance: cellar
            mqtt:
              host: broker.lan
              port: 2883
              version: 3.1.1
              base_topic: home/jacquard
              client_id: me
              username: bridge
              password: "0123"
              keepalive_s: 60
              tls: {ca_file: /ca.pem, certificate_file: own.pem, key_file: keys/own.key, insecure: True}
            bluetooth: {adapter: hci1, connect_timeout_s: 20, reset_adapter: true}
            home_assistant: {discovery: false, prefix: ha, form: single, status_topic: ha/birth, area_light: true}
            tags:
              - {serial: 003R, id: sleeve, name: Left sleeve, address: "f0:00:00:00:00:0a", connect: on_demand}
            log: {level: trace, format: json}
            defaults: {led_on_s: 2.5}
            limits: {gestures_while_broker_away_s: 0, commands_per_tag: 1}
            """
        ).get()
        let tls = Settings.TLS(
            authorityFile: "/ca.pem", certificateFile: "/etc/own.pem", keyFile: "/etc/keys/own.key", isInsecure: true)
        let mqtt = Settings.MQTT(
            host: "broker.lan", port: 2883, version: .v311, baseTopic: "home/jacquard", clientID: "me",
            username: "bridge", password: Secret(value: "0123"), isPasswordInFile: true, keepalive: .seconds(60),
            tls: tls)
        let tag = TagSettings(
            serial: "003R", id: "sleeve", name: "Left sleeve", address: "F0:00:00:00:00:0A", connect: .onDemand)
        var expected = Settings(
            instance: "cellar", mqtt: mqtt,
            bluetooth: .init(adapter: .name("hci1"), connectTimeout: .seconds(20), resetAdapter: true),
            homeAssistant: .init(
                discovery: false, prefix: "ha", form: .single, statusTopic: "ha/birth", areaLight: true),
            tags: [tag],
            log: .init(level: .trace, format: .json))
        expected.bridge.ledOn = .milliseconds(2500)
        (expected.bridge.gestureLifetime, expected.bridge.commandsPerTag) = (.zero, 1)
        expected.isInstanceGiven = true
        #expect(configuration == expected)
    }

    @Test(
        "the instance is made of the host's name",
        arguments: [
            ("Attic", "attic"),
            ("attic.example.org", "attic-example-org"),
            ("-pi_4-", "pi-4"),
            ("Dachb\u{F6}den", "dachb-den"),
            (String(repeating: "a", count: 31) + "-b", String(repeating: "a", count: 31)),
            ("", "bridge"),
            ("---", "bridge"),
        ])
    func instance(hostName: String, expected: String) throws {
        let configuration = try readConfiguration("", hostName: hostName).get()
        #expect(configuration.instance == expected)
        #expect(configuration.mqtt.clientID == "jacquard-\(expected)")
    }

    @Test(
        "the presence of tls switches TLS on and changes the port",
        arguments: [
            ("mqtt:\n  tls:\n", 8883),
            ("mqtt:\n  tls: {}\n", 8883),
            ("mqtt:\n  tls:\n    insecure: false\n  port: 1884\n", 1884),
        ])
    func tls(yaml: String, port: Int) throws {
        let mqtt = try readConfiguration(yaml).get().mqtt
        #expect(mqtt.tls == Settings.TLS())
        #expect(mqtt.port == port)
    }

    @Test("the status topic does not depend on the prefix, as in Home Assistant")
    func statusTopic() throws {
        let configuration = try readConfiguration("home_assistant: {prefix: ha}").get()
        #expect(configuration.homeAssistant.statusTopic == "homeassistant/status")
    }

    @Test(
        "a serial is kept as written and is the default id",
        arguments: ["0001", "1234", "1e10", "0x1F", "true", "-b-a"])
    func serial(text: String) throws {
        let tag = try #require(try readConfiguration("tags:\n  - serial: \(text)\n").get().tags.first)
        #expect(tag == TagSettings(serial: text, id: TagID(stringLiteral: text)))
    }

    @Test("two tags may share a serial if each has an id and an address")
    func sharedSerial() throws {
        let configuration = try readConfiguration(
            """
            tags:
              - {serial: 003R, id: left, address: "F0:00:00:00:00:01"}
              - {serial: 003R, id: right, address: "F0:00:00:00:00:02"}
            """
        ).get()
        #expect(configuration.tags.map(\.id) == ["left", "right"])
    }

    @Test(
        "an adapter is auto, a name or an address",
        arguments: [
            ("auto", Settings.Bluetooth.Adapter.automatic),
            ("hci0", .name("hci0")),
            ("hci12", .name("hci12")),
            ("f0:00:00:00:00:ab", .address("F0:00:00:00:00:AB")),
        ])
    func adapter(text: String, expected: Settings.Bluetooth.Adapter) throws {
        #expect(try readConfiguration("bluetooth: {adapter: \"\(text)\"}").get().bluetooth.adapter == expected)
    }

    @Test(
        "a broker is named by name or address", arguments: ["localhost", "10.0.0.1", "::1", "fe80::1%eth0", "a_b.lan"])
    func host(text: String) throws {
        #expect(try readConfiguration("mqtt: {host: \"\(text)\"}").get().mqtt.host == text)
    }

    @Test(
        "seconds have up to three decimals",
        arguments: [
            ("10", Duration.seconds(10)), ("0.1", .milliseconds(100)), ("2.125", .milliseconds(2125)),
            ("1.50", .milliseconds(1500)),
        ])
    func seconds(text: String, expected: Duration) throws {
        #expect(try readConfiguration("defaults: {led_on_s: \(text)}").get().bridge.ledOn == expected)
    }

    @Test(
        "the nodes of a broker have the default port where none is set; the first one is host and port, too",
        arguments: [
            ("", 1883, ["127.0.0.1:1883"]), ("port: 1", 1, ["127.0.0.1:1"]),
            ("hosts: [a:1, b, \"[::1]:2\", \"[::2]\"]", 1, ["a:1", "b:1883", "::1:2", "::2:1883"]),
            ("hosts: \"a,b:2\", tls: true", 8883, ["a:8883", "b:2"]),
        ])
    func nodes(yaml: String, port: Int, expected: [String]) throws {
        let settings = try readConfiguration("mqtt: {\(yaml)}").get()
        #expect(settings.mqtt.nodes.map { "\($0.host):\($0.port)" } == expected)
        #expect(settings.mqtt.host == settings.mqtt.nodes.first?.host)
        #expect(settings.mqtt.port == port)
        let printed = yaml.hasPrefix("hosts: [") ? "a:1, b, [::1]:2, [::2]" : yaml.hasPrefix("hosts") ? "a, b:2" : ""
        #expect(settings.values(of: "mqtt.hosts") == [printed])
    }

    @Test("a secret prints as redacted")
    func secret() {
        let secret = Secret(value: "hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
            #expect(!text.contains("hunter2"))
            #expect(text.contains("(redacted)"))
        }
    }

    @Test("notices report what is allowed but noteworthy")
    func notices() throws {
        let yaml = "mqtt: {password: secret, tls: {insecure: true}}"
        let keys = try readConfiguration(yaml).get().notices.map { $0.prefix { $0 != " " } }
        #expect(keys == ["mqtt.tls.insecure", "mqtt.password", "tags"])
        let dots = "mqtt: {base_topic: home.lan/jq}\nhome_assistant: {prefix: ha.lan}\ntags: [{serial: 003R}]"
        let notices = try readConfiguration(dots).get().notices
        #expect(notices.map { $0.prefix { $0 != ":" } } == ["mqtt.base_topic", "home_assistant.prefix"])
        #expect(notices[0].contains("home.lan/jq has a dot, which RabbitMQ turns into a slash"))
        let quiet = "mqtt: {username: u, password: p, tls: {}}\ntags: [{serial: 003R}]"
        #expect(try readConfiguration(quiet).get().notices == [])
        let reflexes = """
            tags: [{serial: "0001", id: sleeve}]
            reflexes:
              - {on: cover, do: led red, tag: sleeve}
              - {on: cover, do: led red, tag: sleev, from: [sleeve, "0001"]}
            chords:
              - {name: one, of: [cover, cover]}
              - {name: two, of: [cover, double_tap], tags: [sleeve, sleev]}
            """
        let needs = "the reflex needs that tag to be paired by command"
        #expect(
            try readConfiguration(reflexes).get().notices == [
                "reflexes[1]: sleev is not in tags: \(needs)", "reflexes[1]: 0001 is not in tags: \(needs)",
                "chords[1]: sleev is not in tags: the chord needs that tag to be paired by command",
            ])
    }

    @Test(
        "notices compare the tags with those that the bridge knows",
        arguments: [
            (
                ["0001", "0003"],
                "tags[0].id: 0003 is the serial of another tag that the bridge knows, which has no id then"
            ),
            (["0001"], nil), (["0003", "0001", "O002"], "tags[0].id: 0003 is the serial of"),
            (["OO01"], "tags[0].serial: the bridge does not know 0001"), ([], nil),
        ] as [([String], String?)])
    func comparison(known: [String], notice: String?) throws {
        let settings = try readConfiguration(#"tags: [{serial: "0001", id: "0003"}]"#).get()
        let notices = settings.notices(comparedWith: known)
        #expect(notices.count == (notice == nil ? 0 : 1))
        #expect(notices.first?.hasPrefix(notice ?? "") ?? true, "\(notices)")
    }
}
