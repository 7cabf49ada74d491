import Foundation
import Testing

@testable import Daemon

/// `config/jacquard2mqtt.schema.json` beside the code: both know the same keys, defaults, ranges and words.
@Suite("Configuration schema")
struct SchemaTests {
    private let schema: JSONSchema

    init() throws {
        schema = try JSONSchema.delivered()
    }

    private func nodes(_ yaml: String) throws -> ConfigurationNode? {
        var findings = ConfigurationFindings()
        let node = ConfigurationNodeBuilder.build(Array(yaml.utf8), &findings)
        #expect(findings.isEmpty, "\(yaml)")
        return node
    }

    /// A file with one value, in the place of a key in dotted form. A tag has its serial besides, gear its numbers.
    private static func yaml(_ path: String, _ value: String) -> String {
        let keys = path.split(separator: ".")
        if keys[0] == "gear" {
            var item = ["vendor_id": "00-00-00-01", "product_id": "00-00-00-02"]
            item[String(keys[2])] = value
            return "gear: [{" + item.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}]"
        }
        guard keys[0] == "tags" else {
            return keys.map { "{\($0): " }.joined() + value + keys.map { _ in "}" }.joined()
        }
        return keys[2] == "serial" ? "tags: [{serial: \(value)}]" : "tags: [{serial: 003R, \(keys[2]): \(value)}]"
    }

    /// Both say the same of a file; returns whether they take it. The schema may be stricter about a number in quotes, and
    /// about a bare word that YAML takes for a number or a truth value.
    private func agree(_ yaml: String) throws -> Bool {
        let isTakenByCode = errorLines(yaml).isEmpty
        let problems = try schema.problems(with: nodes(yaml).map(\.json) ?? NSNull())
        let grave = problems.filter { !$0.contains("not what type says") }
        let isAgreed = isTakenByCode ? grave.isEmpty : !problems.isEmpty
        #expect(isAgreed, "\(yaml): \(problems) \(errorLines(yaml))")
        return isTakenByCode
    }

    @Test("knows the keys of the code and no others")
    func keys() {
        #expect(Set(schema.leaves.keys) == Set(Configuration.Key.paths))
    }

    @Test("takes the example, as delivered and with every key set, and refuses what the code refuses")
    func example() throws {
        #expect(try agree(ExampleConfiguration.text()))
        #expect(try agree(ExampleConfiguration.uncommented()))
        #expect(try !agree("mqttt: {}"))
        #expect(try !agree("mqtt: {tls: {ca: x}}"))
        #expect(try !agree("tags: [{id: sleeve}]"))
        #expect(try !agree("mqtt: {tls: {key_file: k}}"))
        #expect(try !agree("mqtt: {password: a, password_file: b}"))
        #expect(try agree("mqtt:\ntags:\nlog:"))
        #expect(try agree("tags: [{serial: 0001}, {serial: 1e3}]"))
        #expect(try !agree("gear: [{vendor_id: 00-00-00-01}]"))
        #expect(try !agree("gear: [{product_id: 00-00-00-01}]"))
        let gear = "gear: [{vendor_id: 00-00-00-01, product_id: 00-00-00-02, capabilities: "
        for taken in ["[]", "[led]", "[haptic, gesture]", "\"led, haptic\"", "led"] {
            #expect(try agree(gear + taken + "}]"))
        }
        for refused in ["[laser]", "\"led haptic\"", "\"led,\"", "[[led]]", "{led: true}"] {
            #expect(try !agree(gear + refused + "}]"))
        }
        for count in [64, 65] {
            let items = (10..<(10 + count)).map { "{vendor_id: 00-00-00-01, product_id: 00-00-00-\($0)}" }
            #expect(try agree("gear: [" + items.joined(separator: ", ") + "]") == (count == 64))
        }
    }

    @Test("is named by the example, for editors")
    func modeline() throws {
        #expect(
            try ExampleConfiguration.text().hasPrefix("# yaml-language-server: $schema=./jacquard2mqtt.schema.json\n"))
    }

    @Test("has the ranges of the code", arguments: Configuration.Key.paths)
    func ranges(path: String) throws {
        let leaf = try #require(schema.leaves[path])
        guard let low = leaf["minimum"] as? NSNumber, let high = leaf["maximum"] as? NSNumber else { return }
        for (value, isTaken) in [
            (low.doubleValue, true), (high.doubleValue, true), (low.doubleValue - 1, false),
            (high.doubleValue + 1, false),
        ] {
            let text = value == value.rounded() ? "\(Int(value))" : "\(value)"
            #expect(try agree(Self.yaml(path, text)) == isTaken, "\(path): \(text)")
        }
        #expect(try agree(Self.yaml(path, "\(Int(low.doubleValue) + 1).5")) == (leaf["type"] as? String == "number"))
    }

    @Test("has the words of the code", arguments: Configuration.Key.paths)
    func words(path: String) throws {
        let leaf = try #require(schema.leaves[path])
        for word in leaf["enum"] as? [Any] ?? [] { #expect(try agree(Self.yaml(path, "\(word)")), "\(path): \(word)") }
        let all: [any CaseIterable.Type] = [
            Configuration.Log.Level.self, Configuration.Log.Format.self, Configuration.MQTT.Version.self,
            Configuration.HomeAssistant.Form.self, TagConfiguration.ConnectPolicy.self,
            GearConfiguration.Capability.self,
        ]
        for word in all.flatMap(Self.words) { _ = try agree(Self.yaml(path, word)) }
    }

    private static func words(_ type: any CaseIterable.Type) -> [String] {
        func raw<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
            type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        }
        return raw(type)
    }

    @Test("has the defaults of the code", arguments: Configuration.Key.paths)
    func defaults(path: String) throws {
        let leaf = try #require(schema.leaves[path])
        guard let value = leaf["default"] else { return }
        let isBoolean = leaf["type"] as? String == "boolean"
        let text = isBoolean ? ((value as? Bool) == true ? "true" : "false") : "\(value)"
        // TLS is there as soon as one of its keys is; a tag as soon as it has a serial.
        let without =
            path.hasPrefix("tags") ? "tags: [{serial: 003R}]" : path.hasPrefix("mqtt.tls") ? "mqtt: {tls: }" : ""
        #expect(
            try readConfiguration(Self.yaml(path, text)).get() == readConfiguration(without).get(), "\(path): \(text)")
    }

    @Test(
        "agrees with the code on texts", arguments: Configuration.Key.paths)
    func texts(path: String) throws {
        let samples = [
            "auto", "hci0", "hci1234", "F0:00:00:00:00:01", "F0:00:00:00:00", "a/b", "a//b", "'/a'", "a/", "'$SYS'",
            "'a+'",
            "'#'", "x.prom", "'0001'", "true", "''", "'ä'", "attic", "ATTIC", String(repeating: "x", count: 33),
            String(repeating: "x", count: 65), String(repeating: "x", count: 129), "[]", "{}", "broker.lan",
            "'host:1883'",
        ]
        for sample in samples {
            // The partner that the key needs.
            guard path != "mqtt.tls.certificate_file", path != "mqtt.tls.key_file" else { continue }
            // The code wants at most one colon in a name, which a pattern would tell in a way that nobody reads.
            guard path != "mqtt.host" || !sample.contains("host:") else { continue }
            _ = try agree(Self.yaml(path, sample))
        }
    }
}
