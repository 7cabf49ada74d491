import Testing
import Text
import Time

@testable import Configuration

@Suite("YAML of the configuration")
struct YAMLTests {
    @Test(
        "invalid YAML is reported with its place",
        arguments: [
            ("mqtt:\n\thost: a", "2:1: a tab (U+0009) in the indentation: use spaces"),
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
            (
                "instance: \"a",
                "1:11: a quote is opened and never closed; if a value begins with it, put the value in quotes of the other kind"
            ),
            (
                "tags: [a",
                "1:7: a [ is opened and not closed, or a comma is missing; if a value begins with [, put the value in quotes"
            ),
            (
                "log: {level: info",
                "1:6: a { is opened and not closed, or a comma is missing; if a value begins with {, put the value in quotes"
            ),
            ("mqtt: - a", "1:7: the value begins with -, which YAML reserves: put the value in quotes"),
            ("- - a\n- b: - c", "2:6: the value begins with -, which YAML reserves: put the value in quotes"),
            ("instance: a\nlog\n", "2:1: a key without \": \" after it, or an indentation that does not fit"),
            ("instance: \"\\q\"", "1:12: an unknown escape after \\ in double quotes; use single quotes"),
        ])
    func syntax(yaml: String, line: String) {
        #expect(errorLines(yaml) == ["/etc/x.yaml:\(line)"])
    }

