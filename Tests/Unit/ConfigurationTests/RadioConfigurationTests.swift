import Bridge
import Testing
import Text

@testable import Configuration

@Suite("Configuration of radios")
struct RadioConfigurationTests {
    private func radios(_ list: String) throws -> [RadioSettings]? {
        try readConfiguration("bluetooth:\n  radios: \(list)").get().bluetooth.radios
    }

    @Test("An adapter of this host is written as its name, its address or auto")
    func adapters() throws {
        #expect(
            try radios("[hci0, F0:00:00:00:00:01]") == [
                RadioSettings(name: "hci0", adapter: .name("hci0")),
                RadioSettings(name: "F0-00-00-00-00-01", adapter: .address("F0:00:00:00:00:01")),
            ])
        #expect(try radios("[auto]") == [RadioSettings(name: "auto")])
        #expect(try radios("[{adapter: hci1, name: hall}]") == [RadioSettings(name: "hall", adapter: .name("hci1"))])
    }

    @Test("A variable of the environment holds adapters of this host, with commas between them")
    func environment() throws {
        let variable = "JACQUARD2MQTT_BLUETOOTH__RADIOS"
        let read = readConfiguration("bluetooth: {radios: [{ssh: hall}]}", environment: [variable: "hci0, hci1"])
        #expect(
            try read.get().bluetooth.radios == [
                RadioSettings(name: "hci0", adapter: .name("hci0")),
                RadioSettings(name: "hci1", adapter: .name("hci1")),
            ])
        for (text, problem) in [
            ("hci0,ssh:pi@hall", "\"ssh:pi@hall\""), ("hci0,hci0", "two radios"),
        ] {
            let lines = errorLines("", environment: [variable: text])
            #expect(lines.count == 1 && lines[0].hasPrefix("\(variable): ") && lines[0].contains(problem), "\(lines)")
        }
    }

    @Test("Another computer has a user, a host, a port and files; its name is the host")
    func ssh() throws {
        var expected = RadioSettings.SSH(target: "pi@hall.lan")
        #expect(try radios("[{ssh: pi@hall.lan}]") == [RadioSettings(name: "hall.lan", place: .ssh(expected))])
        expected.port = 2222
        expected.identityFile = "/k"
        expected.knownHostsFile = "/h"
        let keys = "name: hall, adapter: hci1, port: 2222, identity_file: /k, known_hosts_file: /h"
        #expect(
            try radios("[{ssh: pi@hall.lan, \(keys)}]") == [
                RadioSettings(name: "hall", place: .ssh(expected), adapter: .name("hci1"))
            ])
    }

    @Test("The host of another computer can be an IPv6 address", arguments: ["fe80::1", "pi@::1", "a:b:c"])
    func addressOfComputer(target: String) throws {
        let place = try radios("[{ssh: '\(target)'}]")?.first?.place
        #expect(place == .ssh(RadioSettings.SSH(target: target)))
    }

    @Test("A bus has an address")
    func bus() throws {
        #expect(
            try radios("[{bus: \"unix:path=/run/other\", name: lab}]") == [
                RadioSettings(name: "lab", place: .bus("unix:path=/run/other"))
            ])
    }

    @Test("A proxy has a host, a port and a key, or says that it does not encrypt; its key is never shown")
    func proxy() throws {
        let key = Secret(value: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let item = "esphome: \"loft.local:6054\", key_file: loft.key, dedicated: true, name: loft"
        let read = readConfiguration("bluetooth: {radios: [{\(item)}]}") { path throws(Rejection) in
            guard path == "loft.key" else { throw Rejection("is no file") }
            return key
        }
        var expected = RadioSettings.ESPHome(host: "loft.local", port: 6054)
        (expected.keyFile, expected.key) = ("loft.key", key)
        let radios = try read.get().bluetooth.radios
        #expect(radios == [RadioSettings(name: "loft", place: .esphome(expected))])
        #expect(radios?[0].text == "loft=esphome:loft.local:6054")
        #expect(!"\(String(describing: radios))".contains(key.value))
        #expect(
            try self.radios("[{esphome: \"[fe80::1]\", insecure: true, dedicated: true}]") == [
                RadioSettings(name: "fe80--1", place: .esphome(RadioSettings.ESPHome(host: "fe80::1")))
            ])
    }

    @Test("A tag stays available for 5 s with several radios, and not without, unless the configuration says so")
    func offlineAfter() throws {
        #expect(try readConfiguration("").get().bridge.offlineAfter == .zero)
        #expect(try readConfiguration("bluetooth: {radios: [hci0]}").get().bridge.offlineAfter == .seconds(5))
        let both = "bluetooth: {radios: [hci0]}\ndefaults: {offline_after_s: 0.5}"
        #expect(try readConfiguration(both).get().bridge.offlineAfter == .milliseconds(500))
    }

    @Test(
        "What is wrong is named with its line, and with what is allowed",
        arguments: [
            ("bluetooth:\n  adapter: hci0\n  radios: [hci1]", "3:", "set together with bluetooth.adapter"),
            ("bluetooth:\n  radios: hci0", "2:", "no list of radios"),
            ("bluetooth:\n  radios: []", "2:", "a list of 0"),
            ("bluetooth:\n  radios:\n    - hci0\n    - hci0", "4:", "the name of two radios"),
            ("bluetooth:\n  radios:\n    - hci0\n    - auto", "4:", "can be the same adapter"),
            ("bluetooth:\n  radios:\n    - {esphome: 192.0.2.7, dedicated: true}", "3:", "0.key_file: missing"),
            ("bluetooth:\n  radios:\n    - {esphome: a, insecure: no, dedicated: true}", "3:", "0.insecure"),
            ("bluetooth:\n  radios:\n    - {esphome: a, insecure: false, dedicated: true}", "3:", "key_file: missing"),
            ("bluetooth:\n  radios:\n    - {esphome: a, key_file: k, dedicated: true}", "3:", "not hold 32 bytes"),
            (
                "bluetooth:\n  radios:\n    - {esphome: a, key_file: k,\n    insecure: true, dedicated: true}", "4:",
                "together with key_file"
            ),
            ("bluetooth:\n  radios:\n    - {esphome: a, insecure: true}", "3:", "it serves one client"),
            (
                "bluetooth:\n  radios:\n    - {esphome: a, insecure: true, dedicated: false}", "3:",
                "no proxy for this bridge only"
            ),
            ("bluetooth:\n  radios:\n    - {esphome: a:0, insecure: true, dedicated: true}", "3:", "0.esphome"),
            (
                "bluetooth:\n  radios:\n    - {esphome: a, insecure: true, dedicated: true, keyfile: k}", "3:",
                "did you mean key_file?"
            ),
            (
                "bluetooth:\n  radios:\n    - {esphome: a, insecure: true, dedicated: true, adapter: hci0}", "3:",
                "adapter: unknown key"
            ),
            (
                "bluetooth:\n  radios:\n    - {esphome: a, insecure: true, dedicated: true}\n"
                    + "    - {esphome: a, insecure: true, dedicated: true, name: b}", "4:", "are the same proxy"
            ),
            ("bluetooth:\n  radios:\n    - ssh: -oProxyCommand=x", "3:", "bluetooth.radios.0.ssh"),
            ("bluetooth:\n  radios:\n    - ssh: pi@-x", "3:", "is no user and host"),
            ("bluetooth:\n  radios:\n    - ssh: a@b@c", "3:", "is no user and host"),
            ("bluetooth:\n  radios:\n    - ssh: pi@hall:22", "3:", "holds a port; write it to port"),
            ("bluetooth:\n  radios:\n    - bus: foo", "3:", "\"foo\" is no address of D-Bus; allowed: an address"),
            ("bluetooth:\n  radios:\n    - {ssh: a, bus: b}", "3:", "ssh and bus together"),
            ("bluetooth:\n  radios:\n    - {name: a}", "3:", "a radio without a place"),
            ("bluetooth:\n  radios:\n    - {ssh: a, adaptor: hci0}", "3:", "did you mean adapter?"),
            ("bluetooth:\n  radios:\n    - {ssh: a, port: 0}", "3:", "port"),
            ("bluetooth:\n  radios:\n    - {ssh: a, name: a b}", "3:", "name"),
            ("bluetooth:\n  radios:\n    - usb0", "3:", "is not an adapter"),
        ])
    func errors(yaml: String, line: String, text: String) {
        let lines = errorLines(yaml)
        #expect(lines.contains { $0.contains(":\(line)") && $0.contains(text) }, "\(lines)")
    }

    @Test("At most 16 radios are allowed")
    func limit() {
        let list = (0..<17).map { "hci\($0)" }.joined(separator: ", ")
        #expect(errorLines("bluetooth: {radios: [\(list)]}").contains { $0.contains("a list of 17") })
    }
}
