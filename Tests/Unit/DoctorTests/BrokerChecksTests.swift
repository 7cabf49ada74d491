import Bridge
import BrokerAccess
import MQTT
import Terminal
import TestSupport
import Testing

@testable import CommandLine
@testable import Configuration
@testable import Doctor

@Suite("Doctor: broker")
struct BrokerChecksTests {
    private static func mqtt(_ change: (inout Settings.MQTT) -> Void = { _ in }) -> Settings.MQTT {
        var mqtt = Settings.MQTT(clientID: "jacquard-attic")
        change(&mqtt)
        return mqtt
    }

    private static func contact(_ code: String) -> BrokerContact { .failed(code: code, text: "text") }

    @Test(
        "a failure belongs to one step: earlier ones passed, later ones were not tried",
        arguments: [
            (.accepted(.v5), [.ok, .ok, .ok, .ok]),
            (contact("name_not_resolved"), [.skipped, .skipped, .skipped, .skipped]),
            (contact("unreachable"), [.failed, .skipped, .skipped, .skipped]),
            (contact("timeout"), [.failed, .skipped, .skipped, .skipped]),
            (contact("connection_lost"), [.failed, .skipped, .skipped, .skipped]),
            (contact("tls"), [.ok, .failed, .skipped, .skipped]),
            (contact("not_authorized"), [.ok, .ok, .failed, .skipped]),
            (contact("bad_user_name_or_password"), [.ok, .ok, .failed, .skipped]),
            (contact("unsupported_protocol_version"), [.ok, .ok, .ok, .failed]),
        ] as [(BrokerContact, [Finding.Verdict])])
    func steps(contact: BrokerContact, verdicts: [Finding.Verdict]) {
        let mqtt = Self.mqtt()
        let findings = [
            BrokerReachCheck.finding(mqtt, contact), BrokerTLSCheck.finding(mqtt, contact),
            BrokerLoginCheck.finding(mqtt, contact), BrokerVersionCheck.finding(.automatic, contact),
        ]
        #expect(findings.map(\.verdict) == verdicts)
        #expect(findings.filter { $0.verdict == .failed }.allSatisfy { !$0.remedies.isEmpty })
    }

    @Test("each node of a broker is reported")
    func nodes() {
        let (good, bad) = (BrokerContact.accepted(.v5), Self.contact("unreachable"))
        let rows: [([BrokerContact], Finding.Verdict, String)] = [
            ([good, good], .ok, "each node answers: a:1, [::1]:2"),
            ([bad, good], .warning, "no connection to a:1 (text); answers: [::1]:2"),
            ([bad, bad], .failed, "no connection to any node: a:1 (text), [::1]:2 (text)"),
        ]
        for (contacts, verdict, text) in rows {
            let nodes = [
                NodeContact(host: "a", port: 1, contact: contacts[0]),
                NodeContact(host: "::1", port: 2, contact: contacts[1]),
            ]
            let finding = BrokerReachCheck.finding(Self.mqtt(), contacts[1], nodes: nodes)
            #expect(finding.verdict == verdict)
            #expect(finding.found == text)
        }
    }

    @Test("a name without an address is reported with the resolver's error")
    func name() {
        #expect(
            BrokerNameCheck.finding("b", .addresses(["::1", "127.0.0.1"])).found == "b has the address ::1, 127.0.0.1")
        #expect(
            BrokerNameCheck.finding("127.0.0.1", .addresses(["127.0.0.1"])).found
                == "127.0.0.1 is an address, no lookup needed")
        #expect(BrokerNameCheck.finding("b", .failure("not known")).verdict == .failed)
        #expect(BrokerNameCheck.probe("127.0.0.1") == .addresses(["127.0.0.1"]))
    }

    @Test(
        "a connection is encrypted, local, or should be encrypted",
        arguments: [
            (mqtt(), .ok), (mqtt { $0.host = "broker.lan" }, .ok),
            (
                mqtt {
                    $0.host = "broker.lan"
                    $0.password = Secret(value: "x")
                }, .warning
            ),
            (mqtt { $0.tls = Settings.TLS() }, .ok),
            (mqtt { $0.tls = Settings.TLS(isInsecure: true) }, .warning),
        ] as [(Settings.MQTT, Finding.Verdict)])
    func encryption(mqtt: Settings.MQTT, verdict: Finding.Verdict) {
        #expect(BrokerTLSCheck.finding(mqtt, .accepted(.v5)).verdict == verdict)
    }

    @Test("MQTT 3.1.1 is a warning unless it is configured")
    func version() {
        #expect(BrokerVersionCheck.finding(.automatic, .accepted(.v311)).verdict == .warning)
        #expect(BrokerVersionCheck.finding(.v311, .accepted(.v311)).verdict == .ok)
    }

    @Test(
        "a topic that is denied or ignored is reported with the rule that allows it",
        arguments: [
            ([], .skipped), ([.returned], .ok), ([.returned, .refused("not_authorized")], .failed),
            ([.swallowed], .failed),
        ] as [([TopicTrial.Outcome], Finding.Verdict)])
    func permissions(outcomes: [TopicTrial.Outcome], verdict: Finding.Verdict) {
        let trials = outcomes.map { TopicTrial(topic: "a/b", rule: "a/#", outcome: $0) }
        let finding = BrokerPermissionsCheck.finding(trials)
        #expect(finding.verdict == verdict)
        #expect(finding.remedies.contains("topic readwrite a/#") == (verdict == .failed))
    }

    @Test(
        "Home Assistant is online, offline, unknown, or not configured",
        arguments: [
            ("online", true, .ok), ("offline", true, .warning), (nil, true, .ok), ("online", false, .skipped),
        ] as [(String?, Bool, Finding.Verdict)])
    func homeAssistant(status: String?, isWanted: Bool, verdict: Finding.Verdict) {
        var facts = BrokerFacts(contact: .accepted(.v5))
        facts.homeAssistantStatus = status
        var settings = Settings.HomeAssistant()
        settings.discovery = isWanted
        #expect(HomeAssistantCheck.finding(settings, facts).verdict == verdict)
        facts.contact = .silent
        #expect(HomeAssistantCheck.finding(settings, facts).verdict == .skipped)
    }

    @Test(
        "a bridge with this instance name runs here, elsewhere, nowhere, or without a connection",
        arguments: [
            ("online", true, .ok), ("online", false, .warning), ("offline", false, .ok), (nil, false, .ok),
            ("offline", true, .warning),
        ] as [(String?, Bool, Finding.Verdict)])
    func bridge(state: String?, isRunningHere: Bool, verdict: Finding.Verdict) {
        var facts = BrokerFacts(contact: .accepted(.v5))
        facts.bridgeState = state
        #expect(BridgeCheck.finding("attic", facts, isRunningHere: isRunningHere).verdict == verdict)
        facts.contact = .silent
        #expect(BridgeCheck.finding("attic", facts, isRunningHere: isRunningHere).verdict == .skipped)
    }

    @Test(
        "a bridge process is recognized by its command line",
        arguments: [
            ("/usr/bin/jacquard2mqtt\0run\0--config\0x\0", true), ("jacquard2mqtt\0doctor\0", false),
            ("/bin/sh\0run\0", false), ("", false),
        ])
    func process(commandLine: String, isBridge: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.make("self", ["cmdline": "jacquard2mqtt\0run\0"])
        try folder.make("17", ["cmdline": commandLine])
        #expect(BridgeCheck.probe(folder.path) == isBridge)
    }
}
