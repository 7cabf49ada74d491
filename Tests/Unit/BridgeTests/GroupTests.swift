import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Commands to groups")
struct GroupTests {
    private static let red = #"{"color":"red","id":"a"}"#

    /// The bridge `attic` with two connected tags and the group `hall`.
    private func scene(_ hall: [TagID] = [.tag003R, "0001"], peer: String? = nil) -> Scene {
        let scene = Scene(tags: [.tag003R, TagEntry(id: "0001", serial: "0001")], groups: ["hall": hall])
        for tag in [TagID.tag003R, "0001"] {
            scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: tag)
        }
        if let peer {
            scene.send("bridge/cellar/info", peer)
            scene.send("bridge/cellar/state", "online")
        }
        return scene
    }

    /// The results among published lines: the topic below `jacquard/tag/`, and the status or the code.
    private func results(_ lines: [String]) -> [String] {
        lines.filter { $0.contains("/result ") }.map { line in
            let topic = line.split(separator: " ")[0].dropFirst("jacquard/tag/".count)
            let status = ["ok", "unknown_tag", "unknown_command", "invalid_json", "retained_rejected", "tag_offline"]
                .first { line.contains("\"\($0)\"") }
            return "\(topic) \(status ?? line)"
        }
    }

    @Test("are all those to tags, except for the name", arguments: TagRequestTable.rows.map { $0.name })
    func allCommands(name: String) {
        let topic = "group/hall/\(name)"
        let code = name == NameSet.name ? "unknown_command" : "invalid_json"
        #expect(results(scene().send(topic, "{")).map { $0.hasSuffix(code) } == [true, true])
        let levels = topic.split(separator: "/")
        let isSubscribed = scene().state.subscriptions.contains { filter, _ in
            let parts = filter.split(separator: "/").dropFirst()
            return parts.count == levels.count && zip(parts, levels).allSatisfy { $0 == "+" || $0 == $1 }
        }
        #expect(isSubscribed)
    }

    @Test("are executed by each tag of the group, with a result on the topic of each that names the tag")
    func execution() {
        let scene = scene()
        #expect(scene.send("group/hall/led/set", Self.red) == [])
        #expect(scene.performed.count == 2)
        let tokens = scene.tokens.suffix(2)
        for (tag, token) in zip([TagID.tag003R, "0001"], tokens) {
            let lines = scene.report(.commandEnded(token: token, .success(.done)), of: tag)
            #expect(results(lines) == ["\(tag)/led/result ok"])
            #expect(lines.contains { $0.contains("\"tag\":\"\(tag)\"") && $0.contains("\"id\":\"a\"") })
        }
        // The same id is answered from memory, for each tag.
        #expect(results(scene.send("group/hall/led/set", Self.red)) == ["003R/led/result ok", "0001/led/result ok"])
        #expect(scene.performed.count == 2)
    }

    @Test(
        "that are wrong have one result for each tag",
        arguments: [
            ("led/set", "{", "invalid_json"), ("sing/set", "x", "unknown_command"),
            ("name/set", "Left", "unknown_command"),
        ])
    func refusals(command: String, payload: String, code: String) {
        let scene = scene()
        let topic = command.split(separator: "/")[0]
        #expect(
            results(scene.send("group/hall/" + command, payload))
                == ["003R/\(topic)/result \(code)", "0001/\(topic)/result \(code)"])
        #expect(scene.performed.isEmpty)
    }

    @Test("that are retained are rejected for each tag")
    func retained() {
        let scene = scene()
        let message = MQTTMessage(
            topic: "jacquard/group/hall/led/set", payload: Array("flash".utf8), isRetained: true)
        #expect(
            results(scene.receive(message))
                == ["003R/led/result retained_rejected", "0001/led/result retained_rejected"])
    }

    @Test("go to the response topic once for each tag")
    func responseTopic() {
        let scene = scene()
        var message = MQTTMessage(topic: "jacquard/group/hall/led/set", payload: Array("flash".utf8))
        message.responseTopic = "answers/a"
        message.correlationData = [7]
        scene.receive(message)
        let lines = scene.report(.commandEnded(token: scene.tokens[0], .success(.done)))
        #expect(lines.contains { $0.hasPrefix("answers/a ") && $0.contains("\"tag\":\"003R\"") })
    }

    @Test("of other names, and of other bridges, are ignored", arguments: ["zoo", "Hall", "+", "", "all"])
    func others(name: String) {
        let scene = scene()
        #expect(scene.send("group/\(name)/led/set", "flash") == [])
        #expect(scene.performed.isEmpty)
    }

    @Test("for a tag that no bridge knows have the result unknown_tag from one bridge")
    func unknownTag() {
        let alone = scene(["9999"])
        #expect(results(alone.send("group/hall/led/set", "flash")) == ["9999/led/result unknown_tag"])
        let both = scene(["9999"], peer: #"{"tags":["0002"],"groups":{"hall":["9999"]}}"#)
        #expect(results(both.send("group/hall/led/set", "flash")) == ["9999/led/result unknown_tag"])
        let second = scene(["9999"])
        second.send("bridge/aaa/info", #"{"tags":["0002"],"groups":{"hall":["9999"]}}"#)
        second.send("bridge/aaa/state", "online")
        #expect(second.send("group/hall/led/set", "flash") == [])
    }

    @Test("for a tag of another bridge are left to it if it has the group, and explained otherwise")
    func otherBridge() {
        let served = scene(["0002"], peer: #"{"tags":["0002"],"groups":{"hall":["0002"]}}"#)
        #expect(served.send("group/hall/led/set", "flash") == [])
        for groups in ["", #","groups":{"zoo":["0002"],"hall":["0003"]}"#, #","groups":7"#, #","groups":{"hall":[7]}"#]
        {
            let scene = scene(["0002"], peer: #"{"tags":["0002"]\#(groups)}"#)
            let lines = scene.send("group/hall/led/set", "flash")
            #expect(results(lines) == ["0002/led/result unknown_tag"])
            #expect(scene.lastError?.text.contains(#"belongs to the bridge "cellar""#) == true)
        }
    }

    @Test(
        "for a shared tag that another bridge is connected to are left to it if it has the group, and explained otherwise"
    )
    func sharedTag() {
        for (groups, count) in [(#","groups":{"hall":["003R"]}"#, 0), ("", 1)] {
            let scene = Scene(groups: ["hall": [.tag003R]])
            scene.send("bridge/cellar/info", #"{"tags":["003R"],"connected":["003R"]\#(groups)}"#)
            scene.send("bridge/cellar/state", "online")
            #expect(results(scene.send("group/hall/led/set", "flash")).count == count)
            #expect(results(scene.wait(.seconds(20))).isEmpty)
        }
    }

    @Test(
        "that wait for a tag which another bridge connects are left to it if it has the group, and explained otherwise")
    func connectedMeanwhile() {
        for (groups, expected) in [(#","groups":{"hall":["003R"]}"#, []), ("", ["003R/led/result unknown_tag"])] {
            let scene = Scene(groups: ["hall": [.tag003R]])
            scene.send("bridge/cellar/info", #"{"tags":["003R"]\#(groups)}"#)
            scene.send("bridge/cellar/state", "online")
            #expect(results(scene.send("group/hall/led/set", #"{"flash":1,"ttl_ms":60000}"#)) == [])
            let lines = scene.send("bridge/cellar/info", #"{"tags":["003R"],"connected":["003R"]\#(groups)}"#)
            #expect(results(lines) == expected)
            #expect(results(scene.wait(.seconds(90))) == [])
        }
    }

    @Test("are subscribed to while there are groups, also after a reload, and groups are in info")
    func subscriptions() throws {
        let scene = Scene()
        let filters = ["+", "+/+"].flatMap { level in ["set", "get"].map { "jacquard/group/+/\(level)/\($0)" } }
        #expect(!scene.state.subscriptions.contains { $0.filter.contains("group") })
        let before = scene.handle(.started).first { $0.contains("attic/info") }
        #expect(before?.contains("groups") == false)
        var configuration = scene.state.configuration
        configuration.groups = ["hall": [.tag003R]]
        var lines = scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        #expect(scene.takeActions() == [.subscribe(filters)])
        #expect(lines.count == 1 && lines[0].contains(#""groups":{"hall":["003R"]}"#))
        #expect(scene.state.subscriptions.filter { $0.filter.contains("group") }.map(\.filter) == filters)
        configuration.groups = ["zoo": [.tag003R], "a": ["0001", .tag003R]]
        lines = scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        #expect(scene.takeActions() == [])
        #expect(lines.count == 1 && lines[0].contains(#""groups":{"a":["0001","003R"],"zoo":["003R"]}"#))
        #expect(scene.send("group/hall/led/set", #"{"flash":1,"ttl_ms":0}"#) == [])
        #expect(results(scene.send("group/zoo/led/set", #"{"flash":1,"ttl_ms":0}"#)) == ["003R/led/result tag_offline"])
        configuration.groups = [:]
        lines = scene.handle(.configurationChanged(configuration, isBrokerConnected: true))
        #expect(scene.takeActions() == [.unsubscribe(filters)])
        #expect(lines == [before])
    }

    @Test("of other bridges are kept within the bound of all ids")
    func bound() {
        var peers = PeerBridges(instance: "attic")
        let tags = (0..<4_000).map { "\"\($0)\"" }.joined(separator: ",")
        for index in 0..<20 {
            _ = peers.received(
                info: Array(#"{"tags":["t\#(index)"],"groups":{"hall":[\#(tags)]}}"#.utf8), of: "b\(index)",
                at: Scene.beginning.instant)
            _ = peers.received(state: Array("online".utf8), of: "b\(index)", at: Scene.beginning.instant)
        }
        // 4,000 members have 31 kB.
        #expect((0..<20).filter { peers.isKnown(TagID("t\($0)") ?? "-") }.count == 8)
    }
}
