import Testing

@testable import Configuration

@Suite("Errors of the configuration's structure")
struct ConfigurationStructureErrorsTests {
    @Test(
        "an unknown key is named with the known ones and the nearest spelling",
        arguments: [
            (
                "mqqt: 1",
                "1:1: mqqt: unknown key (did you mean mqtt?)"
                    + "; allowed: \(keyNames(of: ""))"
            ),
            (
                "mqtt:\n  tls:\n    cafile: x",
                "3:5: mqtt.tls.cafile: unknown key (did you mean ca_file?)"
                    + "; allowed: ca_file, certificate_file, key_file, insecure"
            ),
            (
                "mqtt: {broker: x}",
                "1:8: mqtt.broker: unknown key (did you mean host?)"
                    + "; allowed: \(keyNames(of: "mqtt"))"
            ),
            (
                "mqtt: {user: x}",
                "1:8: mqtt.user: unknown key (did you mean username?)"
                    + "; allowed: \(keyNames(of: "mqtt"))"
            ),
            (
                "log: {<<: {level: info}}",
                "1:7: log: keys of another section cannot be merged; write them here; allowed: \(keyNames(of: "log"))"
            ),
            ("log: {color: true}", "1:7: log.color: unknown key; allowed: \(keyNames(of: "log"))"),
            (
                "tags:\n  - serial: 003R\n    adress: x",
                "3:5: tags.0.adress: unknown key (did you mean address?); allowed: serial, id, name, address, connect"
            ),
            ("log: {\"\": 1}", "1:7: log: unknown key; allowed: \(keyNames(of: "log"))"),
        ])
    func unknownKey(yaml: String, line: String) {
        #expect(errorLines(yaml) == ["/etc/x.yaml:\(line)"])
    }

    @Test(
        "a section, a list and a value are distinguished",
        arguments: [
            ("log: info", "1:6: log: one value where keys belong; allowed: \(keyNames(of: "log"))"),
            ("log: [info]", "1:6: log: a list where keys belong; allowed: \(keyNames(of: "log"))"),
            (
                "[1]",
                "1:1: a list where keys belong"
                    + "; allowed: \(keyNames(of: ""))"
            ),
            ("tags: 003R", "1:7: tags: one value where a list belongs; allowed: items that begin with \"- \""),
            ("tags: {serial: 003R}", "1:7: tags: keys where a list belongs; allowed: items that begin with \"- \""),
            ("tags: [003R]", "1:8: tags.0: one value where keys belong; allowed: serial, id, name, address, connect"),
        ])
    func shape(yaml: String, line: String) {
        #expect(errorLines(yaml).first == "/etc/x.yaml:\(line)")
    }

    @Test(
        "tags must be distinguishable",
        arguments: [
            ("- id: a", ["2:3: tags.0.serial: missing; allowed: the serial printed on the tag"]),
            ("-", ["2:2: tags.0.serial: missing; allowed: the serial printed on the tag"]),
            (
                "- serial: 0 1",
                [
                    "2:11: tags.0.serial: \"0 1\" holds other characters"
                        + "; allowed: the four characters printed before the last hyphen, such as 003R, or the whole number"
                ]
            ),
            (
                "- serial: AAAA\n- serial: AAAA",
                [
                    "3:11: tags.1.serial: \"AAAA\" is the serial of tags.0, too"
                        + "; allowed: a serial for one tag, or an id and an address for each that shares it"
                ]
            ),
            (
                "- {serial: AAAA, id: x}\n- {serial: BBBB, id: x}",
                ["3:22: tags.1.id: \"x\" is the id of tags.0, too; allowed: an id for each tag"]
            ),
            (
                "- {serial: AAAA, id: BBBB}\n- {serial: BBBB}",
                ["3:12: tags.1.serial: \"BBBB\" is the id of tags.0, too; allowed: an id for each tag"]
            ),
            (
                "- {serial: AAAA, address: \"F0:00:00:00:00:0a\"}\n- {serial: BBBB, address: \"F0:00:00:00:00:0A\"}",
                [
                    "3:27: tags.1.address: \"F0:00:00:00:00:0A\" is the address of tags.0, too"
                        + "; allowed: an address for one tag"
                ]
            ),
            (
                "- {serial: AAAA, address: F0-00}",
                [
                    "2:27: tags.0.address: \"F0-00\" is not a Bluetooth address"
                        + "; allowed: six pairs of hexadecimal digits such as F0:00:00:00:00:01"
                ]
            ),
            (
                "- {serial: AAAA, connect: sometimes}",
                ["2:27: tags.0.connect: \"sometimes\" is not one of these; allowed: always, on_demand, never"]
            ),
            (
                "- {serial: AAAA, id: a/b}",
                [
                    "2:22: tags.0.id: \"a/b\" holds other characters"
                        + "; allowed: 1 to 64 of 0-9 A-Z a-z _ -, and not all"
                ]
            ),
            (
                "- {serial: AAAA, id: all}",
                [
                    "2:22: tags.0.id: \"all\" stands for all tags on the command line"
                        + "; allowed: 1 to 64 of 0-9 A-Z a-z _ -, and not all"
                ]
            ),
        ])
    func tags(items: String, lines: [String]) {
        #expect(errorLines("tags:\n\(items)") == lines.map { "/etc/x.yaml:\($0)" })
    }

    @Test(
        "keys that exclude or need each other are checked",
        arguments: [
            (
                "mqtt:\n  password: a\n  password_file: b",
                ["3:18: mqtt.password_file: set together with mqtt.password; allowed: one of the two"]
            ),
            (
                "mqtt:\n  hosts: [a, b]\n  host: c",
                ["2:10: mqtt.hosts: set together with mqtt.host; allowed: one of the two"]
            ),
            (
                "mqtt: {hosts: []}",
                ["1:15: mqtt.hosts: an empty list; allowed: 1 to 16 items"]
            ),
            (
                "mqtt: {hosts: [\"::1\", a:b, c]}",
                [
                    "1:16: mqtt.hosts.0: the value is an IPv6 address without brackets"
                        + "; allowed: a host name or address with a port, such as broker.lan:1883 or [::1]:1883",
                    "1:23: mqtt.hosts.1: the value holds a port that is not 1 to 65535"
                        + "; allowed: a host name or address with a port, such as broker.lan:1883 or [::1]:1883",
                ]
            ),
            (
                "mqtt:\n  tls:\n    key_file: k",
                ["3:15: mqtt.tls.key_file: set without mqtt.tls.certificate_file; allowed: both or none of the two"]
            ),
            (
                "mqtt:\n  tls:\n    certificate_file: c",
                ["3:23: mqtt.tls.certificate_file: set without mqtt.tls.key_file; allowed: both or none of the two"]
            ),
            (
                "mqtt:\n  tls: [true]",
                ["2:8: mqtt.tls: a list where keys belong; allowed: ca_file, certificate_file, key_file, insecure"]
            ),
        ])
    func relations(yaml: String, lines: [String]) {
        #expect(errorLines(yaml) == lines.map { "/etc/x.yaml:\($0)" })
    }
}
