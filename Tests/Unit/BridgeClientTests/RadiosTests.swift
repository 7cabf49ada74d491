import Bridge
import BrokerAccess
import Configuration
import EventLoop
import Foundation
import JSON
import Terminal
import TestSupport
import Testing

@testable import BridgeClient
@testable import CommandLine

@Suite("radios")
struct RadioListTests {
    private static let adapters = #"""
        [{"address":null,"connected":1,"discovering":true,"free_links":2,"id":"loft","radio":"loft","state":"powered_on"},
        {"address":null,"connected":0,"discovering":false,"error":"no route","id":"hall","radio":"hall","state":"resetting"}]
        """#

    private func facts(_ more: [(String, String)]) -> RetainedFacts {
        let topics = BridgeTopics(base: "jacquard", instance: "attic")
        var facts = RetainedFacts(topics)
        facts.take(topics.state, Array("online".utf8))
        facts.take(topics.adapter, Array(Self.adapters.utf8))
        for (topic, payload) in more { facts.take("jacquard/" + topic, Array(payload.utf8)) }
        return facts
    }

    private static let tag = [
        ("bridge/attic/info", #"{"tags":["0001"]}"#),
        ("tag/0001/connection", #"{"state":"connected","radio":"loft","adapter":"loft"}"#),
        ("tag/0001/radios", #"[{"bonded":true,"radio":"hall"},{"bonded":false,"radio":"loft","rssi":-60}]"#),
    ]

    @Test("has the state, the tags, the free links and the bonds of each radio, and why one cannot be used")
    func table() {
        let list = RadioList(facts(Self.tag))
        #expect(
            list.lines().map(\.text) == [
                "RADIO  ADAPTER  STATE       TAGS  FREE LINKS  BONDS",
                "loft   loft     powered on  0001  2           0", "hall   hall     resetting   0     -           0001",
                "hall: no route",
            ])
        let radios = list.document["radios"]?.elements ?? []
        #expect(radios.map { $0["tags"] } == [["0001"], []])
        #expect(radios.map { $0["free_links"] } == [2, .null])
        #expect(radios.map { $0["error"] } == [.null, "no route"])
    }

    @Test("what this user may not read is unknown, and null for programs")
    func unknown() {
        let list = RadioList(facts([]))
        #expect(list.lines().map(\.text)[1] == "loft   loft     powered on  unknown  2           unknown")
        #expect(list.document["radios"]?.elements?[0]["tags"] == .null)
        let none = RadioList(facts([("bridge/attic/info", #"{"tags":[]}"#)]))
        #expect(none.document["radios"]?.elements?[0]["tags"] == [])
    }

    @Test("of a bridge that is offline, only names and bonds are known")
    func offline() {
        let list = RadioList(facts(Self.tag + [("bridge/attic/state", "offline")]))
        #expect(list.isOffline && !RadioList(facts(Self.tag)).isOffline)
        #expect(
            list.lines().map(\.text) == [
                "RADIO  ADAPTER  STATE    TAGS     FREE LINKS  BONDS",
                "loft   loft     unknown  unknown  -           0", "hall   hall     unknown  unknown  -           0001",
            ])
        #expect(list.document["radios"]?.elements?[1]["error"] == .null)
    }

    @Test("ends with 3 after the list if the bridge is offline")
    func offlineBridge() async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let facts: [FakeBridge.Publication] = [
                ("bridge/attic/state", "offline"), ("bridge/attic/adapter", Self.adapters),
            ]
            let bridge = try await FakeBridge(broker, facts: facts)
            let written = Written()
            let code = await ClientAction.perform(RadiosCommand(), .test(broker.port, written))
            #expect(code == .noConnection)
            #expect(written.lines(.standardOutput).count == 3)
            #expect(written.lines(.standardError).first?.contains(#"the bridge "attic" is offline"#) == true)
            await bridge.stop()
        }
    }

    @Test("with one radio, the adapter is listed")
    func single() {
        let topics = BridgeTopics(base: "jacquard", instance: "attic")
        var facts = RetainedFacts(topics)
        facts.take(topics.adapter, Array(#"[{"connected":1,"id":"hci0","state":"powered_on"}]"#.utf8))
        facts.take("jacquard/bridge/attic/info", Array(#"{"tags":["0001"]}"#.utf8))
        facts.take("jacquard/tag/0001/connection", Array(#"{"state":"connected","adapter":"hci0"}"#.utf8))
        let row = RadioList(facts).rows.first
        #expect(row?.name == "hci0" && row?.tags == ["0001"] && row?.bonds == nil)
    }

    @Test("setup prints the line of authorized_keys, which permits one program only")
    func setup() {
        let setup = RadioSetup(RadioSettings.SSH(target: "pi@hall.lan"))
        #expect(setup.lines.contains { $0.contains("restrict,command=\"systemd-stdio-bridge\" ssh-ed25519") })
        #expect(setup.lines.contains { $0.contains("radios: [{ ssh: pi@hall.lan, identity_file: ") })
        #expect(setup.arguments.suffix(3) == ["--", "pi@hall.lan", RadioSetup.remote])
    }

    @Test("setup uses the port of the SSH server in each of its commands")
    func port() throws {
        var ssh = RadioSettings.SSH(target: "pi@hall.lan")
        ssh.port = 2222
        let setup = RadioSetup(ssh)
        #expect(setup.lines.contains { $0.contains("ssh-keyscan -p 2222 hall.lan |") })
        #expect(setup.lines.contains { $0.contains("radios: [{ ssh: pi@hall.lan, port: 2222, identity_file: ") })
        #expect(setup.arguments.suffix(5) == ["-p", "2222", "--", "pi@hall.lan", RadioSetup.remote])
        let table = CommandTable(
            program: ProgramDescription(name: "x", summary: "", details: [], sections: []),
            commands: [RadiosCommand.row])
        let parsed = try table.parse(["radios", "setup", "pi@hall.lan", "--port", "2222"])
        guard case .command(let action as ClientAction) = parsed else {
            Issue.record("another command")
            return
        }
        #expect((action.command as? RadiosCommand)?.target == ssh)
        for words in [["radios", "--port", "22"], ["radios", "setup", "hall", "--port", "0"]] {
            #expect(throws: CommandLineError.self) { _ = try table.parse(words) }
        }
    }

    @Test("what setup runs on the other computer adds its line once, whatever the line contains")
    func remote() async throws {
        let folder = try ScratchFolder()
        let line = RadioSetup.line(of: "ssh-ed25519 AAAA $(touch bad) `touch bad` \\n")
        for _ in 0..<2 {
            let shell = try Program("sh", ["-c", "cd \(folder.path) && \(RadioSetup.remote)"])
            shell.type(line)
            shell.waitForExit()
            #expect(shell.exitStatus == 0)
        }
        let keys = try String(contentsOfFile: folder.path + "/.ssh/authorized_keys", encoding: .utf8)
        #expect(keys == line + "\n")
    }
}

@Suite("pair --all-radios")
struct RadioPairingsTests {
    private func failure(_ text: String) -> ClientFailure {
        ClientFailure(exitCode: .failed, code: "expired", text: text)
    }

    @Test("says of each radio whether it is paired, and whether its bond works")
    func lines() {
        var pairings = RadioPairings(
            serial: "0001",
            rows: [
                .init(radio: "hall", check: .works), .init(radio: "loft", check: .fails(failure("no link"))),
                .init(radio: "attic", failure: failure("no tag"), check: .works), .init(radio: "cellar"),
                .init(radio: "shed", failure: failure("no tag")),
            ])
        pairings.bonds = ["hall", "attic"]
        #expect(
            pairings.lines == [
                "hall: paired, works", "loft: paired; does not work: no link",
                "attic: not paired: no tag; an earlier bond works", "cellar: paired; not checked: it has no bond",
                "shed: not paired: no tag", "0001 has bonds with: hall, attic",
            ])
        #expect(!pairings.isDone)
        let results = pairings.document["results"]?.elements ?? []
        #expect(results.map { $0["works"] } == [true, false, true, .null, .null])
        #expect(results.map { $0["check_error"]?["text"]?.string } == [nil, "no link", nil, nil, nil])
    }

    @Test("has succeeded if each radio is paired and works")
    func done() {
        let pairings = RadioPairings(serial: "0001", rows: [.init(radio: "hall", check: .works)])
        #expect(pairings.isDone && pairings.document["status"] == "ok")
    }
}
