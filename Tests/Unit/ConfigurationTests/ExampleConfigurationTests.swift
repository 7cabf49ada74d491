import Testing

@testable import Configuration

@Suite("Example configuration")
struct ExampleConfigurationTests {
    @Test("as delivered it changes nothing")
    func delivered() throws {
        #expect(try readConfiguration(ExampleConfiguration.text()).get() == readConfiguration("").get())
    }

    @Test("with every key set it is valid, and a key shows its default")
    func uncommented() throws {
        let configuration = try readConfiguration(ExampleConfiguration.uncommented()).get()
        var expected = try readConfiguration("instance: attic").get()
        expected.mqtt.username = "bridge"
        expected.mqtt.password = Secret(value: "secret")
        expected.mqtt.isPasswordInFile = true
        expected.mqtt.tls = Settings.TLS(
            authorityFile: "/etc/jacquard2mqtt/ca.pem", certificateFile: "/etc/jacquard2mqtt/bridge.pem",
            keyFile: "/etc/jacquard2mqtt/bridge.key")
        expected.metrics.file = "/var/lib/prometheus/node-exporter/jacquard2mqtt.prom"
        expected.tags = [
            TagSettings(serial: "003R", id: "sleeve", name: "Left sleeve", address: "F0:00:00:00:00:01")
        ]
        expected.gear = [
            GearSettings(
                vendorID: "74-a8-ce-54", productID: "8a-66-50-f4", vendor: "Levi's", product: "Trucker Jacket",
                capabilities: [.gesture, .touchDataStream, .haptic])
        ]
        #expect(configuration == expected)
    }

    @Test("each value is printed as it is written", arguments: Settings.printableKeys)
    func printed(path: String) throws {
        var findings = ConfigurationFindings()
        let text = try ExampleConfiguration.uncommented()
        let configuration = try readConfiguration(text).get()
        let root = ConfigurationNodeBuilder.build(Array(text.utf8), &findings)
        let node = path.split(separator: ".").reduce(root) { $0?.child($1) }
        let values = configuration.values(of: path)
        if case .scalar(let text, _) = node?.content {
            #expect(values == [text])
        } else if case .list(let items) = node?.content {
            let words = items.compactMap { if case .scalar(let text, _) = $0.content { text } else { nil } }
            #expect(values == [words.joined(separator: ", ")])
        } else {
            // The section that has a value of its own, and the key that cannot stand beside another.
            #expect(values == [path == "mqtt.tls" ? "true" : ""])
        }
    }

    @Test(
        "the password, a section and an unknown key have no value to print",
        arguments: ["mqtt.password", "log", "a.b", ""])
    func notPrinted(path: String) throws {
        #expect(try readConfiguration("mqtt: {password: p}").get().values(of: path) == nil)
    }

    @Test("it holds every key", arguments: Settings.Key.paths)
    func everyKey(path: String) throws {
        var findings = ConfigurationFindings()
        let text = try ExampleConfiguration.uncommented()
            // The one key that cannot stand beside another: it has the form of a key in an explanation.
            .split(separator: "\n").map { $0.hasPrefix("  # password_file: ") ? "  \($0.dropFirst(4))" : $0 }
            .joined(separator: "\n")
        let root = ConfigurationNodeBuilder.build(Array(text.utf8), &findings)
        #expect(findings.isEmpty)
        #expect(path.split(separator: ".").reduce(root) { $0?.child($1) } != nil)
    }
}

extension ConfigurationNode {
    /// What stands below a key, or in a list its first item.
    fileprivate func child(_ key: Substring) -> ConfigurationNode? {
        switch content {
        case .section(let entries): entries.first { $0.key == key }?.value
        case .list(let items): items.first
        case .scalar, .unusable: nil
        }
    }
}
