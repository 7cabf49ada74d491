import Bridge
import HomeAssistant
import JacquardProtocol
import Testing
import Text

@testable import Configuration
@testable import Daemon

@Suite("Changes of a configuration")
struct ConfigurationChangeTests {
    private static let sleeve = TagSettings(serial: "003R", id: "sleeve", name: "Left sleeve")
    private static let bag = TagSettings(serial: "0002", id: "0002")

    /// A configuration that lists two tags after a change, and the actions for it.
    struct Row: Sendable {
        let change: @Sendable (inout Settings) -> Void
        let expected: [ConfigurationChange]
    }

    private static var running: Settings {
        var configuration = Settings(instance: "attic", mqtt: .init(clientID: "jacquard-attic"))
        configuration.tags = [sleeve, bag]
        configuration.metrics.file = "/m.prom"
        return configuration
    }

    private static func changed(_ tag: TagSettings, _ change: (inout TagSettings) -> Void) -> TagSettings {
        var copy = tag
        change(&copy)
        return copy
    }

    static let tags: [Row] = [
        Row(change: { _ in }, expected: []),
        Row(change: { $0.tags.reverse() }, expected: []),
        Row(change: { $0.tags = [sleeve] }, expected: [.tagRemoved(id: "0002")]),
        Row(change: { $0.tags = [] }, expected: [.tagRemoved(id: "sleeve"), .tagRemoved(id: "0002")]),
        Row(
            change: { $0.tags.append(TagSettings(serial: "0003", id: "0003")) },
            expected: [.tagAdded(TagSettings(serial: "0003", id: "0003"))]),
        Row(change: { $0.tags[0].name = nil }, expected: [.tagChanged(changed(sleeve) { $0.name = nil })]),
        Row(change: { $0.tags[1].connect = .never }, expected: [.tagChanged(changed(bag) { $0.connect = .never })]),
        Row(
            change: { $0.tags[0].id = "cuff" },
            expected: [.tagRemoved(id: "sleeve"), .tagAdded(changed(sleeve) { $0.id = "cuff" })]),
        Row(
            change: { $0.tags[0].serial = "0009" },
            expected: [.tagRemoved(id: "sleeve"), .tagAdded(changed(sleeve) { $0.serial = "0009" })]),
        Row(
            change: { $0.tags[1].address = "F0:00:00:00:00:02" },
            expected: [.tagRemoved(id: "0002"), .tagAdded(changed(bag) { $0.address = "F0:00:00:00:00:02" })]),
    ]

