import Foundation
import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("request/doctor")
struct DoctorRequestTests {
    private static let report = HostReport(
        findings: [
            Finding(.systemBus, .ok, "reachable"), Finding(.adapter, .ok, "hci0 is on"),
            Finding(.stateFolder, .ok, "can be written"),
        ], bonds: ["F0:01": true, "F0:02": false])
    private static let sighting = TagSighting(address: "F0:01", adapter: "hci0", rssi: -61, name: "Sleeve")

    /// A bridge that is ready, with a tag that was received.
    private static func scene(
        _ entry: TagEntry = .tag003R, received: Bool = true, address: String? = "F0:01"
    ) -> Scene {
        let scene = Scene(tags: [entry])
        scene.powerOn()
        scene.handle(.adapters([AdapterFacts(id: "hci0", address: "F0", state: .poweredOn, isDiscovering: true)]))
        if received { scene.handle(.sighting(.tag003R, TagSighting(address: address, rssi: -61))) }
        return scene
    }

    /// The verdicts by the names of the checks, the chain, and its broken link.
    private static func findings(
        _ scene: Scene, _ report: HostReport = report, payload: String = "003R"
    ) throws -> Document {
        scene.send("bridge/attic/request/doctor", payload)
        let line = try #require(scene.done(.examined(report)).last)
        let text = line.split(separator: " ", maxSplits: 1)[1]
        let document = try Document(text)
        if payload != "" {
            // Whatever they say, they are the same checks.
            #expect(document.names(from: "connection_policy") == tagChecks)
        }
        return document
    }

    private static let tagChecks = ["connection_policy", "received", "bond", "link", "last_error"]

