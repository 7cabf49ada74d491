import JSON
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Several bridges on one base topic")
struct PeerBridgesTests {
    private func scene(_ peer: String, tags: String, state: String = "online") -> Scene {
        let scene = Scene.connected()
        scene.send("bridge/\(peer)/info", #"{"tags":[\#(tags)],"contract":1}"#)
        scene.send("bridge/\(peer)/state", state)
        return scene
    }

    private func answers(_ scene: Scene, for tag: String) -> Bool {
        let scene = scene
        return !scene.send("tag/\(tag)/sing/set", "x").isEmpty
    }

    @Test("ignores a command for another bridge's tag")
    func othersTag() {
        #expect(!answers(scene("zoo", tags: #""0001""#), for: "0001"))
        #expect(answers(scene("zoo", tags: #""0001""#), for: "003R"))
    }

    @Test("responds for the tags of a bridge that is offline")
    func offline() {
        #expect(answers(scene("zoo", tags: #""0001""#, state: "offline"), for: "0001"))
        let scene = scene("zoo", tags: #""0001""#)
        scene.send("bridge/zoo/state", "")
        #expect(answers(scene, for: "0001"))
    }

    @Test("the first bridge by name responds for an unknown tag")
    func unknownTag() {
        #expect(answers(scene("zoo", tags: ""), for: "0001"))
        #expect(!answers(scene("aaa", tags: ""), for: "0001"))
    }

    @Test("responds for its own tag regardless of other bridges")
    func ownTag() {
        #expect(answers(scene("aaa", tags: #""003R""#), for: "003R"))
    }

    @Test(
        "publishes its own state again when a late will has overwritten it, once per will", arguments: ["offline", ""])
    func lateWill(payload: String) {
        let scene = Scene.connected()
        scene.handle(.brokerConnected)
        // The retained will of the run before.
        #expect(scene.send("bridge/attic/state", payload) == [])
        #expect(scene.send("bridge/attic/state", "online") == [])
        #expect(scene.send("bridge/attic/state", payload) == ["jacquard/bridge/attic/state online"])
        #expect(scene.publications.last?.kind == .reminder)
        #expect(scene.send("bridge/attic/state", payload) == [])
        #expect(scene.send("bridge/attic/state", "online") == [])
        scene.handle(.brokerConnected)
        #expect(scene.send("bridge/attic/state", payload) == [])
        #expect(scene.send("bridge/attic2/state", payload) == [])
    }

    private static let led = #"{"state":"ON","id":"a"}"#

    private func shared(_ peer: String, connected: String = "", isConnected: Bool = false) -> Scene {
        let scene = isConnected ? Scene.connected() : Scene()
        scene.send("bridge/\(peer)/info", #"{"tags":["003R"],"connected":[\#(connected)]}"#)
        scene.send("bridge/\(peer)/state", "online")
        return scene
    }

    @Test("ignores a command for a tag that another bridge is connected to", arguments: ["aaa", "zoo"])
    func connectedElsewhere(peer: String) {
        let scene = shared(peer, connected: #""003R""#)
        for (topic, payload) in [
            ("led/set", Self.led), ("led/set", "{"), ("sing/set", "x"), ("connection/set", "connect"),
        ] {
            #expect(scene.send("tag/003R/" + topic, payload) == [])
        }
        // The other bridge does not answer that the tag is left to it.
        #expect(scene.wait(.seconds(20)).allSatisfy { $0.hasPrefix("jacquard/bridge/attic/info ") })
        scene.connect()
        #expect(scene.performed == [])
        scene.send("tag/003R/led/set", Self.led)
        scene.answer()
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("a disconnect command applies at both bridges of a tag, and one responds")
    func disconnect() {
        let scene = shared("zoo", connected: #""003R""#)
        scene.powerOn()
        scene.send("tag/003R/connection/set", "disconnect")
        #expect(scene.results == [])
        #expect(
            scene.takeActions().last.map { if case .remember(let record) = $0 { record.isHeld } else { false } } == true
        )
    }

    @Test("leaves a disconnect to the bridge that was connected when it arrived, until that bridge has ended")
    func disconnectElsewhere() {
        for ends in [false, true] {
            let scene = shared("zoo", connected: #""003R""#)
            scene.powerOn()
            scene.report(.connection(TagConnection(state: .connecting(step: 0), attempt: 1)))
            scene.send("tag/003R/connection/set", "disconnect")
            scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[]}"#)
            if ends { scene.send("bridge/zoo/state", "") }
            scene.wait(.milliseconds(300))
            #expect(scene.results.map(\.status) == (ends ? ["accepted"] : []))
            scene.report(.connection(TagConnection(state: .disconnected, attempt: 1)))
            #expect(scene.results.map(\.status) == (ends ? ["accepted", "ok"] : []))
        }
    }

    @Test("the list of an offline bridge has no effect once its session has ended", arguments: ["offline", ""])
    func stale(state: String) {
        let scene = shared("aaa", connected: #""003R""#)
        scene.send("bridge/aaa/state", state)
        if state == "offline" {
            scene.wait(.seconds(29))
            scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"a"}"#)
            #expect(scene.results.isEmpty)
            scene.wait(.seconds(1))
        }
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
    }

    @Test("the bridge that is connected to the tag responds regardless of other bridges", arguments: ["aaa", "zoo"])
    func connectedHere(peer: String) {
        let scene = shared(peer, connected: #""003R""#, isConnected: true)
        scene.send("tag/003R/led/set", Self.led)
        scene.send("tag/003R/led/set", "{")
        scene.answer()
        #expect(scene.results.map(\.status) == ["error", "ok"])
    }

    @Test(
        "while no bridge is connected, the first by name responds, and both queue the command",
        arguments: [("aaa", 0), ("zoo", 1)])
    func noneConnected(peer: String, results: Int) {
        let expired = shared(peer)
        expired.send("tag/003R/led/set", Self.led)
        expired.wait(.seconds(11))
        #expect(expired.results.count(where: \.final) == results)
        let wrong = shared(peer)
        wrong.send("tag/003R/led/set", "{")
        #expect(wrong.results.count == results)
        let carriedOut = shared(peer)
        carriedOut.send("tag/003R/led/set", Self.led)
        carriedOut.connect()
        carriedOut.answer()
        #expect(carriedOut.results.map(\.status) == ["ok"])
        let stopped = shared(peer)
        stopped.send("tag/003R/led/set", Self.led)
        stopped.handle(.stopping)
        // The other bridge continues.
        #expect(stopped.results.isEmpty)
    }

    @Test("drops a queued command when the tag connects to another bridge")
    func connectsElsewhere() {
        let scene = shared("zoo")
        scene.send("tag/003R/led/set", Self.led)
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        // The other bridge does not answer that the tag is left to it.
        #expect(scene.wait(.seconds(20)).allSatisfy { $0.hasPrefix("jacquard/bridge/attic/info ") })
        #expect(scene.state.pendingCommands.isBusy(with: .tag003R) == false)
        #expect(scene.state.deadline == nil)
    }

    @Test("responds to a command that was not sent when its tag goes to another bridge, which has ignored it")
    func goesElsewhere() {
        let scene = shared("zoo", isConnected: true)
        scene.send("tag/003R/led/set", Self.led)
        scene.disconnect()
        scene.fail(.notConnected)
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
    }

    @Test("responds to a command when its tag goes to another bridge, which names it as refused")
    func refusedElsewhere() {
        let scene = shared("zoo")
        for id in [#","id":"a""#, #","id":"b""#, "", ""] { scene.send("tag/003R/led/set", #"{"state":"ON"\#(id)}"#) }
        let refused = [#""id":"b","#, ""].map { #"{\#($0)"tag":"003R","topic":"jacquard/tag/003R/led/result"}"# }
        let info = #"{"tags":["003R"],"connected":["003R"],"refused":[\#(refused.joined(separator: ","))]}"#
        scene.send("bridge/zoo/info", info)
        #expect(scene.results.map(\.error?.code) == ["tag_offline", "tag_offline"])
        #expect(scene.results.map(\.id) == ["b", nil])
        #expect(scene.state.pendingCommands.isBusy(with: .tag003R) == false)
    }

    @Test("responds to a command when its tag goes to another bridge that has started since")
    func startedElsewhere() {
        let scene = Scene()
        let info = #"{"tags":["003R"],"connected":[],"boot":"1"}"#
        scene.send("bridge/zoo/info", info)
        scene.send("bridge/zoo/state", "online")
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"a"}"#)
        scene.send("bridge/zoo/info", info.replacing(#""1""#, with: #""2""#))
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"b"}"#)
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"],"boot":"2"}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
        #expect(scene.results.map(\.id) == ["a"])
    }

    @Test("responds to a command when its tag goes to another bridge that did not know it when the command arrived")
    func addedElsewhere() {
        let scene = Scene()
        scene.send("bridge/zoo/info", #"{"tags":["0051"],"connected":[],"boot":"1"}"#)
        scene.send("bridge/zoo/state", "online")
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"a"}"#)
        scene.send("bridge/zoo/info", #"{"tags":["0051","003R"],"connected":[],"boot":"1"}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"b"}"#)
        scene.send("bridge/zoo/info", #"{"tags":["0051","003R"],"connected":["003R"],"boot":"1"}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
        #expect(scene.results.map(\.id) == ["a"])
    }

    @Test("leaves a command to the other bridges that arrives before the document in which this one lists the tag")
    func commandBeforeDocument() {
        let scene = Scene()
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[],"boot":"1"}"#)
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/attic/info", #"{"tags":["0051"],"connected":[],"boot":"1"}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"a"}"#)
        #expect(scene.results.isEmpty)
        #expect(!scene.state.pendingCommands.isBusy(with: .tag003R))
        scene.send("bridge/attic/info", #"{"tags":["0051","003R"],"connected":[],"boot":"1"}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"b"}"#)
        #expect(scene.results.map(\.id) == ["b"])
    }

    /// Both bridges know the tag; the retained messages say that the other one is connected to it.
    private func afterBrokerRestart() -> Scene {
        let scene = Scene()
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"],"boot":"1"}"#)
        scene.send("bridge/zoo/state", "online")
        scene.handle(.brokerDisconnected)
        scene.handle(.brokerConnected)
        scene.receive("jacquard/bridge/zoo/info", Self.zooHasTag, isRetained: true)
        scene.receive("jacquard/bridge/zoo/state", "online", isRetained: true)
        return scene
    }

    private static let zooHasTag = #"{"tags":["003R"],"connected":["003R"],"boot":"1"}"#

    @Test(
        "takes back the commands that it has left to a bridge that died while the broker was away",
        arguments: [0, 60_000])
    func leftToADeadBridge(milliseconds: Int) {
        let scene = afterBrokerRestart()
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":\#(milliseconds),"id":"a"}"#)
        #expect(scene.results.isEmpty)
        scene.receive("jacquard/bridge/attic/state", "online")
        scene.wait(.seconds(10))
        let failure: CommandFailure.Code? = milliseconds == 0 ? .tagOffline : nil
        #expect(scene.results.map(\.error?.code) == [failure?.rawValue])
        if milliseconds > 0 {
            scene.wait(.seconds(60))
            #expect(scene.results.map(\.error?.code) == [nil, "expired"])
        }
    }

    @Test(
        "rejects invalid commands that it has left to a bridge that died, and not those of one that lives",
        arguments: [#"{"color":7,"id":"a"}"#, #"{"state":"ON","id":"a""#])
    func rejectionLeft(payload: String) {
        let dead = afterBrokerRestart()
        dead.send("tag/003R/led/set", payload)
        #expect(dead.results.isEmpty)
        dead.receive("jacquard/bridge/attic/state", "online")
        dead.wait(.seconds(10))
        #expect(dead.results.count == 1 && dead.lastError?.code.hasPrefix("invalid_") == true)
        let living = afterBrokerRestart()
        living.send("tag/003R/led/set", payload)
        living.receive("jacquard/bridge/attic/state", "online")
        living.send("bridge/zoo/info", Self.zooHasTag)
        living.wait(.seconds(70))
        #expect(living.results.isEmpty)
    }

    @Test("leaves commands to a bridge that proves that it lives by its document, also if it stops later")
    func leftToALivingBridge() {
        let scene = afterBrokerRestart()
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":60000,"id":"a"}"#)
        scene.receive("jacquard/bridge/attic/state", "online")
        scene.send("bridge/zoo/info", Self.zooHasTag)
        scene.send("bridge/zoo/state", "offline")
        scene.wait(.seconds(70))
        #expect(scene.results.isEmpty)
    }

    @Test(
        "responds to commands that another bridge has missed before its new session",
        arguments: [(2, 2_101, true), (2, 60_000, true), (2, 2_100, false), (2, -1, false), (1, 60_000, false)],
        [true, false])
    func missed(_ expected: (session: Int, milliseconds: Int, isMissed: Bool), isStored: Bool) {
        let scene = Scene()
        if isStored {
            scene.receive("jacquard/bridge/zoo/info", Self.zooHasTag, isRetained: true)
            scene.receive("jacquard/bridge/zoo/state", "offline", isRetained: true)
        } else {
            scene.send("bridge/zoo/info", Self.zooHasTag)
            scene.send("bridge/zoo/state", "online")
            scene.send("bridge/zoo/state", "offline")
        }
        let info =
            #"{"tags":["003R"],"connected":["003R"],"session":\#(expected.session),"missed_ms":\#(expected.milliseconds)}"#
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":60000,"id":"a"}"#)
        scene.wait(.seconds(2))
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/zoo/info", info)
        #expect(scene.results.filter(\.final).map(\.error?.code) == (expected.isMissed ? ["tag_offline"] : []))
        // The number is compared with the last one.
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":60000,"id":"b"}"#)
        scene.send("bridge/zoo/info", info)
        scene.wait(.seconds(70))
        #expect(scene.results.filter(\.final).count == (expected.isMissed ? 1 : 0))
    }

    @Test(
        "concludes from a retained document that a command was missed only if the other bridge was offline when it arrived",
        arguments: [true, false])
    func storedSession(wasOffline: Bool) {
        let scene = Scene()
        scene.send("bridge/zoo/info", Self.zooHasTag)
        scene.send("bridge/zoo/state", "online")
        if wasOffline { scene.send("bridge/zoo/state", "offline") }
        scene.wait(.seconds(1))
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"a"}"#)
        #expect(scene.results.isEmpty)
        scene.handle(.brokerDisconnected)
        scene.wait(.seconds(1))
        scene.handle(.brokerConnected)
        scene.receive("jacquard/bridge/zoo/state", "online", isRetained: true)
        scene.receive(
            "jacquard/bridge/zoo/info",
            #"{"tags":["003R"],"connected":["003R"],"boot":"1","session":2,"missed_ms":60000}"#, isRetained: true)
        #expect(scene.results.map(\.error?.code) == (wasOffline ? ["tag_offline"] : []))
    }

    @Test("concludes from a document that may be a retained one that a command of this connection was missed")
    func storedSessionAfterCommand() {
        let scene = Scene()
        scene.send("bridge/zoo/info", Self.zooHasTag)
        scene.send("bridge/zoo/state", "online")
        scene.handle(.brokerDisconnected)
        scene.wait(.seconds(1))
        scene.handle(.brokerConnected)
        scene.wait(.milliseconds(10))
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"a"}"#)
        scene.wait(.milliseconds(300))
        #expect(scene.results.isEmpty)
        scene.send("bridge/zoo/state", "online")
        scene.send(
            "bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"],"boot":"1","session":2,"missed_ms":1300}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
    }

    @Test("does not leave a command to a bridge that has missed it, when another one turns out to be dead")
    func missedByTheNext() {
        let scene = Scene()
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[]}"#)
        scene.send("bridge/zoo/state", "offline")
        scene.handle(.brokerDisconnected)
        scene.handle(.brokerConnected)
        scene.receive("jacquard/bridge/aaa/info", #"{"tags":["003R"],"connected":[]}"#, isRetained: true)
        scene.receive("jacquard/bridge/aaa/state", "online", isRetained: true)
        scene.receive("jacquard/bridge/attic/state", "online")
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":60000,"id":"a"}"#)
        scene.wait(.seconds(1))
        let info = #"{"tags":["003R"],"connected":["003R"],"session":2,"missed_ms":5000}"#
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/zoo/info", info)
        #expect(scene.results.filter(\.final).isEmpty)
        scene.wait(.seconds(10))
        scene.send("bridge/zoo/info", info)
        #expect(scene.results.filter(\.final).map(\.error?.code) == ["tag_offline"])
    }

    @Test("tells other bridges the time from its last message until its connection, if the broker had no session of it")
    func ownSession() {
        let scene = Scene()
        func session() -> String? {
            scene.publications.last { $0.topic.hasSuffix("attic/info") }?.text
                .firstMatch(of: /"missed_ms":(\d+).*"session":(\d+)/).map { "\($0.2) after \($0.1)" }
        }
        scene.handle(.brokerHasNoSession)
        scene.handle(.brokerConnected)
        #expect(session() == nil)
        scene.receive("jacquard/bridge/attic/state", "online")
        scene.wait(.seconds(5))
        scene.handle(.brokerDisconnected)
        scene.handle(.brokerConnected)
        scene.connect()
        #expect(session() == nil)
        scene.handle(.brokerDisconnected)
        scene.wait(.seconds(5))
        scene.handle(.brokerHasNoSession)
        scene.handle(.brokerConnected)
        scene.disconnect()
        #expect(session() == "2 after 10000")
    }

    @Test("responds to commands that it has left to a bridge that has started since")
    func leftToANewBridge() {
        let scene = afterBrokerRestart()
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0,"id":"a"}"#)
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[],"boot":"2"}"#)
        #expect(scene.results.map(\.error?.code) == ["tag_offline"])
    }

    @Test("names the commands that it has refused while another bridge responds, while it is connected to their tag")
    func refusedHere() {
        let scene = shared("aaa")
        func info() -> String? { scene.publications.last { $0.topic.hasSuffix("attic/info") }?.text }
        scene.send("tag/003R/connection/set", "disconnect")
        scene.send("tag/003R/led/set", Self.led)
        scene.send("tag/003R/led/set", "{")
        #expect(scene.results == [])
        scene.send("tag/003R/connection/set", "connect")
        scene.connect()
        let refused = #""refused":[{"id":"a","tag":"003R","topic":"jacquard/tag/003R/led/result"}]"#
        #expect(info()?.contains(refused) == true)
        scene.disconnect()
        #expect(info()?.contains("refused") == false)
        scene.connect()
        #expect(info()?.contains("refused") == false)
    }

    @Test("names the commands that it has rejected and another bridge may have, and drops those that the other names")
    func answered() {
        let here = shared("zoo")
        here.send("tag/003R/connection/set", "disconnect")
        here.send("tag/003R/led/set", Self.led)
        let refused = #""refused":[{"answered":true,"id":"a","tag":"003R","topic":"jacquard/tag/003R/led/result"}]"#
        #expect(here.publications.last { $0.topic.hasSuffix("attic/info") }?.text.contains(refused) == true)
        let there = shared("aaa")
        there.send("tag/003R/led/set", Self.led)
        there.send("tag/003R/led/set", #"{"state":"ON","id":"b"}"#)
        there.send("bridge/aaa/info", #"{"tags":["003R"],"connected":[],\#(refused)}"#)
        there.connect()
        there.answer()
        #expect(there.results.map(\.id) == ["b"])
    }

    @Test("responds to a command that the broker has received before it knew that the tag is disconnected")
    func crossesDisconnection() {
        let scene = shared("aaa", isConnected: true)
        scene.send("bridge/attic/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        scene.disconnect()
        scene.send("tag/003R/led/set", Self.led)
        scene.send("bridge/attic/info", #"{"tags":["003R"],"connected":[]}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"b"}"#)
        scene.wait(.seconds(11))
        #expect(scene.results.filter(\.final).map(\.id) == ["a"])
    }

    @Test("names at most 32 refused commands, for a minute")
    func mostRefused() {
        var failures = RefusedCommands()
        func count(_ id: String) -> Int? { failures.listed { $0 == "003R" }?.count { $0.id == id } }
        let now = Instant(sinceBoot: .seconds(1))
        for number in 0...32 {
            let text = #"{"id":"\#(number)","tag":"003R","topic":"t"}"#
            guard let command = JSONValue(parsing: Array(text.utf8)).flatMap(RefusedCommand.init) else { continue }
            failures.add(command, at: now + .seconds(Int64(number)))
        }
        #expect(failures.listed { _ in true }?.count == 32)
        #expect(failures.listed { _ in false } == nil)
        #expect((count("0"), count("1")) == (0, 1))
        let last = failures.listed { _ in true }?.last
        if let last { failures.add(last, at: now + .seconds(90)) }
        #expect((count("30"), count("31")) == (0, 1))
        failures.remove(.tag003R)
        #expect(failures.listed { _ in true } == nil)
    }

    @Test(
        "publishes that a tag is offline if the bridge with it has died with the broker, which has its retained messages",
        arguments: [true, false])
    func diedWithBroker(isAlive: Bool) {
        let info = #"{"tags":["003R"],"connected":["003R"]}"#
        let scene = shared("zoo", connected: #""003R""#)
        scene.handle(.brokerDisconnected)
        scene.handle(.brokerConnected)
        // The broker has published no will, so this bridge's earlier state is retained, too.
        scene.send("bridge/attic/state", "online")
        scene.send("bridge/zoo/info", info)
        scene.send("bridge/zoo/state", "online")
        if isAlive { scene.send("bridge/zoo/info", info) }
        _ = scene.takeActions()
        scene.wait(.seconds(3))
        let isPublished = scene.takeActions().contains { action in
            if case .republish(let topics) = action { topics.contains("jacquard/tag/003R/availability") } else { false }
        }
        #expect(isPublished == !isAlive)
    }

    @Test("leaves a tag to another bridge that could not prove that it lives while the broker was away")
    func unprovenWhileAway() {
        let scene = shared("zoo", connected: #""003R""#)
        scene.connect()
        scene.handle(.brokerDisconnected)
        scene.disconnect()
        scene.wait(.seconds(3))
        scene.handle(.brokerConnected)
        scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        scene.send("bridge/zoo/state", "online")
        scene.send("bridge/attic/state", "online")
        #expect(scene.state.tagsElsewhere == ["003R"])
    }

    @Test("does not repeat the response of another bridge to a connect command", arguments: ["aaa", "zoo"])
    func connectAnsweredElsewhere(peer: String) {
        let scene = shared(peer, connected: #""003R""#)
        scene.send("tag/003R/connection/set", "connect")
        scene.send("bridge/\(peer)/info", #"{"tags":["003R"],"connected":[]}"#)
        scene.connect()
        #expect(scene.results == [])
    }

    @Test("the bridge that the tag connects to responds to a connect command", arguments: ["aaa", "zoo"])
    func connect(peer: String) {
        let scene = shared(peer)
        scene.send("tag/003R/connection/set", "connect")
        scene.connect()
        #expect(scene.results.map(\.status) == ["ok"])
    }

    @Test("publishes the tags that it is connected to")
    func claim() {
        let scene = Scene()
        scene.connect()
        #expect(
            scene.publications.last { $0.topic.hasSuffix("/info") }?.text.contains(#""connected":["003R"]"#) == true)
        scene.disconnect()
        #expect(scene.publications.last { $0.topic.hasSuffix("attic/info") }?.text.contains(#""connected":[]"#) == true)
    }

    @Test("stores at most 1,024 other bridges", arguments: [1_023, 1_024])
    func most(count: Int) {
        let scene = Scene()
        for number in 0..<count { scene.send("bridge/z\(number)/state", "online") }
        scene.send("bridge/aaa/info", #"{"tags":["003R"],"connected":["003R"]}"#)
        scene.send("bridge/aaa/state", "online")
        scene.send("tag/003R/led/set", #"{"state":"ON","ttl_ms":0}"#)
        // The bridge "aaa" is connected to the tag, so its result is the only one, if it is stored.
        #expect(scene.results.count == (count == 1_024 ? 1 : 0))
    }

    @Test("stores exactly 256 KiB of ids")
    func mostBytes() throws {
        var peers = PeerBridges(instance: "attic")
        for (bridge, count) in [900, 900, 900, 900, 496].enumerated() {
            let ids = (0..<count).map { number in
                let text = "\(bridge)-\(number)-"
                return "\"\(text)\(String(repeating: "a", count: 64 - text.utf8.count))\""
            }
            _ = peers.received(
                info: Array("{\"tags\":[\(ids.joined(separator: ","))]}".utf8), of: "z\(bridge)",
                at: Scene.beginning.instant)
            _ = peers.received(state: Array("online".utf8), of: "z\(bridge)", at: Scene.beginning.instant)
        }
        let last = try #require(TagID("4-495-" + String(repeating: "a", count: 58)))
        #expect(peers.isKnown(last))
        _ = peers.received(info: Array(#"{"tags":["x"]}"#.utf8), of: "y", at: Scene.beginning.instant)
        _ = peers.received(state: Array("online".utf8), of: "y", at: Scene.beginning.instant)
        #expect(!peers.isKnown("x"))
    }

    @Test("takes the instance from topics of a bridge's state only")
    func stateTopic() {
        let topics = BridgeTopics(base: "jacquard", instance: "attic")
        #expect(topics.instance(ofStateTopic: "jacquard/bridge/cellar/state") == "cellar")
        for topic in ["cellar/info", "/state", "a/b/state", "cellar/states", "state"] {
            #expect(topics.instance(ofStateTopic: "jacquard/bridge/" + topic) == nil, "\(topic)")
        }
        #expect(topics.instance(ofStateTopic: "jacquard/bridges/cellar/state") == nil)
    }

    @Test("ignores its own documents and invalid ones")
    func nonsense() {
        #expect(answers(scene("attic", tags: #""0001""#), for: "0001"))
        let scene = scene("zoo", tags: #""0001""#)
        scene.send("bridge/zoo/info", "{")
        #expect(answers(scene, for: "0001"))
    }
}
