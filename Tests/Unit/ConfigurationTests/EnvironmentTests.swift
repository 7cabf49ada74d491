import JacquardProtocol
import Testing
import Text

@testable import Configuration

@Suite("Environment of the configuration")
struct EnvironmentTests {
    @Test("every key can be set", arguments: Settings.keyPaths)
    func everyKey(path: String) throws {
        let name = "JACQUARD2MQTT_" + path.split(separator: ".").joined(separator: "__").uppercased()
        let variable = name.split(separator: "__N__").joined(separator: "__0__")
        // A NUL is no value of any key: the error shows that the variable arrived at its key.
        let lines = errorLines("tags: [{serial: A}]", environment: [variable: "\0"])
        let key = path.split(separator: ".").map { $0 == "N" ? "0" : $0 }.joined(separator: ".")
        #expect(lines.contains { $0.hasPrefix("\(variable): \(key): ") })
    }

    @Test("a variable takes precedence over the file")
    func precedence() throws {
        let configuration = try readConfiguration(
            "mqtt: {host: a, port: 1}\nlog: {level: error}",
            environment: [
                "JACQUARD2MQTT_MQTT__HOST": "b", "JACQUARD2MQTT_LOG__LEVEL": "trace",
                "JACQUARD2MQTT_HOME_ASSISTANT__STATUS_TOPIC": "x", "JACQUARD2MQTT_CONFIG": "/ignored", "HOME": "/root",
            ]
        ).get()
        #expect(configuration.mqtt.host == "b")
        #expect(configuration.mqtt.port == 1)
        #expect(configuration.log.level == .trace)
        #expect(configuration.homeAssistant.statusTopic == "x")
    }

