import Testing
import Text
import Time

@testable import Configuration

@Suite("YAML of the configuration")
struct YAMLTests {
    @Test(
        "invalid YAML is reported with its place",
        arguments: [
            (
                "mqtt:\n\thost: a",
                "2:1: a value begins with a character that YAML reserves (a tab, @, ` or %)"
                    + "; indent with spaces, quote the value"
            ),
            (
                "mqtt:\n  host: a: b",
                "2:10: a second \": \" in one line, or an indentation that does not fit"
                    + "; quote a value that holds \": \""
            ),
            (
                "mqtt:\n  host: a\n port: 1",
                "3:2: the indentation does not fit the lines above, or a value needs quotes"
            ),
            (
                "mqtt:\n  host\n  port: 1",
                "3:7: a second \": \" in one line, or an indentation that does not fit; quote a value that holds \": \""
            ),
            ("instance: \"a", "1:11: a quote is opened and never closed"),
            ("tags: [a", "1:7: a [ is opened and not closed, or a comma is missing"),
            ("log: {level: info", "1:6: a { is opened and not closed, or a comma is missing"),
            ("mqtt: - a", "1:7: a list item (\"- \") where none can stand; begin it on a line of its own"),
            ("instance: a\nlog\n", "2:1: a key without \": \" after it, or an indentation that does not fit"),
            ("instance: \"\\q\"", "1:12: an unknown escape after \\ in double quotes; use single quotes"),
        ])
    func syntax(yaml: String, line: String) {
        #expect(errorLines(yaml) == ["/etc/x.yaml:\(line)"])
    }

    @Test(
        "aliases, anchors, types, further documents and doubled keys are reported",
        arguments: [
            ("instance: &a b", ["1:11: instance: an anchor (&name) is not allowed; quote a value that begins with &"]),
            (
                "log: &a {}\nmqtt: *a",
                [
                    "1:6: log: an anchor (&name) is not allowed; quote a value that begins with &",
                    "2:7: mqtt: an alias (*name) is not allowed; write the value itself",
                ]
            ),
            (
                "instance: !secret a",
                ["1:11: instance: a type (!name) is not allowed; quote a value that begins with !"]
            ),
            ("tags:\n  - *a", ["2:5: tags.0: an alias (*name) is not allowed; write the value itself"]),
            ("instance: a\n---\ninstance: b", ["2:1: a second document (\"---\"); one file holds one configuration"]),
            ("mqtt:\n  port: 1\n  port: 2", ["3:3: mqtt.port: the same key stands in line 2 already"]),
            ("[a, b]: c", ["1:1: a list or keys where one key belongs"]),
        ])
    func decorations(yaml: String, lines: [String]) {
        #expect(errorLines(yaml) == lines.map { "/etc/x.yaml:\($0)" })
    }

    @Test(
        "invalid UTF-8 is reported with its place",
        arguments: [
            ([0x61, 0x3A, 0x0A, 0x62, 0x00], "2:2: a control character; the file must be text"),
            ([0x61, 0x3A, 0x20, 0xC3, 0x28], "1:5: not UTF-8 text; save the file as UTF-8"),
            ([0xC3, 0xA4, 0x3A, 0x20, 0xFF], "1:4: not UTF-8 text; save the file as UTF-8"),
            ([0x61, 0xE2, 0x82], "1:2: not UTF-8 text; save the file as UTF-8"),
            ([0xFF, 0xFE, 0x61, 0x00], "1:1: not UTF-8 text; save the file as UTF-8"),
            ([0x61, 0x3A, 0x20, 0x1B], "1:4: a control character; the file must be text"),
        ] as [([UInt8], String)])
    func bytes(bytes: [UInt8], line: String) {
        #expect(errorLines(read(bytes)) == ["/etc/x.yaml:\(line)"])
    }

    @Test("escaped control characters in quotes are rejected by the keys")
    func escapes() {
        #expect(errorLines("mqtt: {client_id: \"a\\0b\"}").count == 1)
    }

    @Test("the billion laughs are a few errors")
    func aliases() {
        let laughs = (1...30).map {
            "k\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 9).joined(separator: ","))]\n"
        }
        #expect(errorLines("k0: &a0 x\n" + laughs.joined()).count == ConfigurationFindings.limit + 1)
    }

