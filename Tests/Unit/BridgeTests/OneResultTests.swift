import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("A command to a tag of two bridges has one result")
struct OneResultTests {
    private static let led = #"{"state":"ON","id":"a"}"#
    /// Commands that are rejected as soon as they arrive.
    private static let rejected = [#"{"color":7,"id":"a"}"#, #"{"state":"ON","ttl_ms":0,"id":"a"}"#]

    /// The network of the first bridge has failed, and the broker has restarted without a will: it still has `online`.
    private func firstIsDead() -> BridgePair {
        let pair = BridgePair()
        pair.kill(pair.attic)
        pair.reconnect(pair.cellar, hasSession: true)
        pair.wait(.seconds(3))
        return pair
    }

    // MARK: Commands that are left because of the order of names

    @Test("if the first bridge by name is dead, and no will says so", arguments: rejected + [led])
    func deadFirst(payload: String) {
        let pair = firstIsDead()
        pair.send("led/set", payload)
        pair.wait(.seconds(30))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix("cellar a ") == true)
        // It is doubted from now on.
        pair.send("led/set", #"{"color":7,"id":"b"}"#)
        #expect(pair.finals.last == "cellar b invalid_argument")
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 2)
    }

    @Test("if the message is refused, and the first bridge by name is dead")
    func refusedMessage() {
        let pair = firstIsDead()
        pair.sendRetained("led/set", Self.led)
        pair.wait(.seconds(30))
        #expect(pair.finals == ["cellar a retained_rejected"])
    }

