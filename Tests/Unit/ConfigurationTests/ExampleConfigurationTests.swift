import Bridge
import JacquardProtocol
import Testing

@testable import Configuration

@Suite("Example configuration")
struct ExampleConfigurationTests {
    @Test("as installed it equals the defaults")
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
        expected.record.hours = 24
        expected.homeAssistant.page = "http://192.168.1.5:8377/"
        for key in FeatureTable.keys {
            if case .folder(let path) = key.value { expected.bridge[keyPath: path] = key.example?.value }
        }
        expected.bridge.signals = [Signal(name: "tea", color: "green", haptic: "short")]
        expected.metrics.file = "/var/lib/prometheus/node-exporter/jacquard2mqtt.prom"
        expected.tags = [
            TagSettings(serial: "003R", id: "sleeve", name: "Left sleeve", address: "F0:00:00:00:00:01")
        ]
        expected.groups = [GroupSettings(name: "hall", tags: ["003R", "sleeve"])]
        expected.gear = [
            GearSettings(
                vendorID: "74-a8-ce-54", productID: "8a-66-50-f4", vendor: "Levi's", product: "Trucker Jacket",
                capabilities: [.gesture, .touchDataStream, .haptic])
        ]
        expected.bridge.chords = [
            Chord(name: "double_tap_then_brush_in", of: [.doubleTap, .brushIn], tags: ["003R"])
        ]
        expected.reflexes = [
            ReflexSettings(event: "double_tap", sources: ["003R"], tag: "sleeve", request: "led flash")
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

    @Test("the comment of a key has the range of its value")
    func ranges() throws {
        let lines = try ExampleConfiguration.text().split(separator: "\n").map { $0.drop { $0 == " " } }
        for key in Settings.allKeyDescriptions {
            let bounds = key.schema.bounds
            guard bounds.count == 2 else { continue }
            let place = Self.line(of: key.path, in: lines)
            let index = try #require(place, "\(key.path)")
            let comment = lines[..<index].reversed().prefix { $0.hasPrefix("# ") }.reversed()
                .map { $0.dropFirst(2) }.joined(separator: " ")
            #expect(comment.contains(bounds.joined(separator: " to ")), "\(key.path)")
        }
    }

    /// The index of the line of a key: the first line with its name behind those of its sections.
    private static func line(of path: String, in lines: [Substring]) -> Int? {
        var index = -1
        for name in path.split(separator: ".") where name != "N" {
            let next = lines[(index + 1)...].firstIndex { line in
                ["", "#", "#- ", "# "].contains { line.hasPrefix("\($0)\(name):") }
            }
            guard let next else { return nil }
            index = next
        }
        return index
    }

    @Test("the Operations article lists the keys that a reload does not change")
    func reloads() throws {
        let article = try ExampleConfiguration.file("Sources/Programs/Daemon/Documentation.docc/Operations.md")
        let row = try #require(article.split(separator: "\n").first { $0.contains("| none until the next start") })
        let documented = row.split(separator: "|")[0].split(separator: "`").map(String.init)
        for path in Settings.keyPaths where !path.contains("N") {
            let isListed = documented.contains { path == $0 || path.hasPrefix("\($0).") }
            let effect = Settings.allKeyDescriptions.first { $0.path == path }?.effect
            #expect(isListed == (effect == .nextStart), "\(path)")
        }
    }

    @Test("it holds every key", arguments: Settings.keyPaths)
    func everyKey(path: String) throws {
        var findings = ConfigurationFindings()
        // Keys that cannot stand beside another one have the form of a key in a comment.
        let comments = Settings.allKeyDescriptions.filter(\.example.isAlternative).map { key in
            "\(key.path.contains(".N.") ? "    " : "  ")# \(key.name): "
        }
        let text = try ExampleConfiguration.uncommented()
            .split(separator: "\n").map { line in
                comments.contains(where: line.hasPrefix)
                    ? line.prefix { $0 == " " } + line.drop { $0 == " " }.dropFirst(2) : line
            }
            .joined(separator: "\n")
        let root = ConfigurationNodeBuilder.build(Array(text.utf8), &findings)
        #expect(findings.isEmpty)
        #expect(path.split(separator: ".").reduce(root) { $0?.child($1) } != nil)
    }
}

extension ConfigurationNode {
    /// The node below a key, or in a list its first item.
    fileprivate func child(_ key: Substring) -> ConfigurationNode? {
        switch content {
        case .section(let entries): entries.first { $0.key == key }?.value
        case .list(let items): items.first
        case .scalar, .unusable: nil
        }
    }
}
