import Foundation
import GATTRecording
import JacquardProtocol
import MQTTTypes
import Testing
import Text
import Time

@testable import Bridge

@Suite("The article \"MQTT topics\"")
struct DocumentationTests {
    private let article: String

    init() throws {
        let path = "../../../Sources/Bridge/Bridge/Documentation.docc/MQTTTopics.md"
        article = try String(contentsOf: URL(filePath: path, relativeTo: URL(filePath: #filePath)), encoding: .utf8)
    }

    /// The lines of all code blocks of a language.
    private func examples(in language: String) -> [String] {
        article.components(separatedBy: "```\(language)\n").dropFirst()
            .flatMap { $0.components(separatedBy: "\n```")[0].components(separatedBy: "\n") }
    }

    /// A life of the tag in which everything happens that the article shows.
    private func life() throws -> Scene {
        let now = UInt32(Scene.beginning.unixMilliseconds / 1_000)
        let levels = (UInt8(0)..<13).map { step in
            let age: UInt32 = 28_000 * UInt32(13 - step)
            return BatteryHistory.Point(second: now - age, level: 100 - step, load: .gesture)
        }
        let scene = Scene(
            tags: [TagEntry(id: .tag003R, serial: "003R", name: "Left sleeve")],
            records: [TagRecord(id: .tag003R, serial: "003R", history: BatteryHistory(points: levels))])
        let measurement = HealthMeasurement(residentKilobytes: 9_120, queued: 0, dropped: 0, brokerReconnects: 0)
        let adapter = AdapterFacts(id: "hci0", address: "F0:00:00:00:00:01", state: .poweredOn, connectedCount: 1)
        let sighting = TagSighting(
            address: "F0:00:00:00:00:02", adapter: "hci0", rssi: -61, name: "Jacquard", isPaired: true)
        let timeout = TagConnectionError(
            .connectionTimeout, "No link within 60 s", stackName: "org.bluez.Error.Failed")
        let retry = scene.now.instant + .milliseconds(1_500)
        scene.handle(.started)
        scene.handle(.bluezVersion("5.66"))
        scene.handle(.brokerProtocol(5))
        scene.handle(.adapters([adapter]))
        scene.handle(.measured(measurement))
        scene.handle(.sighting(.tag003R, sighting))
        scene.report(.connection(TagConnection(state: .initializing(step: 6), attempt: 1)))
        scene.report(
            .connection(TagConnection(state: .preparingToConnect, attempt: 2, error: timeout, retryAt: retry)))
        scene.connect()
        scene.report(.information(.tag))
        scene.report(.gear(.jacket))
        scene.report(.touchMode(.gesture))
        scene.report(.gesture(.doubleTap))
        scene.report(
            .touch(try #require(TouchData(sequence: 881, scaled: [12, 0, 0, 7, 90, 128, 64, 3, 0, 0, 0, 0, 0]))))
        scene.send("tag/003R/battery/get", #"{"id":"abc-1"}"#)
        scene.answer(.battery(BatteryStatus(level: 87, isCharging: false)))
        scene.send(
            "tag/003R/led/set", #"{"state":"ON","color":{"r":255,"g":0,"b":0},"brightness":200,"effect":"breathe"}"#)
        scene.answer()
        scene.send("tag/003R/led/set", #"{"state":"dim"}"#)
        scene.send("bridge/attic/request/reboot", "")
        for line in FeatureTable.commandLines {
            scene.send("tag/003R/\(line.name)/set", line.operand.standard)
            scene.answer()
        }
        let stranger = TagAdvertisement(
            address: "F0:00:00:00:00:03", serial: "0001", name: "Jacquard-0001", rssi: -70)
        scene.powerOn()
        scene.send("bridge/attic/request/scan", "")
        scene.done()
        scene.handle(.advertisement(stranger))
        scene.send("bridge/attic/request/tags", "")
        scene.send("bridge/attic/request/pair", "0001")
        scene.handle(.pairing(2, .found(address: stranger.address)))
        scene.send("bridge/attic/request/doctor", "003R")
        scene.done(
            .examined(
                HostReport(
                    findings: [
                        Finding(.systemBus, .ok, "reachable at unix:path=/run/dbus/system_bus_socket"),
                        Finding(.adapter, .ok, "hci0 F0:00:00:00:00:01 is on"),
                    ], bonds: [stranger.address: false, "F0:00:00:00:00:02": true])))
        scene.send("bridge/attic/request/log", "")
        scene.handle(
            .logged(
                [
                    LogEntry(
                        at: scene.now.unixMilliseconds, level: .info, label: "tag", message: "connected",
                        fields: [.init("tag", "003R")])
                ], omitted: 0))
        scene.send("bridge/attic/request/gatt", #"{"tag":"003R"}"#)
        scene.handle(.traffic(.tag003R, .notified([0xC4, 8, 0, 0x10, 0x17, 0x18, 0], on: .notify)))
        return scene
    }

    /// A life of the facts that are published while discovery is on.
    private func lifeWithDiscovery() -> Scene {
        let scene = Scene.announcing()
        scene.handle(.started)
        scene.powerOn()
        scene.connect()
        scene.send("bridge/attic/request/scan", "")
        scene.done()
        let stranger = TagAdvertisement(
            address: "F0:00:00:00:00:03", serial: "0001", name: "Jacquard-0001", rssi: -70)
        scene.handle(.advertisement(stranger))
        let now = scene.now
        scene.now = now + .seconds(1)
        scene.handle(.deadlineReached)
        scene.now = now
        scene.send("bridge/attic/request/pair_serial", "0001")
        scene.send("bridge/attic/request/pair", "")
        scene.notDone(.notFound)
        return scene
    }

    /// A chord and a reflex.
    private func lifeWithChords() throws -> Scene {
        let chord = Chord(
            name: "double_tap_then_brush_in", of: [.doubleTap, .brushIn], within: .milliseconds(800))
        let scene = Scene(
            chords: [chord], reflexes: [Reflex(on: .event("double_tap"), request: try ReflexRequest("led flash"))])
        scene.connect()
        scene.handle(.brokerConnected)
        scene.report(.gesture(.doubleTap))
        scene.answer()
        scene.report(.gesture(.brushIn))
        return scene
    }

    /// A life with presence.
    private func lifeAtHome() -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.options.presence = PresenceOptions(isEnabled: true, awayAfter: .seconds(120))
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: scene.now)
        scene.handle(.started)
        scene.connect()
        return scene
    }

    /// A command to a group with a tag that no bridge has.
    private func lifeWithGroup() -> Scene {
        let scene = Scene(groups: ["hall": [.tag003R, "sleeve"]])
        scene.connect()
        scene.send("group/hall/battery/get", #"{"id":"abc-2"}"#)
        scene.answer(.battery(BatteryStatus(level: 87, isCharging: false)))
        return scene
    }

    /// A life with modules, raw data and the motion sensor.
    private func lifeWithMotion() throws -> Scene {
        let scene = Scene.connected()
        scene.send("tag/003R/modules/get", "")
        var module = ModuleDescriptor.motion
        module.version = FirmwareVersion(1, 0, 0)
        module.isEnabled = false
        scene.answer(.modules([module]))
        var raw = Scene.configuration()
        raw.options = .allowingAllFeatures
        scene.handle(.configurationChanged(raw, isBrokerConnected: true))
        scene.send("tag/003R/raw/set", #"{"views":["packet"]}"#)
        scene.report(.raw([7, 0x41], view: .packet))
        let stored = StoredMotionSession(id: MotionSessionID(session: "run-1"), byteCount: 27_309, crc: 0xBEEF)
        scene.send("tag/003R/imu/sessions/get", "")
        scene.answer(.motionSessions([stored], isComplete: true))
        scene.send("tag/003R/imu/set", #"{"action":"stream"}"#)
        scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .logging)))
        let sample = MotionSample(acceleration: SIMD3(-139, 30, 2123), rotation: SIMD3(-21, 1, 0), ticks: 3_343_193)
        scene.report(.motion(.samples(try #require(MotionValue([0xC0, 0] + sample.encoded)))))
        scene.wait(.milliseconds(50))
        return scene
    }

    /// A life with the touch mode `slide`.
    private func lifeWithSlide() -> Scene {
        let scene = Scene.connected()
        var configuration = Scene.configuration()
        configuration.options = .allowingAllFeatures
        scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        scene.send("tag/003R/touch_mode/set", "slide")
        scene.report(.touchMode(.continuous))
        for _ in 0..<3 { scene.report(.touch(.sample([0, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0]))) }
        scene.wait(.milliseconds(100))
        scene.report(.touch(.sample([0, 0, 0, 0, 90, 90, 0, 0, 0, 0, 0, 0])))
        return scene
    }

    /// A life with `fleet.watch`.
    private func lifeInFleet() -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.options.watchesFleet = true
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: scene.now)
        scene.handle(.brokerConnected)
        scene.wait(.seconds(1))
        return scene
    }

    /// A tag that a radio of several receives.
    private func lifeWithRadios() -> Scene {
        let scene = Scene()
        var configuration = Scene.configuration()
        configuration.radios = ["hall", "loft"]
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: scene.now)
        let reception = RadioReception(radio: "hall", rssi: -61, age: .zero, isBonded: true)
        scene.handle(.radio(.tag003R, .received([reception])))
        return scene
    }

    @Test("shows messages as the bridge publishes them")
    func published() throws {
        let published = Set(try lives().flatMap { $0.publications.map(\.line) })
        let examples = examples(in: "text")
        let ofFeatures = Features.topics.map { "jacquard/tag/003R/\($0.name) " }
        #expect(examples.count { example in !ofFeatures.contains { example.hasPrefix($0) } } == 40)
        #expect(Set(examples).count == examples.count)
        for example in examples { #expect(published.contains(example), "\(example)") }
    }

    /// All lives.
    private func lives() throws -> [Scene] {
        [
            try life(), lifeWithDiscovery(), try lifeWithChords(), lifeInFleet(), lifeWithGroup(), lifeWithRadios(),
            try lifeWithMotion(), lifeAtHome(), lifeWithSlide(),
        ]
    }

    @Test("has a row in the table of topics for each message, and a word for each row")
    func rows() throws {
        let owners = [("jacquard/tag/003R", TagTopicTable.rows), ("jacquard/bridge/attic", BridgeTopic.table)]
        for (prefix, rows) in owners {
            let names = rows.map(\.name)
            #expect(Set(names).count == names.count)
            for name in names {
                #expect(article.contains("`\(name)`") || article.contains("\(prefix)/\(name) "), "\(name)")
            }
            var seen: Set<String> = []
            for publication in try lives().flatMap(\.publications) {
                guard let name = publication.topic.topic(below: prefix),
                    !name.hasSuffix("/result"), !name.hasPrefix("response/")
                else { continue }
                let row = try #require(rows.first { $0.name == name }, "\(name)")
                #expect(row.isFact == publication.message.isRetained, "\(name)")
                #expect((row.kind == .stream) == (publication.kind == .stream), "\(name)")
                seen.insert(row.name)
            }
            // The tests of each feature have its messages.
            let unseen = Set(names).subtracting(seen).subtracting(Features.topics.map(\.name))
            #expect(unseen.isSubset(of: ["beat"]), "\(unseen)")
        }
    }

    @Test("shows every topic")
    func topics() throws {
        let shown = Set(examples(in: "text").map { $0.prefix { $0 != " " } })
        let others =
            ["/response/scan", "/response/log", "/response/gatt"]
            + FeatureTable.commandLines.map { "/\($0.name)/result" }
        for topic in Set(try life().publications.map(\.topic)) where !others.contains(where: topic.hasSuffix) {
            #expect(shown.contains(topic[...]), "\(topic)")
        }
    }

    @Test("lists every name of a colour, with its value", arguments: LEDColorName.all)
    func colors(color: LEDColorName) {
        #expect(article.contains("`\(color.name)` (`\(color.hexadecimal)`)"))
    }

    @Test("shows commands that are executed")
    func commands() throws {
        let examples = examples(in: "sh")
        let ofFeatures =
            Features.commands.map { "/\($0.name) " } + FeatureTable.touchModes.map { "/touch_mode/set -m \($0.word)" }
        #expect(examples.count { example in !ofFeatures.contains { example.contains($0) } } == 51)
        for example in examples {
            let match = try #require(
                try #/mosquitto_pub -t jacquard/(\S+) (?:-n|-m '?(.+?)'?)/#.wholeMatch(in: example))
            let scene = Scene(groups: ["hall": [.tag003R]])
            var configuration = Scene.configuration()
            configuration.groups = ["hall": [.tag003R]]
            configuration.options = .allowingAllFeatures
            scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
            scene.connect()
            scene.powerOn()
            scene.handle(.sighting(.tag003R, TagSighting(rssi: -61)))
            scene.send(String(match.1), String(match.2 ?? ""))
            let isTaken = !scene.tokens.isEmpty || scene.results.contains { $0.status == "ok" }
            let isDisconnect = scene.takeActions().contains(.disconnect(.tag003R))
            #expect(isTaken || isDisconnect, "\(example): \(scene.lastError?.text ?? "")")
        }
    }

    @Test("explains every command, request, event, problem and error code")
    func tables() {
        let topics =
            TagRequestTable.rows.map { "jacquard/tag/003R/\($0.name) " }
            + BridgeRequestTable.rows.map { "jacquard/bridge/attic/request/\($0.name) " }
        let words =
            CommandFailure.Code.allCases.map(\.rawValue) + Problem.Code.allCases.map(\.rawValue)
            + BridgeEventKind.allCases.map(\.rawValue)
        // Not asked in the expectation, which would print the article.
        let missing = (topics + words.map { "\n| `\($0)` |" }).filter { !article.contains($0) }
        #expect(missing.isEmpty, "MQTTTopics.md lacks these")
    }

    @Test("lists the words for effects and patterns")
    func words() {
        for effect in LEDEffect.effects + LEDEffect.patterns {
            #expect(article.contains("`\(effect.word)`"))
        }
    }
}
