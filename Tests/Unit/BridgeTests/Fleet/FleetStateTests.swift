import JacquardProtocol
import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("A bridge with fleet.watch")
struct FleetStateTests {
    private static var configuration: BridgeConfiguration {
        var configuration = Scene.configuration()
        configuration.options.watchesFleet = true
        return configuration
    }

    /// A bridge that is connected to the broker, after the pause of the start.
    private func scene(peers: String...) -> Scene {
        let scene = Scene()
        scene.state = BridgeState(
            configuration: Self.configuration, boot: "9f3c", startedAt: Scene.beginning)
        scene.connect()
        scene.handle(.brokerConnected)
        scene.send("bridge/attic/state", "online")
        for name in peers { scene.arrive(name) }
        return scene
    }

    /// Lets time pass. The broker returns own beats, and each other bridge sends a beat every ten seconds.
    @discardableResult
    private func pass(_ seconds: Int, _ scene: Scene, beatsOf names: [String] = []) -> [String] {
        var lines: [String] = []
        for second in 1...seconds {
            var new = scene.wait(.seconds(1))
            let own = "jacquard/bridge/attic/beat "
            for line in new where line.hasPrefix(own) {
                new += scene.send("bridge/attic/beat", String(line.dropFirst(own.count)))
            }
            if second.isMultiple(of: 10) { for name in names { new += scene.send("bridge/\(name)/beat", "1") } }
            lines += new.filter { !$0.hasPrefix(own) }
        }
        return lines
    }

    @Test("announces beats in info, and subscribes to its own")
    func announced() {
        let scene = scene()
        #expect(scene.state.subscriptions.map(\.filter).last == "jacquard/bridge/attic/beat")
        #expect(scene.state.infoFact.text.hasSuffix(#","version":"0.1.0","watch":true}"#))
        let without = Scene.connected()
        without.handle(.brokerConnected)
        #expect(!without.state.subscriptions.contains { $0.filter.hasSuffix("/beat") })
        #expect(!without.state.infoFact.text.contains("watch"))
        without.arrive("cellar")
        #expect(without.wait(.seconds(600)).filter { $0.contains("beat") } == [])
    }

    @Test("publishes a beat every ten seconds with QoS 0, which is not retained and not queued")
    func beats() {
        let scene = scene()
        scene.wait(.seconds(31))
        let beats = scene.publications.filter { $0.topic == "jacquard/bridge/attic/beat" }
        #expect(beats.map(\.text) == ["1", "2", "3", "4"])
        #expect(beats.allSatisfy { $0.message.qos == .atMostOnce && $0.kind == .stream && !$0.message.isRetained })
    }