    static let others: [Row] = [
        Row(change: { $0.homeAssistant.discovery = false }, expected: [.settings]),
        Row(change: { $0.homeAssistant.form = .single }, expected: [.settings]),
        Row(change: { $0.homeAssistant.prefix = "ha" }, expected: [.settings]),
        Row(change: { $0.homeAssistant.statusTopic = "ha/state" }, expected: [.settings]),
        Row(change: { $0.homeAssistant.areaLight = true }, expected: [.settings]),
        Row(change: { $0.bridge.ledOn = .seconds(3) }, expected: [.settings]),
        Row(change: { $0.bridge.commandsPerTag = 4 }, expected: [.settings]),
        Row(change: { $0.bridge.gestureLifetime = .seconds(9) }, expected: [.settings]),
        Row(
            change: {
                $0.gear = [GearSettings(vendorID: "00-00-00-01", productID: "00-00-00-02", product: "Bag")]
            },
            expected: [.gear]),
        Row(change: { $0.log.level = .debug }, expected: [.logLevel(.debug)]),
        Row(change: { $0.mqtt.host = "broker.lan" }, expected: [.broker]),
        Row(change: { $0.mqtt.port = 8883 }, expected: [.broker]),
        Row(change: { $0.mqtt.hosts = [] }, expected: [.broker]),
        Row(change: { $0.mqtt.serviceDomain = "example.org" }, expected: [.broker]),
        Row(change: { $0.mqtt.order = .spread }, expected: [.broker]),
        Row(change: { $0.mqtt.prefersFirst = true }, expected: [.broker]),
        Row(change: { $0.mqtt.version = .v311 }, expected: [.broker]),
        Row(change: { $0.mqtt.clientID = "other" }, expected: [.broker]),
        Row(change: { $0.mqtt.username = "bridge" }, expected: [.broker]),
        Row(change: { $0.mqtt.password = Secret(value: "new") }, expected: [.broker]),
        Row(change: { $0.mqtt.keepalive = .seconds(5) }, expected: [.broker]),
        Row(change: { $0.mqtt.tls = Settings.TLS() }, expected: [.broker]),
        Row(change: { $0.mqtt.isPasswordInFile = true }, expected: []),
        Row(change: { $0.metrics.file = "/n.prom" }, expected: [.metricsFile("/n.prom")]),
        Row(change: { $0.metrics.file = nil }, expected: [.metricsFile(nil)]),
        Row(change: { $0.metrics = .init(interval: .seconds(5)) }, expected: [.metricsFile(nil)]),
        Row(change: { $0.metrics.interval = .seconds(5) }, expected: [.metricsInterval]),
        Row(change: { $0.instance = "cellar" }, expected: [.nextStart(key: "instance")]),
        Row(change: { $0.mqtt.baseTopic = "tags" }, expected: [.nextStart(key: "mqtt.base_topic")]),
        Row(change: { $0.bluetooth.adapter = .name("hci1") }, expected: [.nextStart(key: "bluetooth.adapter")]),
        Row(
            change: { $0.bluetooth.connectTimeout = .seconds(5) },
            expected: [.nextStart(key: "bluetooth.connect_timeout_s")]),
        Row(change: { $0.bluetooth.resetAdapter = true }, expected: [.nextStart(key: "bluetooth.reset_adapter")]),
        Row(change: { $0.log.format = .json }, expected: [.nextStart(key: "log.format")]),
    ]

    @Test("are found, each with its kind", arguments: tags + others)
    func each(row: Row) {
        var new = Self.running
        row.change(&new)
        let changes = Self.running.changes(to: new, paired: [], known: ["sleeve", "0002"])
        #expect(changes == row.expected)
    }

