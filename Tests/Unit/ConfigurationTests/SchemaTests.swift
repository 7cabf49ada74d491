import Foundation
import Testing

@testable import Configuration

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

    /// The keys that an item of each list must have.
    private static let required =
        [
            "tags": ["serial": "003R"], "gear": ["vendor_id": "00-00-00-01", "product_id": "00-00-00-02"],
            "reflexes": ["on": "cover", "do": "led flash"],
            "chords": ["name": "tap_in", "of": "[double_tap, brush_in]"],
            "groups": ["name": "hall", "tags": "[0001]"], "signals": ["name": "tea", "haptic": "short"],
        ] as [Substring: [String: String]]

    /// A file with one value, in the place of a key in dotted form. An item of a list has its required keys besides.
    private static func yaml(_ path: String, _ value: String) -> String {
        let keys = path.split(separator: ".")
        if var item = required[keys[0]] {
            let names = keys.dropFirst(2)
            item[String(keys[2])] =
                names.dropFirst().map { "{\($0): " }.joined() + value + names.dropFirst().map { _ in "}" }.joined()
            // They exclude each other.
            if ["gear", "battery_below", "broker"].contains(keys[2]) { item["on"] = nil }
            return file(keys[0], item)
        }
        return keys.map { "{\($0): " }.joined() + value + keys.map { _ in "}" }.joined()
    }

    /// A file with one item of a list.
    private static func file(_ list: Substring, _ item: [String: String]) -> String {
        "\(list): [{" + item.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}]"
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

    @Test("has the keys of the code and no others")
    func keys() {
        #expect(Set(schema.leaves.keys) == Set(Settings.keyPaths))
    }

    @Test("accepts the example, as installed and with every key set, and rejects what the code rejects")
    func example() throws {
        #expect(try agree(ExampleConfiguration.text()))
        #expect(try agree(ExampleConfiguration.uncommented()))
        #expect(try !agree("tags: [{serial: 03R}]"))
        #expect(try !agree("mqttt: {}"))
        #expect(try !agree("mqtt: {tls: {ca: x}}"))
        #expect(try !agree("tags: [{id: sleeve}]"))
        #expect(try !agree("mqtt: {tls: {key_file: k}}"))
        #expect(try !agree("mqtt: {password: a, password_file: b}"))
        #expect(try !agree("mqtt: {host: a, hosts: [b]}"))
        #expect(try !agree("mqtt: {port: 1, hosts: [b]}"))
        #expect(try !agree("mqtt: {hosts: [b], srv: c}"))
        #expect(try !agree("mqtt: {host: b, srv: c}"))
        #expect(try !agree("mqtt: {port: 1, srv: c}"))
        #expect(try agree("mqtt:\ntags:\nlog:"))
        #expect(try agree("tags: [{serial: 0001}, {serial: 12e3}]"))
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

    @Test("has the ranges of the code", arguments: Settings.keyPaths)
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

    @Test("has the words of the code", arguments: Settings.keyPaths)
    func words(path: String) throws {
        let leaf = try #require(schema.leaves[path])
        for word in leaf["enum"] as? [Any] ?? [] { #expect(try agree(Self.yaml(path, "\(word)")), "\(path): \(word)") }
        // Only the code knows the names of chords.
        guard path != "reflexes.N.on" else { return }
        // A schema cannot count the digits of a number: 0012 and 12 are the same to it.
        let words = Settings.vocabulary.sorted().filter { path != "tags.N.serial" || Double($0) == nil }
        for word in words { _ = try agree(Self.yaml(path, word)) }
    }

    @Test("has the defaults of the code", arguments: Settings.keyPaths)
    func defaults(path: String) throws {
        let leaf = try #require(schema.leaves[path])
        guard let value = leaf["default"] else { return }
        let isBoolean = leaf["type"] as? String == "boolean"
        let text = isBoolean ? ((value as? Bool) == true ? "true" : "false") : "\(value)"
        // TLS and presence are there as soon as one of their keys is; an item of a list as soon as it has its required ones.
        let list = path.split(separator: ".")[0]
        let without =
            Self.required[list].map { Self.file(list, $0) }
            ?? (path.hasPrefix("mqtt.tls")
                ? "mqtt: {tls: }" : path == "presence.away_after_s" ? "presence: {enabled: true}" : "")
        #expect(
            try readConfiguration(Self.yaml(path, text)).get() == readConfiguration(without).get(), "\(path): \(text)")
    }

    /// Values of YAML that code and schema accept, and values that both reject.
    private typealias Samples = (taken: [String], refused: [String])

    /// The samples of a key with a text: its own, or those of a key with the same type.
    private static func samples(of path: String) -> Samples? {
        let keys = Settings.allKeyDescriptions
        guard let own = samples[path] else {
            let schema = keys.first { $0.path == path }?.schema.text()
            return keys.first { $0.schema.text() == schema && samples[$0.path] != nil }.flatMap { samples[$0.path] }
        }
        return own
    }

    /// The keys with a text.
    private static let textPaths = Settings.keyPaths.filter { samples(of: $0) != nil }

    /// The samples of one key of each type.
    private static let samples: [String: Samples] = {
        let text = { (longest: Int) in
            (
                taken: ["x", "a/b", "'0001'", "a b", long(longest)],
                refused: ["''", "[]", "{}", "\"a\\tb\"", long(longest + 1)]
            )
        }
        return [
            "instance": (taken: ["attic", "a-1", long(32)], refused: ["ATTIC", "a_b", "'ä'", "''", long(33), "[]"]),
            "mqtt.host": (
                taken: ["broker.lan", "127.0.0.1", "'::1'", "'fe80::1%eth0'", long(253)],
                refused: ["''", "a b", "a/b", "user@host", "'ä'", long(254), "[]"]
            ),
            "mqtt.hosts": (
                taken: [
                    "[a]", "[a:1, 'b.lan:65535']", "a", "'a:1, b:2'", "['[::1]:1883', '[::1]', 10.0.0.1]",
                    "['[fe80::1%eth0]:1']", "[a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]",
                ],
                refused: [
                    "[]", "{}", "''", "['::1']", "[a:0]", "[a:65536]", "[a:01]", "['a:']", "['a:b']", "['[::1']",
                    "['[::1]x']", "['u@h']", "[[a]]", "'a,'", "[a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]",
                ]
            ),
            "mqtt.srv": (
                taken: ["example.org", "a_b-c", long(230)],
                refused: ["''", "a b", "a:1", "a/b", "'ä'", long(231), "[]"]
            ),
            "mqtt.base_topic": (
                taken: ["a", "a/b", "home/x y", long(128)],
                refused: ["''", "a//b", "/a", "a/", "$SYS", "a+", "'#'", "a/+/b", "\"a\\tb\"", long(129), "[]"]
            ),
            "mqtt.client_id": text(128), "mqtt.username": text(65535),
            "mqtt.password_file": (
                taken: ["x", "/a/b", "../x", long(4095)], refused: ["''", "[]", "\"a\\nb\"", long(4096)]
            ),
            "bluetooth.adapter": (
                taken: ["auto", "hci0", "hci999", "F0:00:00:00:00:01", "f0:0a:00:00:00:01"],
                refused: ["hci", "hci1234", "F0:00:00:00:00", "F0:00:00:00:00:0G", "Auto", "''", "[]"]
            ),
            "bluetooth.radios": (
                taken: [
                    "[hci0]", "[auto]", "[hci0, {adapter: hci1, name: hall}]", "[{ssh: pi@hall.lan, port: 22}]",
                    "[{bus: 'unix:path=/run/other', name: lab}]", "[{ssh: 'pi@fe80::1'}]", "[{ssh: '::1'}]",
                ],
                refused: [
                    "hci0", "[]", "{}", "[usb0]", "[{name: a}]", "[{ssh: -x}]", "[{ssh: a, bus: b}]",
                    "[{esphome: a}]", "[{ssh: a, name: 'a b'}]", "[{ssh: a, port: 0}]", "[{ssh: 'pi@hall:22'}]",
                    "[{ssh: 'hall:'}]", "[{bus: foo}]", "[{bus: ':a'}]", "[{bus: '/run/bus'}]",
                ]
            ),
            "home_assistant.page": (
                taken: ["http://192.168.1.5:8377/", "https://jacquard.lan", "homeassistant://hassio/ingress/a_b"],
                refused: [
                    "''", "jacquard.lan", "ftp://a/", "'http://'", "http:///a", "http://a:b/", "http://a b/",
                    "http://ä/", "[]",
                    "http://a/" + long(504),
                ]
            ),
            "tags.N.serial": (
                taken: ["003R", "'0001'", "A-b-", "0-07-9324FLHBK0003R-1903", "3R-003R-1", "a-bcde-f"],
                refused: [
                    "''", "03R", "'12'", "0003R", "0-07-9324FLHBK0003R", "0003R-", "003-1903", "a_bc", "'ä'", "a bc",
                    "1-" + long(31), "[]",
                ]
            ),
            "tags.N.id": (
                taken: ["sleeve", "a_b-C", "'0001'", "All", long(64)],
                refused: ["all", "''", "a/b", "'ä'", "a b", long(65), "[]"]
            ),
            "tags.N.address": (
                taken: ["F0:00:00:00:00:01", "f0:0a:00:00:00:01"],
                refused: ["auto", "F0:00:00:00:00", "F0:00:00:00:00:0G", "F00000000001", "''", "[]"]
            ),
            "groups.N.name": (
                taken: ["hall", "a_b-C", "'0'", "All", long(32)],
                refused: ["all", "''", "a/b", "a+", "'#'", "'ä'", "a b", long(33), "[]"]
            ),
            "groups.N.tags": (
                taken: ["[sleeve]", "[0001, 003R]", "sleeve", "'0001, 003R'"],
                refused: ["[]", "''", "[a/b]", "'a,'", "{}"]
            ),
            "gear.N.vendor_id": (
                taken: ["74-a8-ce-54", "'00-00-00-01'"],
                refused: ["74-a8-ce", "74-a8-ce-5g", "74a8ce54", "74-a8-ce-54-00", "''", "[]"]
            ),
            "gear.N.vendor": text(64),
            "gear.N.capabilities": (
                taken: ["[led]", "[gesture, haptic]", "led", "'led, touch_data_stream'"],
                refused: ["[lde]", "blink", "'led,'", "{}"]
            ),
            "chords.N.name": (
                taken: ["tap_in", "a", "a2", "covers", long(32)],
                refused: [
                    "''", "2a", "_a", "A", "a-b", "a/b", "cover", "brush_in", "unknown", "unknown_gesture", long(33),
                    "[]",
                ]
            ),
            "chords.N.of": (
                taken: ["[cover, cover]", "'cover, brush_in'", "[double_tap, brush_in, brush_out, brush_up]"],
                refused: [
                    "[cover]", "cover", "[]", "''", "[cover, covre]", "{}", "'cover,'",
                    "[cover, cover, cover, cover, cover]",
                ]
            ),
            "reflexes.N.on": (taken: ["cover", "brush_in"], refused: ["''", "[]", long(33)]),
            "reflexes.N.do": (
                taken: ["led flash", "haptic short", "'led {\"color\": \"red\"}'"],
                refused: ["''", "[]", "flash", "ledflash", "'led \(long(1_021))'"]
            ),
            "reflexes.N.tag": (
                taken: ["sleeve", "a_b-C", "'0001'", long(64)], refused: ["''", "a/b", "'ä'", "a b", long(65), "[]"]
            ),
            "signals.N.name": (taken: ["doorbell", "A_b-1"], refused: ["''", "a/b", long(33), "[]"]),
            "signals.N.led.color": (taken: ["red", "'#ff8000'"], refused: ["''", "[]", long(33)]),
            "metrics.file": (taken: ["x.prom", "/a/x.prom"], refused: ["x.txt", "prom", "''", "[]"]),
        ]
    }()

    private static func long(_ length: Int) -> String { String(repeating: "x", count: length) }

    @Test("accepts and rejects the same texts as the code", arguments: textPaths)
    func texts(path: String) throws {
        let values = try #require(Self.samples(of: path))
        let partners = ["mqtt.tls.certificate_file": "key_file", "mqtt.tls.key_file": "certificate_file"]
        for (value, isTaken) in values.taken.map({ ($0, true) }) + values.refused.map({ ($0, false) }) {
            let yaml =
                partners[path].map { "mqtt: {tls: {\($0): p, \(path.split(separator: ".")[2]): \(value)}}" }
                ?? Self.yaml(path, value)
            #expect(try agree(yaml) == isTaken, "\(path): \(value.prefix(40))")
        }
    }

    @Test("has texts for every key")
    func textKeys() {
        let others = schema.leaves.filter { $0.value["enum"] != nil || $0.value["minimum"] != nil }.keys
        let flags = schema.leaves.filter { $0.value["type"] as? String == "boolean" }.keys
        #expect(Set(Self.textPaths).union(others).union(flags) == Set(Settings.keyPaths))
    }
}
