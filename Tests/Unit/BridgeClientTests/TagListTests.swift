import Bridge
import BrokerAccess
import EventLoop
import Glibc
import JSON
import JacquardProtocol
import MQTTTypes
import Terminal
import TestSupport
import Testing
import Text
import Time

@testable import BridgeClient
@testable import CommandLine
@testable import Configuration

@Suite("Lists of tags")
struct TagListTests {
    private static let ok = #"{"id":"ID","status":"ok","data":{},"error":null,"took_ms":41}"#
    private static let accepted = #"{"id":"ID","status":"accepted"}"#
    private static let offline = #"""
        {"id":"ID","status":"error","data":{},
        "error":{"code":"tag_offline","text":"Tag 0002 is not connected","hint":"move it"}}
        """#
    private static let unknown =
        #"{"id":"ID","status":"error","error":{"code":"unknown_tag","text":"There is no tag"}}"#
    private static let info = #"{"tags":["0002","0001"],"connected":["0001"],"groups":{"hall":["0001","0003"]}}"#
    private static let facts: [FakeBridge.Publication] = [
        ("bridge/attic/state", "online"), ("bridge/attic/info", info), ("bridge/cellar/state", "offline"),
        ("bridge/cellar/info", #"{"tags":["0009"],"groups":{"hall":["0002"],"zoo":["0009"]}}"#),
    ]

    @Test(
        "are ids and names of groups with commas between them, or all",
        arguments: [
            ("0001", ["0001"]), ("0001,0002,0001", ["0001", "0002"]), ("all", ["a", "b"]), ("b,all", ["b", "a"]),
            ("hall,0001", ["0003", "0001"]),
        ])
    func selection(text: String, tags: [String]) throws {
        let selection = try TagOperand.rule.parse(text)
        #expect(selection.tags(in: ["hall": ["0003", "0001"]], all: ["a", "b"]) == tags)
        #expect((selection.single != nil) == (text == "0001"))
    }

    @Test(
        "with empty or wrong ids, and with too many, are refused",
        arguments: ["", ",", "0001,", "a,,b", "a/b", "a,#", Array(repeating: "a", count: 257).joined(separator: ",")])
    func refused(text: String) {
        #expect(throws: Rejection.self) { try TagOperand.rule.parse(text) }
    }

    /// Runs `led` with an answer for each tag.
    private func led(
        _ tags: String, isJSON: Bool = false, version: Settings.MQTT.Version = .v5, groups: [GroupSettings] = [],
        facts: [FakeBridge.Publication] = Self.facts, _ answers: [String: [String]],
        _ check: @LoopActor @Sendable (ExitCode, Written, [String]) -> Void
    ) async throws {
        try await onLoop {
            let broker = try await PrivateBroker()
            let bridge = try await FakeBridge(broker, facts: facts)
            for (tag, payloads) in answers {
                bridge.answer("tag/\(tag)/led/set", payloads.map { ("tag/\(tag)/led/result", $0) })
            }
            let written = Written()
            let command = LEDCommand(tags: try TagOperand.rule.parse(tags), light: .off)
            let context = ClientContext.test(broker.port, written, isJSON: isJSON, version: version, groups: groups)
            let code = await ClientAction.perform(command, context)
            check(code, written, bridge.requests.map { String($0.topic.dropFirst("jacquard/tag/".count)) })
            await bridge.stop()
        }
    }

    @Test(
        "print a line for each tag in order, with either version of MQTT",
        arguments: [.v5, .v311] as [Settings.MQTT.Version])
    func lines(version: Settings.MQTT.Version) async throws {
        let answers = ["0001": [Self.accepted, Self.ok], "0002": [Self.ok]]
        try await led("0002,0001", version: version, answers) { code, written, requests in
            #expect(code == .done)
            #expect(
                written.lines(.standardOutput) == ["0002: LED is off, after 41 ms", "0001: LED is off, after 41 ms"])
            #expect(requests == ["0002/led/set", "0001/led/set"])
        }
    }

    @Test("end with 1 if a tag failed, and name it with its code")
    func failure() async throws {
        try await led("all", ["0001": [Self.ok], "0002": [Self.offline]]) { code, written, _ in
            #expect(code == .failed)
            #expect(
                written.lines(.standardOutput) == [
                    "0001: LED is off, after 41 ms", "0002: tag_offline: Tag 0002 is not connected; move it",
                ])
            #expect(written.lines(.standardError).last == "jacquard2mqtt: 1 of 2 tags failed: 0002 (tag_offline)")
        }
    }

    @Test("print one document with --json")
    func json() async throws {
        try await led("all", isJSON: true, ["0001": [Self.ok], "0002": [Self.offline]]) { code, written, _ in
            #expect(code == .failed)
            let results = written.document["results"]?.elements ?? []
            #expect(written.document["status"] == "error")
            #expect(results.compactMap { $0["tag"]?.string } == ["0001", "0002"])
            #expect(results.compactMap { $0["status"]?.string } == ["ok", "error"])
            #expect(results.last?["error"]?["code"] == "tag_offline")
        }
    }

    @Test("contain groups of the configuration, and those that bridges have published")
    func groups() async throws {
        let answers = ["0001": [Self.ok], "0002": [Self.ok], "0003": [Self.unknown], "hall": [Self.unknown]]
        let own = [GroupSettings(name: "mine", tags: ["0002", "0001"])]
        try await led("mine", groups: own, answers) { code, written, requests in
            #expect(code == .done && written.lines(.standardOutput).count == 2)
            #expect(requests == ["0002/led/set", "0001/led/set"])
        }
        // First as the ID of a tag, then as a group of both bridges.
        try await led("hall", answers) { code, written, requests in
            #expect(code == .failed)
            #expect(requests == ["hall/led/set", "0001/led/set", "0003/led/set", "0002/led/set"])
            #expect(written.lines(.standardError).last == "jacquard2mqtt: 1 of 3 tags failed: 0003 (unknown_tag)")
        }
    }

    @Test("name a bridge that is offline, and end with 3 if no tag can be reached")
    func offlineBridge() async throws {
        try await led("0009,0001", ["0001": [Self.ok]]) { code, written, requests in
            #expect(code == .failed && requests == ["0001/led/set"])
            #expect(
                written.lines(.standardOutput)[0].contains("bridge_offline")
                    && written.lines(.standardOutput)[0].contains("cellar"))
        }
        try await led("zoo,0009", [:]) { code, _, _ in #expect(code == .noConnection) }
    }

    @Test("without a tag are an error")
    func none() async throws {
        let online: FakeBridge.Publication = ("bridge/attic/state", "online")
        for (info, text) in [
            (#"{"tags":[]}"#, "The bridge \"attic\" has no tag"),
            ("", "The broker sends no jacquard/bridge/attic/info to this user"),
        ] {
            try await led("all", facts: [online, ("bridge/attic/info", info)], [:]) { code, written, _ in
                #expect(code == .failed)
                #expect(written.lines(.standardError).contains("jacquard2mqtt: " + text))
            }
        }
    }

    // MARK: Time limits

    private static let topics = BridgeTopics(base: "jacquard", instance: "attic")

    private func exchanges(_ count: Int, at now: Instant) -> TagExchanges {
        var exchanges = TagExchanges(Self.topics, answers: "answers")
        for index in 0..<count {
            let tag = "000\(index)"
            let bridge = index == 2 ? "cellar" : nil
            exchanges.sent(
                ClientRequest("led", of: tag, [:], Self.topics), to: tag, of: bridge, ticket: UInt64(index + 1), at: now
            )
        }
        return exchanges
    }

    private func codes(_ exchanges: TagExchanges) -> [String] {
        exchanges.exchanges.map { exchange in
            switch exchange.outcome {
            case nil: "pending"
            case .success: "ok"
            case .failure(let failure): failure.code
            }
        }
    }

    @Test("have a time limit for each tag, which accepted extends")
    func deadlines() {
        let start = Instant(sinceBoot: .seconds(100))
        var exchanges = exchanges(2, at: start)
        let topic = "jacquard/tag/0001/led/result"
        let id = exchanges.exchanges[1].request.id
        func message(_ status: String) -> MQTTMessage {
            MQTTMessage(topic: topic, payload: Array(#"{"id":"\#(id)","status":"\#(status)"}"#.utf8), qos: .atLeastOnce)
        }
        exchanges.received(message("accepted"), at: start + .seconds(1))
        #expect(exchanges.deadline == start + .seconds(5))
        exchanges.deadlineReached(at: start + .seconds(5))
        #expect(codes(exchanges) == ["no_answer", "pending"])
        #expect(exchanges.deadline == start + .seconds(41))
        exchanges.received(message("ok"), at: start + .seconds(40))
        exchanges.received(message("error"), at: start + .seconds(40))
        #expect(codes(exchanges) == ["no_answer", "ok"] && exchanges.pendingCount == 0 && exchanges.deadline == nil)
    }

    @Test("name the bridge that has not answered, and how to ask it")
    func silentBridges() {
        var exchanges = exchanges(3, at: Instant(sinceBoot: .zero))
        exchanges.deadlineReached(at: Instant(sinceBoot: .seconds(5)))
        let failures = exchanges.exchanges.compactMap { exchange in
            if case .failure(let failure)? = exchange.outcome { failure } else { nil }
        }
        #expect(failures.map(\.text).map { $0.contains("cellar") } == [false, false, true])
        #expect(
            failures.map(\.hint) == [
                "jacquard2mqtt doctor", "jacquard2mqtt doctor",
                "it has the tag: JACQUARD2MQTT_INSTANCE=cellar jacquard2mqtt doctor",
            ])
    }

    @Test("end with their bridge, and with a refusal of the broker")
    func ends() {
        var exchanges = exchanges(3, at: Instant(sinceBoot: .zero))
        exchanges.refused(1, "not_authorized")
        #expect(codes(exchanges) == ["not_authorized", "pending", "pending"])
        for (instance, expected) in [
            ("cellar", ["pending", "bridge_offline"]), ("attic", ["bridge_offline", "bridge_offline"]),
        ] {
            let state = MQTTMessage(
                topic: "jacquard/bridge/\(instance)/state", payload: Array("offline".utf8), qos: .atLeastOnce)
            exchanges.received(state, at: Instant(sinceBoot: .zero))
            #expect(codes(exchanges) == ["not_authorized"] + expected)
        }
        #expect(exchanges.pendingCount == 0)
    }
}

@Suite("Completion of tags")
struct CompleteTests {
    private func offered(_ kind: CompleteAction.Kind, _ word: String) -> [String] {
        var configuration = Settings.test(1)
        configuration.tags = [TagSettings(serial: "003R", id: "sleeve"), TagSettings(serial: "0001", id: "0001")]
        configuration.groups = [GroupSettings(name: "hall", tags: ["0001"])]
        func message(_ topic: String, _ payload: String) -> MQTTMessage {
            MQTTMessage(topic: topic, payload: Array(payload.utf8), qos: .atMostOnce, isRetained: true)
        }
        let directory = FleetDirectory(
            [
                message("jacquard/bridge/attic/state", "online"),
                message(
                    "jacquard/bridge/attic/info", #"{"tags":["0002","$(reboot)","a b"],"groups":{"hut":["0002"]}}"#),
            ], BridgeTopics(base: "jacquard", instance: "attic"))
        return CompleteAction(kind: kind, word: word, config: nil).candidates(configuration, directory)
    }

    @Test(
        "offers ids, in lists groups as well, and nothing that is special to a shell",
        arguments: [
            (.tag, "", ["0001", "0002", "sleeve"]), (.tag, "h", []), (.tag, "0001,", []), (.tag, "s", ["sleeve"]),
            (.tags, "", ["0001", "0002", "all", "hall", "hut", "sleeve"]), (.tags, "h", ["hall", "hut"]),
            (.tags, "0001,", ["0001,0002", "0001,hall", "0001,hut", "0001,sleeve"]),
            (.tags, "0001,hall,0", ["0001,hall,0002"]), (.tags, "$", []), (.tags, "x", []),
        ] as [(CompleteAction.Kind, String, [String])])
    func candidates(kind: CompleteAction.Kind, word: String, expected: [String]) {
        #expect(offered(kind, word) == expected)
    }

    @Test("does not wait for a broker that does not answer")
    func silentBroker() async throws {
        try await onLoop {
            // Nothing answers the first packet of the connection.
            let port = try ReservedPort()
            let listener = try port.listen()
            defer { close(listener) }
            // Ends at the limit of a connection.
            let patient = Task { @LoopActor in
                _ = await CompleteAction.directory(.test(port.number), within: .seconds(600))
                return Instant.now
            }
            let directory = await CompleteAction.directory(.test(port.number), within: .milliseconds(200))
            let end = Instant.now
            #expect(directory == nil)
            #expect(await patient.value > end)
        }
    }
}