    @Test("a variable takes precedence over a key of the file that it excludes")
    func precedenceOverAnother() throws {
        let mqtt = try readConfiguration(
            "mqtt: {hosts: [a, b], password_file: p}",
            environment: ["JACQUARD2MQTT_MQTT__HOST": "c", "JACQUARD2MQTT_MQTT__PASSWORD": "secret"]
        ).get().mqtt
        #expect(mqtt.host == "c" && mqtt.password == Secret(value: "secret"))
        let nodes = readConfiguration("mqtt: {host: a, port: 1}", environment: ["JACQUARD2MQTT_MQTT__HOSTS": "b,c"])
        #expect(try nodes.get().mqtt.hosts?.count == 2)
        #expect(
            errorLines("mqtt: {password: a, password_file: p}") != [],
            "both are in the file, and neither is meant to win")
    }

    @Test("a key of tls switches TLS on")
    func tls() throws {
        let mqtt = try readConfiguration("", environment: ["JACQUARD2MQTT_MQTT__TLS__INSECURE": "false"]).get().mqtt
        #expect(mqtt.tls == Settings.TLS())
        #expect(mqtt.port == 8883)
    }

    @Test("a password of the environment is not required in the file")
    func password() throws {
        let mqtt = try readConfiguration("", environment: ["JACQUARD2MQTT_MQTT__PASSWORD": "null"]).get().mqtt
        #expect(mqtt.password == Secret(value: "null"))
        #expect(!mqtt.isPasswordInFile)
    }

    @Test("tags are changed and appended by number")
    func tags() throws {
        let added = Dictionary(
            uniqueKeysWithValues: (1...11).map { ("JACQUARD2MQTT_TAGS__\($0)__SERIAL", "\(1000 + $0)") })
        let environment = added.merging(["JACQUARD2MQTT_TAGS__0__ID": "sleeve"]) { first, _ in first }
        let tags = try readConfiguration("tags: [{serial: 003R}]", environment: environment).get().tags
        #expect(tags.first == TagSettings(serial: "003R", id: "sleeve"))
        #expect(tags.dropFirst().map(\.serial) == (1...11).map { "\(1000 + $0)" })
    }

    @Test(
        "a variable switches TLS on and off, and keeps the keys of the file",
        arguments: [
            ("", ["TLS": "true"], Settings.TLS()),
            ("", ["TLS": "false"], nil),
            ("mqtt: {tls: {ca_file: /a}}", ["TLS": "false"], nil),
            ("mqtt: {tls: {ca_file: /a}}", ["TLS": "true"], Settings.TLS(authorityFile: "/a")),
            ("", ["TLS": "true", "TLS__CA_FILE": "/b"], Settings.TLS(authorityFile: "/b")),
            ("mqtt: {tls: true}", ["TLS__CA_FILE": "/b"], Settings.TLS(authorityFile: "/b")),
            ("mqtt: {tls: false}", [:], nil),
        ] as [(String, [String: String], Settings.TLS?)])
    func tls(yaml: String, variables: [String: String], tls: Settings.TLS?) throws {
        let environment = Dictionary(
            uniqueKeysWithValues: variables.map { ("JACQUARD2MQTT_MQTT__\($0.key)", $0.value) })
        let mqtt = try readConfiguration(yaml, environment: environment).get().mqtt
        #expect(mqtt.tls == tls)
        #expect(mqtt.port == (tls == nil ? 1883 : 8883))
    }

    @Test(
        "an error names the variable",
        arguments: [
            ("MQTT__PORT", "abc", "mqtt.port: \"abc\" is not a whole number; allowed: 1 to 65535"),
            ("MQTT__PORT", "", "mqtt.port: \"\" is not a whole number; allowed: 1 to 65535"),
            (
                "MQTT__PASSWORD", "a\nb",
                "mqtt.password: the value holds a control character"
                    + "; allowed: 1 to 65535 bytes without control characters"
            ),
            ("LOG", "info", "names a section, not a key; allowed: JACQUARD2MQTT_LOG__LEVEL, JACQUARD2MQTT_LOG__FORMAT"),
            ("TAGS__2__SERIAL", "A", "tags.2.serial: leaves a gap: the list has 0 items"),
            ("TAGS__0__ID", "a", "tags.0.serial: missing; allowed: the serial printed on the tag"),
        ])
    func errors(suffix: String, value: String, message: String) {
        let variable = "JACQUARD2MQTT_\(suffix)"
        #expect(errorLines("", environment: [variable: value]) == ["\(variable): \(message)"])
    }

    @Test(
        "a variable that names no key is an error that names the nearest one",
        arguments: [
            ("MQTT_PORT", " (did you mean JACQUARD2MQTT_MQTT__PORT?)"),
            ("TAGS__0__SERAIL", " (did you mean JACQUARD2MQTT_TAGS__0__SERIAL?)"),
            ("TAGS__00__SERIAL", " (did you mean JACQUARD2MQTT_TAGS__0__SERIAL?)"),
            ("mqtt__port", " (did you mean JACQUARD2MQTT_MQTT__PORT?)"),
            ("", ""),
        ])
    func unknown(suffix: String, hint: String) {
        let variable = "JACQUARD2MQTT_\(suffix)"
        let allowed = "a key in upper case with __ for each dot, such as JACQUARD2MQTT_MQTT__HOST for mqtt.host"
        let line = "\(variable): names no key\(hint); allowed: \(allowed)"
        #expect(errorLines("", environment: [variable: "1"]) == [line])
    }

    @Test("errors of the file come first, then those of the variables by name")
    func order() {
        let environment = ["JACQUARD2MQTT_MQTT__PORT": "x", "JACQUARD2MQTT_INSTANCE": "X"]
        let places = errorLines("log: {level: x}", environment: environment).map { $0.prefix { $0 != " " } }
        #expect(places == ["/etc/x.yaml:1:14:", "JACQUARD2MQTT_INSTANCE:", "JACQUARD2MQTT_MQTT__PORT:"])
    }

    @Test(
        "a file of another structure is an error of the file only",
        arguments: ["mqtt: 1", "mqtt: [1]", "mqtt: *a", "[]", "{a"])
    func shape(yaml: String) {
        let lines = errorLines(
            yaml, environment: ["JACQUARD2MQTT_MQTT__HOST": "a", "JACQUARD2MQTT_TAGS__0__SERIAL": "003R"])
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.hasPrefix("/etc/x.yaml:1:") })
    }
}