    @Test(
        "aliases, anchors, types, further documents and doubled keys are reported",
        arguments: [
            (
                "instance: &a b",
                [
                    "1:11: instance: an anchor (&name) is not allowed; if the value begins with &, put the value in quotes"
                ]
            ),
            (
                "log: &a {}\nmqtt: *a",
                [
                    "1:6: log: an anchor (&name) is not allowed; if the value begins with &, put the value in quotes",
                    "2:7: mqtt: an alias (*name) is not allowed; if the value begins with *, put the value in quotes",
                ]
            ),
            (
                "instance: !secret a",
                ["1:11: instance: a type (!name) is not allowed; if the value begins with !, put the value in quotes"]
            ),
            (
                "tags:\n  - *a",
                ["2:5: tags.0: an alias (*name) is not allowed; if the value begins with *, put the value in quotes"]
            ),
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

    /// Beginnings of passwords that YAML takes for something else.
    private static let reserved = [
        ",abc", "? abc", "?", "@abc", "`abc", "%abc", "&abc", "& abc", "&!x", "*abc", "*!x", "* x", "!abc", "!a{b",
        "!<x",
        "!abc,def", "!a!b!", "|abc", "|0", "|", "|-", "|2", ">abc", ">", "{abc", "{abc}", "{abc}def", "{a: b", "[abc",
        "[abc]", "[abc]def", "]abc", "}abc", "#abc", "'abc", "\"abc", "\"abc\"def", "'a'b", "- abc", "-", ": abc", ":",
        "~", "null",
    ]

    @Test(
        "a password that begins with a character of YAML is reported at its place, to be put in quotes",
        arguments: reserved)
    func reservedPassword(password: String) {
        for (yaml, place) in [
            ("mqtt:\n  password: \(password)\n  port: 1884\nlog: {level: info}\n", "2:13: "),
            ("mqtt:\n  host: a\n  password: \(password)\n", "3:13: "),
            ("log: {}\nmqtt:\n  password: \(password)", "3:13: "),
        ] {
            let lines = errorLines(yaml)
            #expect(lines.count == 1, "\(yaml) \(lines)")
            // What begins with # is a comment for libyaml, which names the place of the missing value.
            let places = password.hasPrefix("#") ? [place, place.replacing("13", with: "12")] : [place]
            #expect(places.contains { lines.first?.hasPrefix("/etc/x.yaml:\($0)") == true }, "\(yaml) \(lines)")
            #expect(lines.first?.contains("put the value in quotes") == true, "\(yaml) \(lines)")
            #expect(!lines.joined().contains("abc") && !lines.joined().contains("not valid YAML"), "\(yaml) \(lines)")
        }
    }

    @Test("the same passwords are accepted in quotes", arguments: reserved)
    func quotedPassword(password: String) throws {
        let quote = password.contains("'") ? "\"" : "'"
        guard !password.contains("\"") || quote == "'" else { return }
        let mqtt = try readConfiguration("mqtt: {password: \(quote)\(password)\(quote), username: u}").get().mqtt
        #expect(mqtt.password == Secret(value: password))
    }

    @Test(
        "a reserved character in a list, in braces and behind a dash is reported at its place",
        arguments: [
            ("mqtt: {password: @abc, port: 1}", "1:18"), ("mqtt: {password: ? abc}", "1:18"),
            ("mqtt: {password: |abc}", "1:18"),
            ("mqtt: {password: }abc}", "1:18"), ("mqtt: {hosts: [@a]}", "1:16"), ("mqtt:\n  hosts:\n    - `a`", "3:7"),
            ("mqtt:\n  hosts:\n  -   %a", "3:7"), ("tags:\n- serial: @1", "2:11"),
        ])
    func reservedElsewhere(yaml: String, place: String) {
        let lines = errorLines(yaml)
        #expect(lines.count == 1 && lines.first?.hasPrefix("/etc/x.yaml:\(place): ") == true, "\(lines)")
        #expect(lines.first?.contains("put the value in quotes") == true, "\(lines)")
    }

    /// Characters that look like a space or like nothing.
    private static let invisible: [(Unicode.Scalar, String)] = [
        ("\u{A0}", "a no-break space (U+00A0)"), ("\u{202F}", "a narrow no-break space (U+202F)"),
        ("\u{3000}", "an ideographic space (U+3000)"), ("\u{2003}", "an em space (U+2003)"),
        ("\u{200B}", "a zero width space (U+200B)"), ("\u{200D}", "a zero width joiner (U+200D)"),
        ("\u{FEFF}", "a byte order mark (U+FEFF)"), ("\u{AD}", "a soft hyphen (U+00AD)"),
        ("\u{200E}", "a mark of writing direction (U+200E)"), ("\u{2060}", "an invisible joiner (U+2060)"),
        ("\u{2013}", "an en dash (U+2013)"), ("\u{201C}", "a left double quotation mark (U+201C)"),
    ]

    @Test("an invisible or similar character in front of a key is named with its place", arguments: invisible)
    func invisibleBeforeKey(scalar: Unicode.Scalar, name: String) {
        let (one, two) = ("\(scalar)", "\(scalar)\(scalar)")
        for (yaml, place) in [
            ("\(one)instance: a\n", "1:1"), ("log:\n  level: info\n\(one)mqtt:\n  host: a\n", "3:1"),
            ("mqtt:\n\(two)host: a\n", "2:1"), ("mqtt:\n\(two)host: a\n\(two)port: 1\n", "2:1"),
            ("mqtt:\n \(one)host: a\n", "2:2"), ("mqtt:\n \(one)host: a\n  port: 1\n", "2:2"),
            ("mqtt:\n\(one) host: a\n  port: 1\n", "2:1"), ("mqtt:\n  \(one)host: a\n  port: 1\n", "2:3"),
            ("mqtt:\n  host: a\n \(one)port: 1\n", "3:2"), ("mqtt:\n  host: a\n\(two)port: 1\n", "3:1"),
            ("mqtt:\n  host: a\n  \(one)port: 1\n", "3:3"), ("mqtt:\n  tls:\n  \(two)ca_file: a\n", "3:3"),
            ("tags:\n  - \(one)serial: A\n    id: a\n", "2:5"), ("tags:\n  - serial: A\n  \(two)id: a\n", "3:3"),
            ("mqtt: {host: a, \(one)port: 1}", "1:17"), ("\r\nmqtt:\r\n  \(one)host: a\r\n", "3:3"),
        ] {
            // libyaml skips a byte order mark at the beginning of a line, and names the next one.
            if scalar == "\u{FEFF}", place.hasSuffix(":1") { continue }
            let lines = errorLines(yaml)
            let first = lines.first ?? ""
            #expect(
                first.hasPrefix("/etc/x.yaml:\(place): ") && first.contains(name), "\(yaml.debugDescription) \(lines)")
        }
    }

    @Test(
        "an invisible or similar character elsewhere in the structure is named with its place",
        arguments: [
            ("mqtt:\n  host:\u{A0}a\n  port: 1", "2:8", "a no-break space (U+00A0) in front of a value: use spaces"),
            ("mqtt:\n  host: a\n  port:\u{A0}1\n", "3:8", "a no-break space (U+00A0)"),
            ("mqtt:\n  host:\u{A0}a\n", "2:8", "a no-break space (U+00A0) at 2:8"),
            ("mqtt:\n  host:\u{A0}a\n  port:\u{A0}1\n", "2:8", "a no-break space (U+00A0) at 2:8"),
            ("mqtt:\u{A0}\n  host: a\n", "1:6", "a no-break space (U+00A0)"),
            ("mqtt\u{A0}:\n  host: a\n", "1:5", "a no-break space (U+00A0) in the key mqtt: use spaces"),
            ("mqtt:\n  host: a\n\u{A0}\n  port: 1\n", "3:1", "a no-break space (U+00A0)"),
            ("mqtt:\n  host\u{FF1A} a\n  port: 1\n", "2:7", "a fullwidth colon (U+FF1A)"),
            ("tags:\n- serial: AAAA\n\u{2013} serial: BBBB\n", "3:1", "an en dash (U+2013)"),
            ("tags:\n\u{2013} serial: AAAA\n", "2:1", "an en dash (U+2013)"),
            ("tags:\n-\u{A0}serial: A\n  id: a\n", "2:2", "a no-break space (U+00A0)"),
            (
                "instance: \"attic\u{201D}\nlog: {}", "1:17",
                "a right double quotation mark (U+201D) does not close the quote"
            ),
            ("mqtt:\n  host: a\n\tport: 1", "3:1", "a tab (U+0009) in the indentation: use spaces"),
            ("mqtt:\n  host: a\n  \tport: 1", "3:3", "a tab (U+0009) in the indentation: use spaces"),
            ("tags:\n  -\tserial: A\n    id: a", "2:4", "a tab (U+0009) in the indentation: use spaces"),
            (
                "log:\n  level: \u{201C}info\u{201D}", "2:10",
                "a left double quotation mark (U+201C) at 2:10: use \" or '"
            ),
            ("mqtt: {port: 1\u{A0}}", "1:14", "a no-break space (U+00A0) at 1:15"),
        ])
    func invisibleElsewhere(yaml: String, place: String, text: String) {
        let lines = errorLines(yaml)
        let first = lines.first ?? ""
        #expect(first.contains(text), "\(yaml.debugDescription) \(lines)")
        #expect(
            first.hasPrefix("/etc/x.yaml:\(place): ") || text.contains("\(place):") || text.hasSuffix(place), "\(lines)"
        )
        #expect(lines.count == 1, "\(yaml.debugDescription) \(lines)")
    }