    @Test("if no bridge knows the tag", arguments: [true, false])
    func unknownTag(isFirstDead: Bool) {
        let pair = isFirstDead ? firstIsDead() : BridgePair()
        pair.send("led/set", Self.led, to: "0051")
        pair.wait(.seconds(10))
        #expect(pair.finals == [isFirstDead ? "cellar a unknown_tag" : "attic a unknown_tag"])
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 1)
    }

    @Test("if the first bridge by name lives, and has published nothing for a while", arguments: rejected + [led])
    func livingFirst(payload: String) {
        let pair = BridgePair()
        pair.reconnect(pair.cellar, hasSession: true)
        pair.wait(.seconds(60))
        pair.send("led/set", payload)
        pair.wait(.seconds(30))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix("attic a ") == true)
        pair.send("led/set", #"{"color":7,"id":"b"}"#)
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 2)
        #expect(pair.finals.last == "attic b invalid_argument")
    }

    @Test("if the first bridge by name dies before it has received the command", arguments: rejected, [1, 44])
    func diesBefore(payload: String, seconds: Int) {
        let pair = BridgePair()
        pair.cut(pair.attic)
        pair.send("led/set", payload)
        pair.wait(.seconds(seconds))
        pair.will(of: pair.attic)
        pair.wait(.seconds(40))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix("cellar a ") == true)
    }

    @Test("if the first bridge by name dies after its result", arguments: rejected + [led], [1, 44])
    func diesAfter(payload: String, seconds: Int) {
        let pair = BridgePair()
        pair.send("led/set", payload)
        pair.wait(.seconds(12))
        #expect(pair.finals.count == 1)
        pair.wait(.seconds(seconds))
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix("attic a ") == true)
    }

    // MARK: Pending commands

    @Test("if the bridge that would publish it dies while both wait for the tag", arguments: [nil, 2, 8, 30])
    func expires(willAfter: Int?) {
        let pair = BridgePair()
        pair.send("led/set", Self.led)
        pair.wait(.seconds(5))
        pair.kill(pair.attic)
        if let willAfter {
            pair.wait(.seconds(willAfter))
            pair.will(of: pair.attic)
        } else {
            pair.will(of: pair.attic)
        }
        pair.wait(.seconds(60))
        #expect(pair.finals == ["cellar a expired"])
    }

    @Test("if the bridge that would publish it is back with its session before the command expires")
    func isBack() {
        let pair = BridgePair()
        pair.send("led/set", Self.led)
        pair.cut(pair.attic)
        pair.wait(.seconds(1))
        pair.will(of: pair.attic)
        pair.wait(.seconds(1))
        pair.reconnect(pair.attic, hasSession: true)
        pair.wait(.seconds(60))
        #expect(pair.finals == ["attic a expired"])
    }

    @Test("if it expires while the broker is away, and the first bridge by name is connected later")
    func expiresWithoutBroker() {
        let pair = BridgePair()
        pair.connectTag(pair.attic)
        pair.wait(.seconds(2))
        pair.loseTag(pair.attic)
        pair.send("led/set", Self.led)
        for host in [pair.attic, pair.cellar] { pair.cut(host) }
        for host in [pair.attic, pair.cellar] { pair.handle(.brokerDisconnected, host) }
        pair.wait(.seconds(20))
        pair.reconnect(pair.cellar, hasSession: false)
        pair.wait(.seconds(5))
        pair.reconnect(pair.attic, hasSession: false)
        pair.wait(.seconds(150))
        #expect(pair.finals == ["attic a expired"])
    }

    @Test(
        "if the bridge that is connected to the tag loses the broker for a while, and has the command in its session",
        arguments: [
            (Self.led, true, "expired"), (#"{"state":"ON","ttl_ms":3000,"id":"a"}"#, true, "expired"),
            (Self.led, false, "unknown_tag"),
        ], [true, false])
    func losesTheBroker(_ command: (payload: String, areBothAware: Bool, failure: String), isBack: Bool) {
        let pair = BridgePair()
        if !command.areBothAware { pair.handle(.tagRemoved(.tag003R), pair.cellar) }
        pair.connectTag(pair.attic)
        pair.wait(.seconds(3))
        pair.cut(pair.attic)
        pair.will(of: pair.attic)
        pair.send("led/set", command.payload)
        pair.wait(.seconds(15))
        #expect(pair.finals.isEmpty)
        if isBack {
            pair.reconnect(pair.attic, hasSession: true)
            pair.answer(pair.attic)
        } else {
            pair.kill(pair.attic)
        }
        pair.wait(.seconds(60))
        #expect(pair.finals == [isBack ? "attic a ok" : "cellar a \(command.failure)"])
    }

    @Test("if the bridge that would publish it starts again")
    func restarts() {
        let pair = BridgePair()
        pair.send("led/set", Self.led)
        pair.wait(.seconds(1))
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        _ = pair.restart(pair.attic)
        pair.wait(.seconds(60))
        #expect(pair.finals == ["cellar a expired"])
    }

    @Test("if a bridge that has started since connects the tag")
    func restartsAndConnects() {
        let pair = BridgePair()
        pair.send("led/set", Self.led)
        pair.wait(.seconds(1))
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        pair.connectTag(pair.restart(pair.attic))
        pair.wait(.seconds(60))
        #expect(pair.finals == ["cellar a tag_offline"])
    }

    @Test("if one bridge rejects it for its own reason, and the other one dies while it waits")
    func rejectedHere() {
        let pair = BridgePair()
        pair.cut(pair.attic)
        pair.send("connection/set", "disconnect")
        pair.attic.session = []
        pair.reconnect(pair.attic, hasSession: true)
        pair.wait(.seconds(2))
        let before = pair.finals.count
        pair.send("led/set", Self.led)
        pair.wait(.seconds(5))
        #expect(pair.finals.count == before)
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        pair.wait(.seconds(60))
        #expect(pair.finals.dropFirst(before) == ["cellar a not_permitted"])
    }

    @Test(
        "if both reject it because the user has disconnected the tag, and the first one dies later",
        arguments: ["", "a"])
    func rejectedByBoth(id: String) {
        let pair = BridgePair()
        pair.send("connection/set", "disconnect")
        pair.wait(.seconds(2))
        let before = pair.finals.count
        pair.send("led/set", id.isEmpty ? #"{"state":"ON"}"# : Self.led)
        pair.wait(.seconds(id.isEmpty ? 14 : 2))
        pair.kill(pair.attic)
        pair.will(of: pair.attic)
        pair.wait(.seconds(150))
        #expect(pair.finals.dropFirst(before) == ["attic \(id.isEmpty ? "-" : id) not_permitted"])
    }

    // MARK: Commands that the bridge with the tag executes

    private static let immediate = [
        ("connection/set", #"{"connection":"connect","id":"a"}"#),
        ("connection/set", #"{"connection":"disconnect","id":"a"}"#),
        ("find/set", #"{"find":"stop","id":"a"}"#), ("led/set", led), ("led/set", #"{"color":7,"id":"a"}"#),
    ].filter { command in TagRequestTable.rows.contains { $0.name == command.0 } }

    @Test("if the bridge with the tag has died, and its will follows", arguments: immediate, [0, 1])
    func ownerIsDead(command: (topic: String, payload: String), dead: Int) {
        let pair = BridgePair()
        let (owner, other) = dead == 0 ? (pair.attic, pair.cellar) : (pair.cellar, pair.attic)
        pair.connectTag(owner)
        pair.wait(.seconds(2))
        pair.kill(owner)
        pair.send(command.topic, command.payload)
        pair.wait(.seconds(20))
        #expect(pair.finals == [])
        pair.will(of: owner)
        pair.wait(.seconds(60))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix(other.name + " a ") == true)
    }

    @Test("if the bridge with the tag lives, and dies later", arguments: immediate, [0, 1])
    func ownerLives(command: (topic: String, payload: String), index: Int) {
        let pair = BridgePair()
        let owner = index == 0 ? pair.attic : pair.cellar
        pair.connectTag(owner)
        pair.wait(.seconds(2))
        pair.send(command.topic, command.payload)
        pair.answer(owner)
        pair.loseTagIfHeld(owner)
        pair.wait(.seconds(5))
        #expect(pair.finals == ["\(owner.name) a \(command.payload.contains("color") ? "invalid_argument" : "ok")"])
        pair.kill(owner)
        pair.will(of: owner)
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 1)
    }

    @Test("if the bridge with the tag is back after its will", arguments: [true, false], [0, 1])
    func ownerIsBack(hasSession: Bool, index: Int) {
        let pair = BridgePair()
        let owner = index == 0 ? pair.attic : pair.cellar
        pair.connectTag(owner)
        pair.wait(.seconds(2))
        pair.cut(owner)
        pair.send("led/set", Self.led)
        pair.wait(.seconds(40))
        pair.will(of: owner)
        // The broker keeps the session for 30 s.
        pair.wait(.seconds(hasSession ? 5 : 31))
        pair.reconnect(owner, hasSession: hasSession)
        if hasSession { pair.answer(owner) }
        pair.wait(.seconds(120))
        let other = index == 0 ? pair.cellar : pair.attic
        #expect(pair.finals == [hasSession ? "\(owner.name) a ok" : "\(other.name) a tag_offline"])
    }

    @Test(
        "if the bridge that was connected to the tag has lost it, and receives the command from its session",
        arguments: [true, false], [led] + rejected)
    func ownerIsBackWithoutTag(hasWill: Bool, payload: String) {
        let pair = BridgePair()
        pair.connectTag(pair.cellar)
        pair.wait(.seconds(3))
        pair.cut(pair.cellar)
        pair.send("led/set", payload)
        pair.wait(.seconds(1))
        if hasWill { pair.will(of: pair.cellar) }
        pair.loseTag(pair.cellar)
        pair.wait(.seconds(5))
        pair.reconnect(pair.cellar, hasSession: true)
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 1)
        #expect(pair.finals.first?.hasPrefix("cellar a ") == true)
    }

    @Test("if the tag moves to the other bridge while the bridge that was connected to it is cut off")
    func tagMoves() {
        let pair = BridgePair()
        pair.connectTag(pair.attic)
        pair.wait(.seconds(3))
        pair.cut(pair.attic)
        pair.send("led/set", Self.led)
        pair.wait(.seconds(1))
        pair.loseTag(pair.attic)
        pair.connectTag(pair.cellar)
        pair.wait(.seconds(5))
        pair.reconnect(pair.attic, hasSession: true)
        pair.wait(.seconds(150))
        #expect(pair.finals == ["attic a tag_offline"])
    }

    @Test(
        "if it expires before the bridge that was connected to the tag is back without it",
        arguments: [(ttl: 1_000, seconds: 5), (ttl: 10_000, seconds: 13), (ttl: 10_000, seconds: 29)])
    func expiresBeforeReturn(_ command: (ttl: Int, seconds: Int)) {
        let pair = BridgePair()
        pair.connectTag(pair.cellar)
        pair.wait(.seconds(3))
        pair.cut(pair.cellar)
        pair.will(of: pair.cellar)
        pair.send("led/set", #"{"state":"ON","ttl_ms":\#(command.ttl),"id":"a"}"#)
        pair.loseTag(pair.cellar)
        pair.wait(.seconds(command.seconds))
        #expect(pair.finals == [])
        pair.reconnect(pair.cellar, hasSession: true)
        pair.wait(.seconds(150))
        #expect(pair.finals == ["attic a expired"])
    }

    @Test("if the other bridge has connected the tag and lost it again before it receives the command")
    func connectedMeanwhile() {
        let pair = BridgePair()
        pair.cellar.isLinked = false
        pair.send("led/set", Self.led)
        pair.connectTag(pair.cellar)
        pair.loseTag(pair.cellar)
        pair.reconnectQuietly(pair.cellar)
        pair.wait(.seconds(150))
        #expect(pair.finals == ["cellar a expired"])
    }

    // MARK: Stopping

    @Test("if the bridge that would publish it stops, before or after the command", arguments: 0..<4)
    func stops(order: Int) {
        let pair = BridgePair()
        if order == 0 { pair.send("led/set", Self.led) }
        // The command arrives while the bridge stops, and its messages are on their way.
        if order == 1 { pair.attic.isLinked = false }
        if order == 1 { pair.send("led/set", Self.led) }
        pair.stop(pair.attic)
        if order == 1 { pair.reconnectQuietly(pair.attic) }
        if order == 2 { pair.send("led/set", Self.led) }
        pair.ended(pair.attic)
        if order == 3 { pair.send("led/set", Self.led) }
        pair.wait(.seconds(150))
        #expect(pair.finals == ["cellar a expired"])
    }

    @Test("if the bridge with the tag stops, before or after the command", arguments: 0..<5)
    func ownerStops(order: Int) {
        let pair = BridgePair()
        pair.connectTag(pair.attic)
        pair.wait(.seconds(2))
        if order == 0 { pair.send("led/set", Self.led) }
        if order == 4 {
            pair.send("led/set", Self.led)
            pair.answer(pair.attic)
        }
        if order == 1 { pair.attic.isLinked = false }
        if order == 1 { pair.send("led/set", Self.led) }
        pair.stop(pair.attic)
        if order == 1 { pair.reconnectQuietly(pair.attic) }
        if order == 2 { pair.send("led/set", Self.led) }
        pair.ended(pair.attic)
        if order == 3 { pair.send("led/set", Self.led) }
        pair.wait(.seconds(150))
        let result = ["attic a link_lost", "attic a tag_offline", "cellar a expired", "cellar a expired", "attic a ok"]
        #expect(pair.finals == [result[order]])
    }

    // MARK: Removing the tag

    @Test("if one bridge no longer has the tag", arguments: 0..<3)
    func removed(order: Int) {
        let pair = BridgePair()
        if order == 0 { pair.send("led/set", Self.led) }
        if order == 1 { pair.cellar.isLinked = false }
        pair.handle(.tagRemoved(.tag003R), pair.attic)
        if order == 1 {
            // The other bridge receives the command before the document.
            pair.cellar.session.insert(pair.command("led/set", Self.led), at: 0)
            pair.handle(.message(pair.command("led/set", Self.led)), pair.attic)
            pair.reconnectQuietly(pair.cellar)
        }
        if order == 2 { pair.send("led/set", Self.led) }
        pair.wait(.seconds(150))
        #expect(pair.finals == ["cellar a expired"])
    }

    @Test(
        "if one bridge has published that it cannot connect the tag, and then no longer has the tag",
        arguments: [true, false])
    func removedAfterFailure(isRemoved: Bool) {
        let pair = BridgePair()
        pair.send("led/set", #"{"state":"ON","ttl_ms":60000,"id":"a"}"#)
        let error = TagConnectionError(.peerRemovedPairingInfo, "the bond is lost")
        pair.report(.connection(TagConnection(state: .disconnected, attempt: 1, error: error)), pair.attic)
        #expect(pair.finals == ["attic a tag_offline"])
        if isRemoved { pair.handle(.tagRemoved(.tag003R), pair.attic) }
        pair.connectTag(pair.cellar)
        #expect(pair.cellar.tokens == [])
        pair.wait(.seconds(150))
        #expect(pair.finals.count == 1)
    }

    @Test("if the tag is removed here while the command is left to a dead bridge", arguments: [0, 1])
    func removedHere(index: Int) {
        let pair = BridgePair()
        if index == 1 { pair.connectTag(pair.attic) }
        pair.wait(.seconds(2))
        pair.kill(pair.attic)
        pair.send("led/set", Self.led)
        pair.handle(.tagRemoved(.tag003R), pair.cellar)
        pair.will(of: pair.attic)
        pair.wait(.seconds(60))
        #expect(pair.finals == ["cellar a unknown_tag"])
    }

    @Test("if the bridge of the tag publishes its facts again after the other one has lost its session")
    func refreshed() {
        let pair = BridgePair()
        pair.connectTag(pair.attic)
        pair.reconnect(pair.cellar, hasSession: false)
        pair.wait(.seconds(20))
        pair.send("led/set", Self.led)
        pair.answer(pair.attic)
        let refresh = MQTTMessage(topic: "jacquard/bridge/attic/request/refresh", payload: [], qos: .atLeastOnce)
        pair.handle(.message(refresh), pair.attic)
        pair.wait(.seconds(150))
        #expect(pair.finals.filter { $0.contains(" a ") } == ["attic a ok"])
    }

    @Test("a bridge that is online again is connected to no tag until its document says so")
    func staleDocument() {
        var peers = PeerBridges(instance: "cellar")
        let document = Array(#"{"tags":["003R"],"connected":["003R"]}"#.utf8)
        #expect(peers.received(info: document, of: "attic", at: Scene.beginning.instant).connected.isEmpty)
        #expect(peers.received(state: Array("online".utf8), of: "attic", at: Scene.beginning.instant).connected.isEmpty)
        #expect(peers.received(info: document, of: "attic", at: Scene.beginning.instant).connected == ["003R"])
        // A new process, whose predecessor has left no will.
        #expect(peers.received(state: Array("online".utf8), of: "attic", at: Scene.beginning.instant).connected.isEmpty)
        #expect(peers.isConnected(to: "003R"))
    }
}
