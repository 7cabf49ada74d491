import JacquardProtocol
import TestSupport
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
            (
                "MQTT__HOST", "attic\u{00A0}",
                "mqtt.host: the value holds characters that no host name has; it holds a no-break space (U+00A0): use spaces"
                    + "; allowed: a host name or address; port, user and password have keys of their own"
            ),
            (
                "MQTT__PASSWORD", "a\nb",
                "mqtt.password: the value holds a control character"
                    + "; allowed: 1 to 65535 bytes without control characters"
            ),
            ("LOG", "info", "names a section, not a key; allowed: JACQUARD2MQTT_LOG__LEVEL, JACQUARD2MQTT_LOG__FORMAT"),
            ("TAGS__2__SERIAL", "A", "tags.2.serial: leaves a gap: the list has 0 items; allowed: 0 to 0"),
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

    @Test("an empty variable counts as unset, whatever its key", arguments: Settings.keyPaths + Settings.switchPaths)
    func empty(path: String) throws {
        let name = path.split(separator: ".").map { $0 == "N" ? "0" : $0.uppercased() }.joined(separator: "__")
        let yaml = "mqtt: {host: a, username: u, password: p}"
        #expect(
            try readConfiguration(yaml, environment: ["JACQUARD2MQTT_\(name)": ""]).get()
                == readConfiguration(yaml).get())
    }

    @Test("an empty variable sets no key of a list that another one appends")
    func emptyItem() {
        let environment = ["JACQUARD2MQTT_TAGS__0__SERIAL": "", "JACQUARD2MQTT_TAGS__1__SERIAL": "003R"]
        #expect(
            errorLines("", environment: environment) == [
                "JACQUARD2MQTT_TAGS__1__SERIAL: tags.1.serial: leaves a gap: the list has 0 items; allowed: 0 to 0"
            ])
    }

    /// Kubernetes 1.31 for the Services jacquard2mqtt, jacquard2mqtt-web and jacquard2mqtt-mqtt; Docker 28 for links with the alias
    /// jacquard2mqtt and, of Compose 1, jacquard2mqtt_1.
    private static let ofContainers: [(name: String, value: String)] = [
        ("PORT", "tcp://10.43.0.7:8377"), ("PORT", "udp://[fd00::7]:8377"), ("SERVICE_HOST", "10.43.0.7"),
        ("SERVICE_PORT", "8377"), ("SERVICE_PORT_HTTP", "8377"), ("SERVICE_PORT_HTTP_METRICS", "9100"),
        ("PORT_8377_TCP", "tcp://10.43.0.7:8377"), ("PORT_8377_TCP_PROTO", "tcp"), ("PORT_8377_TCP_PORT", "8377"),
        ("PORT_8377_TCP_ADDR", "10.43.0.7"), ("PORT_53_UDP_ADDR", "10.43.0.7"), ("PORT_9_SCTP", "sctp://10.43.0.7:9"),
        ("WEB_PORT", "tcp://10.43.0.8:80"), ("WEB_SERVICE_HOST", "10.43.0.8"), ("WEB_SERVICE_PORT_HTTP", "80"),
        ("WEB_PORT_80_TCP_PROTO", "tcp"), ("MQTT_PORT", "tcp://10.43.0.9:1883"), ("MQTT_SERVICE_HOST", "10.43.0.9"),
        ("NAME", "/app/jacquard2mqtt"), ("ENV_TZ", "Europe/Berlin"), ("ENV_JACQUARD2MQTT_MQTT__HOST", "broker"),
        ("1_NAME", "/app/jacquard2mqtt_1"), ("1_PORT", "tcp://172.17.0.2:8377"), ("1_ENV_PATH", "/bin"),
        ("PORT_8377_TCP_START", "tcp://172.17.0.2:8377"), ("PORT_8377_TCP_PORT_END", "8379"),
    ]

    @Test("variables that Kubernetes and container links set are no settings", arguments: ofContainers)
    func containers(name: String, value: String) throws {
        let environment = ["JACQUARD2MQTT_\(name)": value]
        #expect(errorLines("", environment: environment) == [])
        #expect(EnvironmentOverlay(environment).ignored == Array(environment.keys))
        let file = try TemporaryFolder()
        let loaded = ConfigurationFile.load(path: nil, environment: environment, defaultPath: file.path("none"))
        #expect(try loaded.get().ignoredVariables == Array(environment.keys))
    }

    @Test(
        "a variable that only resembles one of a container names no key",
        arguments: [
            ("PORT", "1883"), ("PORT", "http://10.43.0.7"), ("NAME", "attic"), ("SERVICE", "x"), ("HOST", "10.43.0.7"),
            ("SERVICE_HOSTS", "a"), ("PORT_8377", "tcp://10.43.0.7"), ("PORT_X_TCP", "1"), ("PORT_8377_TCP_X", "1"),
            ("ENV", "x"), ("MQTT__SERVICE_HOST", "10.43.0.7"), ("MQTT_PORT", "1883"), ("mqtt_service_host", "a"),
        ])
    func noContainers(name: String, value: String) {
        #expect(errorLines("", environment: ["JACQUARD2MQTT_\(name)": value]).count == 1)
        #expect(EnvironmentOverlay(["JACQUARD2MQTT_\(name)": value]).ignored == [])
    }

    @Test("a variable with the name of a key sets it, whatever its value")
    func keyOfContainer() {
        let lines = errorLines("", environment: ["JACQUARD2MQTT_MQTT__PORT": "tcp://10.43.0.9:1883"])
        #expect(lines.first?.hasPrefix("JACQUARD2MQTT_MQTT__PORT: mqtt.port: ") == true)
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