    @Test("publishes offline for a silent bridge: the tags that only it is connected to, and its state last")
    func silent() {
        let scene = scene()
        scene.arrive("cellar", tags: ["0001", "0002", "0003", "0004"], connected: ["0001", "0002"])
        scene.arrive("loft", tags: ["0002", "0003"], connected: ["0002"])
        let lines = pass(90, scene, beatsOf: ["loft"])
        #expect(
            lines.prefix(3) == [
                "jacquard/tag/0001/availability offline", "jacquard/tag/0004/availability offline",
                "jacquard/bridge/cellar/state offline",
            ])
        #expect(lines.count == 4)
        #expect(lines[3].contains(#""text":"No beat of the bridge cellar for 33 s""#))
        #expect(lines[3].contains(#""type":"bridge_silent""#))
        let sent = scene.publications.filter { $0.kind == .correction(lifetime: .seconds(5)) }
        #expect(sent.count == 3)
        #expect(sent.allSatisfy { $0.message.isRetained && $0.message.qos == .atLeastOnce })
        #expect(pass(600, scene, beatsOf: ["loft"]) == [])
    }

    @Test("publishes its own availability of a tag that the silent bridge had, too")
    func sharedTag() {
        let scene = scene()
        scene.disconnect()
        scene.arrive("cellar", tags: ["003R"], connected: ["003R"])
        // The document no longer lists the tag as one that is connected elsewhere.
        #expect(
            pass(90, scene).filter { !$0.contains("attic/info") }.prefix(2) == [
                "jacquard/tag/003R/availability offline", "jacquard/bridge/cellar/state offline",
            ])
        #expect(scene.publications.contains { $0.topic.hasSuffix("003R/availability") && $0.kind == .reminder })
    }

    @Test("answers for the tags of a silent bridge")
    func answers() {
        let scene = scene()
        scene.arrive("aaa", tags: ["0001"], connected: ["0001"])
        #expect(scene.send("tag/0001/sing/set", "x") == [])
        pass(90, scene)
        #expect(!scene.send("tag/0001/sing/set", "x").isEmpty)
    }

    @Test("does not watch bridges that send no beats, stopped, or were removed")
    func noAlarm() {
        let scene = scene(peers: "cellar", "hall", "loft")
        scene.send("bridge/cellar/info", #"{"tags":["0001"]}"#)
        scene.send("bridge/hall/state", "offline")
        scene.send("bridge/loft/info", "")
        scene.send("bridge/shed/state", "online")
        #expect(pass(300, scene) == [])
        #expect(scene.state.fleet.watch?.sources == ["attic"])
    }

    @Test("publishes its state and availabilities again when another bridge has overwritten its state")
    func overwritten() {
        let scene = scene()
        let facts = ["jacquard/bridge/attic/state online", "jacquard/tag/003R/availability online"]
        #expect(scene.send("bridge/attic/state", "offline") == facts)
        #expect(scene.publications.suffix(2).allSatisfy { $0.kind == .reminder })
        #expect(scene.send("bridge/attic/state", "offline") == [])
        #expect(scene.send("bridge/attic/state", "online") == [])
        #expect(scene.send("bridge/attic/state", "offline") == facts)
    }

    @Test("requests the facts of a bridge whose beats arrive although its state is offline")
    func refreshed() {
        let scene = scene(peers: "cellar")
        pass(90, scene)
        #expect(scene.send("bridge/cellar/beat", "9") == ["jacquard/bridge/cellar/request/refresh "])
        #expect(scene.publications.last?.message.isRetained == false)
        scene.send("bridge/cellar/state", "online")
        #expect(scene.send("bridge/cellar/beat", "10") == [])
    }

    @Test("ignores retained beats")
    func retained() {
        let scene = scene(peers: "cellar")
        pass(90, scene)
        let beat = MQTTMessage(
            topic: "jacquard/bridge/cellar/beat", payload: Array("9".utf8), isRetained: true)
        #expect(scene.receive(beat) == [])
    }

    @Test("request/refresh publishes all facts again, at most every ten seconds")
    func refresh() {
        let scene = Scene.connected()
        let facts = scene.handle(.started).map { $0.split(separator: " ")[0] }
        func topics(_ lines: [String]) -> [Substring] { lines.map { $0.split(separator: " ")[0] } }
        let result = "jacquard/bridge/attic/response/refresh"
        #expect(topics(scene.send("bridge/attic/request/refresh", "")) == facts + [result[...]])
        #expect(scene.publications.dropLast().suffix(facts.count).allSatisfy { $0.kind == .reminder })
        scene.wait(.seconds(1))
        for _ in 0..<8 { #expect(topics(scene.send("bridge/attic/request/refresh", "{}")) == [result[...]]) }
        #expect(topics(scene.wait(.seconds(8))) == [])
        #expect(topics(scene.wait(.seconds(1))) == facts)
        #expect(scene.wait(.seconds(60)) == [])
        #expect(scene.state.deadline == nil)
    }

    @Test("a reload begins and ends the watch")
    func reload() {
        let scene = Scene.connected()
        scene.handle(.brokerConnected)
        scene.arrive("cellar")
        let lines = scene.handle(.configurationChanged(Self.configuration, isBrokerConnected: true))
        #expect(lines.count == 1 && lines[0].hasSuffix(#""watch":true}"#))
        let filters = ["jacquard/bridge/attic/beat", "jacquard/bridge/cellar/beat"]
        #expect(scene.takeActions().last == .subscribe(filters))
        #expect(pass(90, scene).contains("jacquard/bridge/cellar/state offline"))
        var without = Self.configuration
        without.options.watchesFleet = false
        scene.handle(.configurationChanged(without, isBrokerConnected: true))
        #expect(scene.takeActions().last == .unsubscribe(filters))
        #expect(scene.publications.last?.text.contains("watch") == false)
        #expect(scene.wait(.seconds(60)) == [])
    }

    @Test("ends the subscription to the info of all tags after the first second, if there are other bridges")
    func tagInfo() {
        let action = BridgeAction.unsubscribe(["jacquard/tag/+/info"])
        let alone = Scene.connected()
        alone.handle(.brokerConnected)
        alone.wait(.seconds(2))
        #expect(!alone.takeActions().contains(action))
        alone.arrive("cellar")
        #expect(alone.takeActions().filter { $0 == action }.count == 1)
        alone.handle(.brokerConnected)
        #expect(!alone.takeActions().contains(action))
        alone.wait(.seconds(1))
        #expect(alone.takeActions().filter { $0 == action }.count == 1)
        alone.arrive("loft")
        #expect(!alone.takeActions().contains(action))
    }
}

extension Scene {
    /// Another bridge that sends beats is online.
    fileprivate func arrive(_ name: String, tags: [String] = [], connected: [String] = []) {
        func list(_ ids: [String]) -> String { ids.map { "\"\($0)\"" }.joined(separator: ",") }
        send("bridge/\(name)/info", #"{"connected":[\#(list(connected))],"tags":[\#(list(tags))],"watch":true}"#)
        send("bridge/\(name)/state", "online")
    }
}
