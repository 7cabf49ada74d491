import Bridge
import BrokerAccess
import Foundation
import JSON
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

    @Test("the addresses of a name are reported that were tried, and those that failed can be probed")
    func addresses() {
        let mqtt = Self.mqtt { $0.host = "broker.test" }
        let failures = ["10.1.0.2", "10.1.0.3"].map {
            MQTTAddressFailure(address: $0, error: MQTTError(.unreachable, "Connection refused"))
        }
        let good = BrokerReachCheck.finding(
            mqtt, .accepted(.v5), trials: AddressTrials(failures: [failures[0]], last: "10.1.0.3"))
        #expect(good.verdict == .ok)
        #expect(
            good.found
                == "answers at broker.test, port 1883, at 10.1.0.3; no connection to 10.1.0.2 (Connection refused)")
        let bad = BrokerReachCheck.finding(
            mqtt, .failed(code: "unreachable", text: "Connection refused (10.1.0.2, 10.1.0.3)"),
            trials: AddressTrials(failures: failures, last: "10.1.0.3"))
        #expect(
            bad.found == "no connection to broker.test, port 1883: Connection refused (10.1.0.2, 10.1.0.3)")
        #expect(bad.remedies.prefix(2) == ["nc -vz 10.1.0.2 1883", "nc -vz 10.1.0.3 1883"])
        let single = BrokerReachCheck.finding(
            mqtt, .failed(code: "unreachable", text: "Connection refused"),
            trials: AddressTrials(failures: [failures[0]], last: "10.1.0.2"))
        #expect(single.remedies.first == "nc -vz broker.test 1883")
    }

    @Test("a name without an address is reported with the resolver's error")
    func name() {
        #expect(
            BrokerNameCheck.finding("b", .addresses(["::1", "127.0.0.1"])).found == "b has the address ::1, 127.0.0.1")
        #expect(
            BrokerNameCheck.finding("127.0.0.1", .addresses(["127.0.0.1"])).found
                == "127.0.0.1 is an address, no lookup needed")
        #expect(BrokerNameCheck.finding("b", .failure("not known")).verdict == .failed)
        #expect(BrokerAddresses.lookUp("127.0.0.1") == .addresses(["127.0.0.1"]))
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
        "a topic that is denied is reported with the rule that allows it, any other with what was sent and what came",
        arguments: [
            ([], .skipped, ""), ([.returned], .ok, ""),
            ([.returned, .refused("not_authorized")], .failed, "does not let the bridge use a/b (not authorized)"),
            ([.swallowed], .failed, "sent to a/b, and nothing came"),
            ([.returned, .swallowed], .failed, "sent to a/b, and nothing came"),
            ([.altered("a-b")], .failed, "sent to a/b, and came as a-b"),
        ] as [([TopicTrial.Outcome], Finding.Verdict, String)])
    func permissions(outcomes: [TopicTrial.Outcome], verdict: Finding.Verdict, text: String) {
        let trials = outcomes.map { TopicTrial(topic: "a/b", rule: "a/#", outcome: $0) }
        let finding = BrokerPermissionsCheck.finding(trials, baseTopic: "home.lan")
        #expect(finding.verdict == verdict)
        #expect(text.isEmpty || finding.found.contains(text))
        let isPartial = outcomes.contains(.returned) && verdict == .failed
        #expect(finding.remedies.contains("topic readwrite a/#") == isPartial)
        #expect(finding.remedies.contains { $0.contains("turns dots into slashes") } == text.contains("a-b"))
        #expect(finding.remedies.isEmpty == (verdict != .failed))
    }

    @Test("what the broker announces or what a trial shows to be missing is a failure with its remedy")
    func limits() {
        func finding(_ change: (inout BrokerAbilities) -> Void) -> Finding {
            var facts = BrokerFacts(contact: .accepted(.v5))
            var abilities = BrokerAbilities()
            abilities.bytes = 14_000
            for ability in BrokerAbilities.Ability.allCases { abilities.outcomes[ability] = .works }
            change(&abilities)
            facts.abilities = abilities
            return BrokerLimitsCheck.finding(facts, Settings.HomeAssistant())
        }
        #expect(finding { _ in }.verdict == .ok)
        let rows: [(change: (inout BrokerAbilities) -> Void, text: String, remedy: String)] = [
            ({ $0.limits.maximumQoS = 0 }, "it has no messages of QoS 1", "max_qos"),
            ({ $0.limits.isRetainAvailable = false }, "no retained messages", "retain_available"),
            ({ $0.limits.hasWildcards = false }, "no subscriptions with wildcards", "access list"),
            ({ $0.limits.maximumPacketSize = 5_000 }, "at most 5000 bytes", "form: single"),
            ({ $0.limits.maximumPacketSize = 500 }, "at most 500 bytes", "raise the broker's limit"),
            ({ $0.outcomes[.largeMessages] = .refused("lost") }, "messages of 14000 bytes fail: lost", "form: single"),
            ({ $0.outcomes[.will] = .nothing }, "wills fail: one was sent, and nothing came", "publishes the will"),
            ({ $0.outcomes[.will] = .refused("no") }, "wills fail: no", "publishes the will"),
            ({ $0.outcomes[.retainedMessages] = .nothing }, "retained messages fail", "retain_available"),
            ({ $0.outcomes[.acknowledgedMessages] = .refused("lost") }, "messages of QoS 1 fail: lost", "max_qos"),
            ({ $0.outcomes[.emptyMessages] = .nothing }, "messages without a payload fail", "send {}"),
            ({ $0.outcomes[.subscriptions] = .refused("at a/b") }, "subscriptions fail: at a/b", "access list"),
        ]
        for (change, text, remedy) in rows {
            let finding = finding(change)
            #expect(finding.verdict == .failed)
            #expect(finding.found.contains(text), "\(finding)")
            #expect(finding.remedies.contains { $0.contains(remedy) }, "\(finding)")
        }
        #expect(!finding { $0.limits.maximumPacketSize = 500 }.remedies.contains { $0.contains("form: single") })
    }

    @Test("trials that need forbidden topics are skipped")
    func limitsWithoutTopics() {
        var facts = BrokerFacts(contact: .accepted(.v5))
        #expect(BrokerLimitsCheck.finding(facts, Settings.HomeAssistant()).verdict == .skipped)
        facts.abilities = BrokerAbilities(outcomes: [.retainedMessages: .nothing])
        facts.permissions = [TopicTrial(topic: "c", rule: "c", isOfClients: true, outcome: .refused("not_authorized"))]
        #expect(BrokerLimitsCheck.finding(facts, Settings.HomeAssistant()).verdict == .skipped)
    }

    @Test("the problems that the bridge has with the broker are reported")
    func reportedProblems() {
        var facts = BrokerFacts(contact: .accepted(.v5))
        facts.bridgeState = "online"
        facts.bridgeHealth = ["problems": [["code": "bad_firmware", "text": "f"]]]
        #expect(BridgeCheck.finding("attic", facts, isRunningHere: true).verdict == .ok)
        facts.bridgeHealth = ["problems": [["code": "broker_refuses", "text": "too large"]]]
        let refused = BridgeCheck.finding("attic", facts, isRunningHere: true)
        #expect(refused.verdict == .failed && refused.found.contains("too large"))
        facts.bridgeState = "offline"
        #expect(BridgeCheck.finding("attic", facts, isRunningHere: false).verdict == .ok)
        facts.bridgeHealth = ["problems": [["code": "client_id_in_use", "text": "Another bridge"]]]
        let contested = BridgeCheck.finding("attic", facts, isRunningHere: false)
        #expect(contested.verdict == .failed && contested.found.contains("Another bridge"))
        #expect(contested.remedies.first?.contains("another instance") == true)
    }

    @Test(
        "without a broker at this machine, the one that is installed is to be started, and mosquitto installed if none is",
        arguments: [
            ([:], ["sudo apt install mosquitto", "sudo systemctl enable --now mosquitto"]),
            (
                ["usr/sbin/mosquitto": "", "lib/systemd/system/mosquitto.service": ""],
                ["sudo systemctl enable --now mosquitto"]
            ),
            (
                ["usr/sbin/nats-server": "", "lib/systemd/system/nats-server.service": ""],
                ["sudo systemctl enable --now nats-server", "NATS needs server_name"]
            ),
            (
                [
                    "etc/systemd/system/emqx.service": "",
                    "var/lib/dpkg/status": "Package: emqx\nStatus: install ok installed\n\nPackage: mosquitto\n"
                        + "Status: deinstall ok config-files\n",
                ], ["sudo systemctl enable --now emqx"]
            ),
            (["opt/hivemq/bin/run.sh": ""], ["start HiveMQ: /opt/hivemq/bin/run.sh"]),
            // Left over after the package was removed.
            (["etc/systemd/system/mosquitto.service": ""], ["sudo apt install mosquitto"]),
        ] as [([String: String], [String])])
    func installedBrokers(files: [String: String], remedies: [String]) throws {
        let folder = try TemporaryFolder()
        for (path, text) in files {
            let file = URL(fileURLWithPath: folder.path + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let brokers = InstalledBroker.all(below: folder.path)
        let finding = BrokerReachCheck.finding(Self.mqtt(), Self.contact("unreachable"), brokers: brokers)
        #expect(finding.remedies.count >= remedies.count)
        for (found, expected) in zip(finding.remedies, remedies) { #expect(found.hasPrefix(expected)) }
        #expect(finding.remedies.contains { $0.contains("apt install") } == brokers.isEmpty)
        // Something has the port.
        let silent = BrokerReachCheck.finding(Self.mqtt(), .silent, brokers: brokers)
        #expect(!silent.remedies.contains { $0.contains("apt install") })
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

    @Test("a bridge that is online by its last message and does not answer is a failure", arguments: [true, false])
    func silentBridge(isRunningHere: Bool) {
        var facts = BrokerFacts(contact: .accepted(.v5))
        facts.bridgeState = "online"
        facts.bridgePresence = .silent
        let finding = BridgeCheck.finding("attic", facts, isRunningHere: isRunningHere)
        #expect(finding.verdict == .failed)
        #expect(finding.found.hasPrefix("attic is online by its last message, does not answer"))
        #expect(finding.remedies.contains { $0.contains("jacquard2mqtt clear") })
        facts.bridgePresence = .unknown
        #expect(BridgeCheck.finding("attic", facts, isRunningHere: true).verdict == .ok)
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