    @Test("are ordered: removed tags, other keys, added tags, the broker")
    func order() {
        var new = Self.running
        new.tags = [TagSettings(serial: "0003", id: "0003"), Self.changed(Self.bag) { $0.name = "Bag" }]
        new.homeAssistant.discovery = false
        new.mqtt.port = 1884
        new.log.level = .error
        new.instance = "cellar"
        let changes = Self.running.changes(to: new, paired: [], known: ["sleeve", "0002"])
        #expect(
            changes == [
                .tagRemoved(id: "sleeve"), .settings, .tagChanged(new.tags[1]), .tagAdded(new.tags[0]),
                .logLevel(.error), .broker, .nextStart(key: "instance"),
            ])
    }

    @Test("add a listed tag again that was forgotten by command")
    func forgotten() {
        let changes = Self.running.changes(to: Self.running, paired: [], known: ["sleeve"])
        #expect(changes == [.tagAdded(Self.bag)])
    }

    @Test("keep a tag that was paired by command when it is no longer listed, without its configured name")
    func paired() {
        var new = Self.running
        new.tags = [Self.bag]
        let paired = [TagSettings(serial: "003R", id: "sleeve")]
        let changes = Self.running.changes(to: new, paired: paired, known: ["sleeve", "0002"])
        #expect(changes == [.tagChanged(paired[0])])
    }

    @Test("keep two tags apart whose ids differ only in their bytes")
    func exactIDs() {
        let tags = ["\u{E9}", "e\u{301}"].enumerated().compactMap { number, id in
            TagID(id).map { TagSettings(serial: "000\(number)", id: $0) }
        }
        var old = Self.running
        old.tags = []
        #expect(old.changes(to: old, paired: tags, known: Set(tags.map(\.id))) == [])
        #expect(old.changes(to: old, paired: tags, known: ["\u{E9}"]) == [.tagAdded(tags[1])])
        var new = old
        new.tags = [TagSettings(serial: "0007", id: "\u{E9}")]
        let changes = old.changes(to: new, paired: tags, known: Set(tags.map(\.id)))
        #expect(changes == [.tagRemoved(id: "\u{E9}"), .tagAdded(new.tags[0])])
    }

    @Test(
        "are found in texts that differ only in their bytes",
        arguments: [
            Row(
                change: { $0.tags[0].name = "e\u{301}" },
                expected: [.tagChanged(changed(sleeve) { $0.name = "e\u{301}" })]),
            Row(change: { $0.mqtt.password = Secret(value: "e\u{301}") }, expected: [.broker]),
            Row(change: { $0.mqtt.username = "e\u{301}" }, expected: [.broker]),
            Row(change: { $0.metrics.file = "/e\u{301}.prom" }, expected: [.metricsFile("/e\u{301}.prom")]),
            Row(change: { $0.homeAssistant.statusTopic = "e\u{301}" }, expected: [.settings]),
            Row(change: { $0.gear[0].product = "e\u{301}" }, expected: [.gear]),
        ])
    func exactTexts(row: Row) {
        var old = Self.running
        old.tags[0].name = "\u{E9}"
        old.mqtt.password = Secret(value: "\u{E9}")
        old.mqtt.username = "\u{E9}"
        old.metrics.file = "/\u{E9}.prom"
        old.homeAssistant.statusTopic = "\u{E9}"
        old.gear = [GearSettings(vendorID: "00-00-00-01", productID: "00-00-00-02", product: "\u{E9}")]
        var new = old
        row.change(&new)
        #expect(old.changes(to: new, paired: [], known: ["sleeve", "0002"]) == row.expected)
        #expect(old.changes(to: old, paired: [], known: ["sleeve", "0002"]) == [])
    }

    @Test("give a tag that was paired by command the id under which it is listed")
    func listedLater() {
        var new = Self.running
        let listed = TagSettings(serial: "0007", id: "collar")
        new.tags.append(listed)
        let paired = [TagSettings(serial: "0007", id: "0007")]
        let changes = Self.running.changes(to: new, paired: paired, known: ["sleeve", "0002", "0007"])
        #expect(changes == [.tagRemoved(id: "0007"), .tagAdded(listed)])
    }

    @Test("of the instance don't change the client id that was made of it")
    func instance() throws {
        let attic = try settings("instance: attic")
        let cellar = try settings("instance: cellar")
        #expect(attic.changes(to: cellar, paired: [], known: []) == [.nextStart(key: "instance")])
        let named = try settings("instance: cellar\nmqtt:\n  client_id: mine")
        #expect(attic.changes(to: named, paired: [], known: []) == [.broker, .nextStart(key: "instance")])
        #expect(named.changes(to: attic, paired: [], known: []) == [.broker, .nextStart(key: "instance")])
        #expect(attic.keepingStartValues(of: named).mqtt.clientID == "jacquard-cellar")
    }

    @Test("of the interval of metrics that are not written are none")
    func noMetrics() {
        var old = Self.running
        old.metrics.file = nil
        var new = old
        new.metrics.interval = .seconds(5)
        #expect(old.changes(to: new, paired: [], known: ["sleeve", "0002"]) == [])
    }

    @Test("of keys that only apply at the start are found again the next time")
    func nextStart() {
        var new = Self.running
        new.bluetooth.resetAdapter = true
        let held = new.keepingStartValues(of: Self.running)
        #expect(held == Self.running)
        #expect(held.changes(to: new, paired: [], known: ["sleeve", "0002"]).count == 1)
    }
}