    @Test("returns the findings of the driver and of the bridge, and the chain to the tag, as documented")
    func document() throws {
        let scene = Self.scene()
        scene.handle(.brokerProtocol(5))
        scene.connect()
        scene.send("bridge/attic/request/doctor", #"{"tag":"003R","id":"d1"}"#)
        #expect(scene.takeActions().last == .examine(token: 1))
        let line = #"""
            jacquard/bridge/attic/response/doctor {"bridge":"attic","data":{"broken":null,"chain":["broker",\#
            "bridge","adapter","connection_policy","received","bond","link"],"checks":[\#
            {"found":"reachable","name":"system_bus","remedies":[],"title":"system bus","verdict":"ok"},\#
            {"found":"hci0 is on","name":"adapter","remedies":[],"title":"adapter","verdict":"ok"},\#
            {"found":"can be written","name":"state_folder","remedies":[],"title":"state folder","verdict":"ok"},\#
            {"found":"connected with MQTT 5","name":"broker","remedies":[],"title":"broker","verdict":"ok"},\#
            {"found":"attic is online since 2026-11-20T10:15:02.114Z, version 0.1.0","name":"bridge",\#
            "remedies":[],"title":"bridge","verdict":"ok"},\#
            {"found":"no tag is known to have a bad one","name":"firmware","remedies":[],"title":"firmware",\#
            "verdict":"ok"},\#
            {"found":"hci0 is scanning","name":"discovery","remedies":[],"title":"discovery","verdict":"ok"},\#
            {"found":"no serial of a tag is received from two devices","name":"duplicate_serials","remedies":[],\#
            "title":"duplicate serials","verdict":"ok"},\#
            {"found":"the bridge keeps tag 003R connected","name":"connection_policy","remedies":[],\#
            "title":"policy","verdict":"ok"},\#
            {"found":"linked to the adapter","name":"received","remedies":[],"title":"tag received",\#
            "verdict":"ok"},\#
            {"found":"bonded with this host","name":"bond","remedies":[],"title":"bond","verdict":"ok"},\#
            {"found":"connected since 2026-11-20T10:15:02.114Z","name":"link","remedies":[],"title":"link",\#
            "verdict":"ok"},\#
            {"found":"none: connected","name":"last_error","remedies":[],"title":"last error","verdict":"ok"}],\#
            "status":"ok","tag":"003R"},"error":null,"final":true,"id":"d1","status":"ok",\#
            "time":"2026-11-20T10:15:02.114Z","took_ms":0}
            """#
        #expect(scene.done(.examined(Self.report)) == [line])
    }

    @Test("of several requests at once, one examines the host and all are answered")
    func shared() {
        let scene = Self.scene()
        for _ in 0..<3 { scene.send("bridge/attic/request/doctor", "") }
        scene.send("bridge/attic/request/doctor", "003R")
        #expect(scene.takeActions().filter { $0 == .examine(token: 1) }.count == 1)
        #expect(scene.tokens == [1])
        let lines = scene.done(.examined(Self.report))
        #expect(lines.count == 4)
        #expect(lines.filter { $0.contains(#""tag":"003R""#) }.count == 1)
        #expect(lines.allSatisfy { $0.contains(#""status":"ok""#) })
        // The next request examines again.
        scene.send("bridge/attic/request/doctor", "")
        #expect(scene.tokens.count == 2)
        #expect(scene.done(.examined(Self.report)).count == 1)
    }

    @Test("a driver that never answers fails each request within five seconds, and a later request examines again")
    func silentDriver() {
        let scene = Self.scene()
        for _ in 0..<2 { scene.send("bridge/attic/request/doctor", "") }
        scene.wait(.seconds(5))
        #expect(scene.results.filter(\.final).map { $0.error?.code } == ["internal", "internal"])
        scene.send("bridge/attic/request/doctor", "")
        #expect(scene.tokens.count == 2)
        #expect(scene.done(.examined(Self.report)).count == 1)
    }

    @Test(
        "refuses what names no tag",
        arguments: [
            ("9999", "unknown_tag"), (#"{"tag":"9999"}"#, "unknown_tag"), (#"{"tag":7}"#, "invalid_argument"),
            ("{", "invalid_json"), ("a b", "invalid_json"),
        ])
    func refused(payload: String, code: String) {
        let scene = Self.scene()
        scene.send("bridge/attic/request/doctor", payload)
        #expect(scene.results.last?.error?.code == code)
        #expect(!scene.takeActions().contains(.examine(token: 1)))
    }

    @Test("a tag that is not received is the broken link, with what wakes it up")
    func notReceived() throws {
        var scene = Self.scene(received: false)
        var document = try Self.findings(scene)
        #expect(document.broken == "received" && document.status == "failed")
        #expect(document["received"]?.found == "not received since the bridge started")
        #expect(document["received"]?.remedies.first == "touch or move the tag: it stops advertising after 60 seconds")
        #expect(document["bond"]?.verdict == "skipped" && document["link"]?.verdict == "skipped")
        scene = Self.scene()
        scene.report(.battery(BatteryStatus(level: 42, isCharging: false)))
        scene.wait(.seconds(60))
        document = try Self.findings(scene)
        #expect(document["received"]?.verdict == "ok" && document.broken == "link")
        #expect(document["received"]?.found == "received 60 s ago at -61 dBm")
        scene.wait(.seconds(661))
        document = try Self.findings(scene)
        #expect(document.broken == "received")
        #expect(document["received"]?.found == "last received 12 min ago")
        #expect(document["received"]?.remedies.last == "charge it; at the last report its battery was at 42 %")
    }

    @Test(
        "a tag that was never received while unknown ones are can have a misread serial",
        arguments: [
            ("003r", "003r is received and looks like 003R: compare the serial with the print on the tag"),
            ("7777", "compare the serial with the print on the tag: received, but not known, are 7777"),
        ])
    func misread(serial: String, remedy: String) throws {
        var scene = Self.scene(received: false)
        scene.handle(
            .advertisement(TagAdvertisement(address: "F0:00:00:00:00:77", serial: serial, name: nil, rssi: -60)))
        #expect(try Self.findings(scene)["received"]?.remedies.first == remedy)
        // A tag that was received once has the right serial.
        scene = Self.scene()
        scene.handle(
            .advertisement(TagAdvertisement(address: "F0:00:00:00:00:77", serial: serial, name: nil, rssi: -60)))
        scene.wait(.seconds(661))
        #expect(
            try Self.findings(scene)["received"]?.remedies.first
                == "touch or move the tag: it stops advertising after 60 seconds")
    }

    @Test("a tag that connects on demand and waits for a command is not broken, however long it was not received")
    func onDemand() throws {
        let entry = TagEntry(id: .tag003R, serial: "003R", connect: .onDemand)
        var scene = Self.scene(entry, received: false)
        scene.handle(.adapters([AdapterFacts(id: "hci0", address: "F0", state: .poweredOn)]))
        var document = try Self.findings(scene)
        #expect(document.broken == nil && document.status == "ok")
        #expect(document["received"]?.verdict == "skipped")
        #expect(
            document["received"]?.found
                == "not received since the bridge started: the bridge does not wait for it now")
        scene = Self.scene(entry)
        scene.wait(.seconds(81))
        document = try Self.findings(scene)
        #expect(document.broken == nil && document["link"]?.verdict == "ok")
        #expect(document["received"]?.found == "last received 81 s ago: the bridge does not wait for it now")
        #expect(document["received"]?.remedies == [])
        // A command searches for the tag, and then could not reach it.
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":90000}"#)
        #expect(try Self.findings(scene).broken == "received")
        scene.wait(.seconds(200))
        document = try Self.findings(scene)
        #expect(document.broken == "received" && document["link"]?.verdict == "ok")
        #expect(document["received"]?.remedies.first == "touch or move the tag: it stops advertising after 60 seconds")
    }

    @Test("a tag that is held is not searched for: only the policy is broken")
    func held() throws {
        let scene = Self.scene()
        scene.send("tag/003R/connection/set", "disconnect")
        scene.wait(.seconds(700))
        let document = try Self.findings(scene)
        #expect(document.broken == "connection_policy" && document["received"]?.verdict == "skipped")
    }

    @Test("lost events have a remedy of their own")
    func lostEvents() throws {
        let scene = Self.scene()
        scene.handle(.messagesLost(.init(events: ["x": 2])))
        var finding = try Self.findings(scene)["broker"]
        #expect(finding?.found == "2 events were lost since the start: the broker was disconnected too long")
        #expect(
            finding?.remedies == [
                "see the broker's log: the bridge was disconnected from it too long",
                "limits.gestures_while_broker_away_s is how long a gesture waits",
            ])
        scene.handle(.subscriptionRefused(filter: "jacquard/tag/+/+/set"))
        scene.handle(.messagesLost(.init(commands: 7)))
        finding = try Self.findings(scene)["broker"]
        #expect(finding?.remedies.first == "run jacquard2mqtt doctor as the bridge's user: it tries each topic")
        #expect(finding?.remedies.last == "send fewer commands at once")
    }

    @Test("a broker that acknowledges nothing has failed")
    func stalledBroker() throws {
        let scene = Self.scene()
        let measured = BridgeEvent.measured(
            HealthMeasurement(residentKilobytes: 1, queued: 2, dropped: 0, acknowledged: 7, brokerReconnects: 0))
        scene.handle(measured)
        scene.wait(.seconds(60))
        scene.handle(measured)
        let finding = try Self.findings(scene)["broker"]
        #expect(finding?.verdict == "failed")
        #expect(finding?.found == "Messages are queued, and the broker acknowledges none")
        #expect(finding?.remedies == ["look at the broker's log, or restart the broker"])
    }

    @Test("a tag that the user or the configuration keeps away is not connected for that reason")
    func policy() throws {
        var scene = Self.scene()
        scene.send("tag/003R/connection/set", "disconnect")
        var document = try Self.findings(scene)
        #expect(document.broken == "connection_policy")
        #expect(document["connection_policy"]?.remedies == ["jacquard2mqtt connection 003R connect"])
        #expect(document["link"]?.verdict == "skipped")
        scene = Self.scene(TagEntry(id: .tag003R, serial: "003R", connect: .never))
        document = try Self.findings(scene)
        #expect(document["connection_policy"]?.found == "disabled in the configuration")
        scene = Self.scene(TagEntry(id: .tag003R, serial: "003R", connect: .onDemand))
        document = try Self.findings(scene)
        #expect(document.broken == nil && document.status == "ok")
        #expect(document["link"]?.found == "not connected, because no command is waiting")
    }

    @Test("a tag that sleeps until it is moved is not missed")
    func sleepUntilMoved() throws {
        let scene = Self.scene()
        scene.connect()
        scene.send("tag/003R/sleep/set", #"{"wake_on_motion":true}"#)
        scene.answer()
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1)))
        #expect(try Self.findings(scene)["link"]?.found == "not connected, because it was sent to sleep")
    }

    @Test("a tag that was sent to sleep has no failure, and is missed only once it advertises no more")
    func sleep() throws {
        let scene = Self.scene()
        scene.connect()
        scene.send("tag/003R/sleep/set", "{}")
        scene.answer()
        let lost = TagConnectionError(.bluetoothConnectionError, "the link was lost")
        scene.report(.connection(TagConnection(state: .preparingToConnect, attempt: 1, error: lost)))
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
        scene.handle(.sighting(.tag003R, TagSighting(rssi: -50)))
        var document = try Self.findings(scene)
        #expect(document["link"]?.verdict == "ok")
        #expect(document["link"]?.found == "not connected, because it was sent to sleep")
        #expect(document["last_error"]?.verdict == "ok")
        scene.wait(.seconds(61))
        document = try Self.findings(scene)
        #expect(document.broken == "received")
        #expect(
            document["received"]?.remedies.first == "touch or move the tag: it stops advertising after 60 seconds")
    }

    @Test("a tag that is connected without a bond needs none")
    func unneededBond() throws {
        let scene = Self.scene(address: "F0:02")
        #expect(try Self.findings(scene)["bond"]?.verdict == "warning")
        scene.connect()
        let bond = try Self.findings(scene)["bond"]
        #expect(bond?.verdict == "ok" && bond?.found == "not needed: connected without a bond")
        #expect(bond?.remedies.isEmpty == true)
    }

    @Test("a lost bond, a missing one and an unknown one are different findings")
    func bonds() throws {
        var scene = Self.scene(address: "F0:02")
        var document = try Self.findings(scene)
        #expect(document["bond"]?.verdict == "warning" && document.broken == "link")
        #expect(document["bond"]?.remedies == ["jacquard2mqtt pair 003R, and hold the tag's button for three seconds"])
        scene = Self.scene(address: "F0:03")
        #expect(try Self.findings(scene)["bond"]?.verdict == "warning")
        // BlueZ did not answer, and the bridge does not know.
        #expect(try Self.findings(scene, HostReport(findings: []))["bond"]?.verdict == "skipped")
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)))
        document = try Self.findings(scene)
        #expect(document.broken == "bond" && document["bond"]?.found == "the tag has removed its bond with this host")
    }

    @Test("the last error has its age, the name of BlueZ and the time of the next attempt")
    func lastError() throws {
        let scene = Self.scene()
        let error = TagConnectionError(.connectionTimeout, "No link within 60 s", stackName: "org.bluez.Error.Failed")
        scene.report(.connection(TagConnection(state: .connecting(step: 3), attempt: 1)))
        var document = try Self.findings(scene)
        #expect(document["link"]?.found == "connecting 3/14, attempt 1" && document["link"]?.verdict == "warning")
        scene.report(
            .connection(
                TagConnection(
                    state: .preparingToConnect, attempt: 2, error: error, retryAt: scene.now.instant + .seconds(150))))
        scene.wait(.seconds(130))
        scene.handle(.sighting(.tag003R, Self.sighting))
        document = try Self.findings(scene)
        #expect(
            document["last_error"]?.found
                == "connection_timeout, 2 min ago: No link within 60 s (org.bluez.Error.Failed); next attempt in 20 s")
        #expect(document["last_error"]?.verdict == "warning")
        #expect(document.broken == "link" && document["link"]?.found == "not connected: No link within 60 s")
        scene.connect()
        #expect(try Self.findings(scene)["last_error"]?.verdict == "ok")
    }

    @Test("a failed check of the host joins the chain")
    func host() throws {
        let scene = Self.scene()
        scene.handle(.bluetooth(.poweredOff))
        let report = HostReport(
            findings: [
                Finding(.radioSwitch, .failed, "hci0 is blocked", remedies: ["sudo rfkill unblock bluetooth"]),
                Finding(.adapter, .failed, "hci0 is switched off"),
            ])
        let document = try Self.findings(scene, report)
        #expect(document.broken == "rfkill")
        #expect(
            document.chain == [
                "broker", "bridge", "rfkill", "adapter", "discovery", "connection_policy", "received", "bond", "link",
            ])
    }

    @Test("without a tag, the findings name the tags with a problem")
    func allTags() throws {
        let entries = (0..<25).map { TagEntry(id: .known("T\($0)"), serial: "T\($0)") }
        var scene = Scene(tags: entries)
        scene.powerOn()
        scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: .known("T0"))
        let error = TagConnectionError(.peerRemovedPairingInfo, "No bond")
        scene.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)), of: .known("T1"))
        let document = try Self.findings(scene, payload: "")
        #expect(document.chain == [] && document.broken == nil && document.tag == nil)
        #expect(document.verdicts(but: "ok") == ["discovery", "tags", "bond", "last_error"].map { "\($0): warning" })
        #expect(document["tags"]?.found.hasPrefix("24 of 25 are not connected: T1, T2, ") == true)
        #expect(document["tags"]?.found.hasSuffix(" and 4 more") == true)
        #expect(document["tags"]?.remedies == ["jacquard2mqtt why T1"])
        #expect(document["bond"]?.found == "T1: the tag has removed its bond with this host")
        #expect(document["last_error"]?.found.hasPrefix("T1: peer_removed_pairing_info") == true)
        scene = Scene(tags: [])
        scene.powerOn()
        #expect(try Self.findings(scene, payload: "")["tags"]?.found == "the bridge has no tag")
    }

    @Test("problems of the broker, the files and the radio are findings")
    func problems() throws {
        let scene = Self.scene()
        scene.handle(.brokerConnected)
        scene.handle(.subscriptionRefused(filter: "jacquard/tag/+/+/set"))
        scene.handle(.duplicateSerial("003R", addresses: ["F0", "F1"]))
        let file = UnwritableFile(.state, "/s", reason: "No space left on device")
        scene.handle(
            .measured(
                HealthMeasurement(
                    residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 2, unwritable: [file])))
        var document = try Self.findings(scene)
        #expect(
            document.verdicts(but: "ok")
                == ["broker: warning", "bridge: warning", "duplicate_serials: warning", "link: failed"])
        #expect(document["bridge"]?.found.contains("No space left on device") == true)
        #expect(document["bridge"]?.remedies.first?.hasPrefix("make room on the disk") == true)
        let other = UnwritableFile(.state, "/s", reason: "version 2 of another release", isOfOtherRelease: true)
        scene.handle(
            .measured(
                HealthMeasurement(
                    residentKilobytes: 1, queued: 0, dropped: 0, brokerReconnects: 2, unwritable: [other])))
        #expect(try Self.findings(scene)["bridge"]?.remedies.first?.hasPrefix("install the release") == true)
        scene.handle(.brokerConnected)
        document = try Self.findings(scene)
        #expect(document["broker"]?.found.hasSuffix("2 reconnects since the start") == true)
        scene.handle(.adapters([AdapterFacts(id: "hci0", address: "F0", state: .poweredOn, isDiscovering: true)]))
        #expect(try Self.findings(scene)["discovery"]?.verdict == "ok")
        scene.handle(.adapters([AdapterFacts(id: "hci0", address: "F0", state: .poweredOn)]))
        #expect(try Self.findings(scene)["discovery"]?.verdict == "warning")
        scene.connect()
        #expect(try Self.findings(scene)["discovery"]?.verdict == "ok")
        for state in [AdapterFacts.State.poweredOff, .unknown] {
            scene.handle(.bluetooth(state))
            #expect(try Self.findings(scene)["discovery"]?.verdict == "failed")
        }
    }

    @Test("a tag that another bridge is connected to is no problem")
    func elsewhere() throws {
        let scene = Self.scene(received: false)
        let info = #"{"tags":["003R"],"connected":["003R"]}"#
        scene.receive(
            MQTTMessage(topic: "jacquard/bridge/hall/info", payload: Array(info.utf8), isRetained: true))
        scene.receive(
            MQTTMessage(topic: "jacquard/bridge/hall/state", payload: Array("online".utf8), isRetained: true))
        let document = try Self.findings(scene)
        #expect(document["link"]?.found == "connected to another bridge" && document.broken == nil)
        #expect(try Self.findings(scene, payload: "")["tags"]?.verdict == "ok")
    }

    @Test("a tag that is forgotten meanwhile is a finding")
    func forgotten() throws {
        let scene = Self.scene()
        scene.send("bridge/attic/request/doctor", "003R")
        scene.handle(.tagRemoved(.tag003R))
        let line = try #require(scene.done(.examined(Self.report)).last)
        #expect(line.contains(#""found":"tag 003R was forgotten""#))
    }
}

/// The parsed data of a result.
private struct Document {
    struct Finding: Decodable {
        let name: String
        let verdict: String
        let found: String
        let remedies: [String]
    }

    private struct Data: Decodable {
        let status: String
        let checks: [Finding]
        let tag: String?
        let chain: [String]
        let broken: String?
    }

    private struct Result: Decodable {
        let data: Data
    }

    private let data: Data

    init(_ text: some StringProtocol) throws {
        data = try JSONDecoder().decode(Result.self, from: Foundation.Data(text.utf8)).data
    }

    var status: String { data.status }
    var tag: String? { data.tag }
    var chain: [String] { data.chain }
    var broken: String? { data.broken }
    subscript(name: String) -> Finding? { data.checks.first { $0.name == name } }

    /// The names of the checks that begin with this one.
    func names(from first: String) -> [String] { data.checks.map(\.name).drop { $0 != first }.map(\.self) }

    /// All other verdicts, with the names of their checks.
    func verdicts(but verdict: String) -> [String] {
        data.checks.filter { $0.verdict != verdict }.map { "\($0.name): \($0.verdict)" }
    }
}