    @Test(
        "an accepted value with an invisible character or a typographic quote at its edge has a notice",
        arguments: [
            ("mqtt:\n  password: \u{201C}abc\u{201D}\n", true), ("mqtt:\n  password: abc\u{A0}\n", true),
            ("mqtt:\n  password: \u{200B}abc\n", true), ("mqtt:\n  password: 'abc\u{A0}'\n", false),
            ("mqtt:\n  password: ab\u{A0}c\n", false), ("tags:\n- {serial: A, name: Hall \u{2013}}\n", false),
            ("mqtt:\n  password: abc\n", false),
        ])
    func edge(yaml: String, hasNotice: Bool) throws {
        var findings = ConfigurationFindings()
        let notices = try #require(ConfigurationNodeBuilder.build(Array(yaml.utf8), &findings)).notices()
        #expect(notices.count == (hasNotice ? 1 : 0) && findings.isEmpty, "\(notices)")
        #expect(!notices.joined().contains("abc"))
    }

    @Test("a byte order mark in front of the file changes nothing")
    func byteOrderMark() throws {
        let yaml = "mqtt:\n  host: a\nlog:\n  level: error\n"
        #expect(try readConfiguration("\u{FEFF}" + yaml).get() == readConfiguration(yaml).get())
        #expect(errorLines("\u{FEFF}log: {level: x}") == errorLines("log: {level: x}"))
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
        let notices = root.notices()
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
        ConfigurationReader.read(
            WrittenConfiguration(yaml: bytes), file: "/etc/x.yaml", environment: [:], hostName: "attic"
        ) {
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