    @Test("deep nesting ends in an error", arguments: ["[", "{a: ", "- ", "? ", "[{a: ", "a:\n"])
    func depth(unit: String) {
        #expect(!errorLines(String(repeating: unit, count: 100_000)).isEmpty)
    }

    @Test("a deep tree of lines ends in an error")
    func deepLines() {
        let lines = (0..<100).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(errorLines(lines) == ["/etc/x.yaml:16:16: nested too deeply"])
    }

    @Test("very long keys, values and lists are read quickly")
    func size() {
        let long = String(repeating: "x", count: 1 << 20)
        #expect(!errorLines("\(long.prefix(1000)): 1").isEmpty)
        #expect(errorLines("instance: \(long)").count == 1)
        let tags = (0..<20000).map { "- serial: \(String(50_000 + $0, radix: 36))\n" }.joined()
        #expect(errorLines("tags:\n\(tags)") == [])
    }

    @Test(
        "a value that a comment cuts is an error with its remedy, or a notice",
        arguments: [
            ("mqtt:\n  password: abc #def\n", true), ("mqtt: {password: abc #def\n}", true),
            ("instance: hall #2", true),
            ("mqtt:\n  password: 'abc #def'\n", false), ("mqtt:\n  password: abc#def\n", false),
            ("mqtt:\n  password: abc # the password\n", false), ("mqtt:\n  password: ä #ö\n", true),
            ("mqtt:\n  password: abc ## old\n", false),
        ])
    func cut(yaml: String, isCut: Bool) throws {
        var findings = ConfigurationFindings()
        let root = try #require(ConfigurationNodeBuilder.build(Array(yaml.utf8), &findings))
        let notices = root.noticesOfCuts()
        #expect(notices.count == (isCut ? 1 : 0), "\(notices)")
        #expect(!notices.joined().contains("abc") && !notices.joined().contains("def"))
    }

    @Test("the error of a value that a comment cuts says what to do")
    func cutError() {
        #expect(
            errorLines("log:\n  level: #info").first?.contains(
                "log.level: no value; \" #\" begins a comment: put the value in quotes; allowed: ") == true)
        #expect(
            errorLines("reflexes:\n  - {on: double_tap, do: led #ff8000\n    }").first?.contains(
                "\"led\" does not begin with led or haptic; \" #\" begins a comment: put the value in quotes") == true)
    }

    @Test(
        "what libyaml reports is said in words of the file",
        arguments: ["a: [", "a: {b: [1,", "a: 'b", "a: 1\n b", "a: \"\\q\""])
    func plainWords(yaml: String) {
        let lines = errorLines(yaml)
        #expect(
            !lines.isEmpty && lines.allSatisfy { !$0.contains("not valid YAML") && !$0.contains("did not find") },
            "\(lines)")
    }

    @Test("a damaged file is read or rejected, whatever the damage", arguments: 0..<20)
    func mutations(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let example = Array(try ExampleConfiguration.uncommented().utf8)
        for _ in 0..<100 {
            var bytes = example
            for _ in 0...Int.random(in: 0..<8, using: &random) {
                mutate(&bytes, &random)
            }
            let lines = errorLines(read(bytes))
            #expect(!lines.contains { $0.utf8.contains { $0 < 0x20 } }, "\(lines)")
        }
    }

    private func read(_ bytes: [UInt8]) -> Result<Settings, ConfigurationErrors> {
        ConfigurationReader.read(yaml: bytes, file: "/etc/x.yaml", environment: [:], hostName: "attic") {
            _ throws(Rejection) in throw Rejection("cannot be read")
        }
    }

    /// Changes, removes, inserts or doubles something; what is inserted means something to YAML more often than not.
    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        let special = Array(":-#&*!|>'\"%@`[]{},? \n\t\\\0".utf8)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(special.randomElement(using: &random) ?? 0, at: index)
        case 3: bytes.removeSubrange(index..<min(index + 40, bytes.count))
        default: bytes.insert(contentsOf: bytes[index..<min(index + 200, bytes.count)], at: index)
        }
    }
}
