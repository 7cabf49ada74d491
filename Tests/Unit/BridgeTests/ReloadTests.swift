import HomeAssistant
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Reload")
struct ReloadTests {
    private static let device = "homeassistant/device/jacquard_tag_003R/config"
    private static let bridgeDevice = "homeassistant/device/jacquard_bridge_attic/config"

    @discardableResult
    private func adopt(
        _ scene: Scene, isConnected: Bool = true, _ change: (inout BridgeConfiguration) -> Void
    ) -> [String] {
        var configuration = scene.state.configuration
        change(&configuration)
        return scene.handle(.configurationChanged(configuration, isBrokerConnected: isConnected))
    }

    @Test("to another broker ends the results of all commands: none follows when the tag responds or the bridge stops")
    func leavingBroker() {
        let tags = [TagEntry.tag003R, TagEntry(id: .known("0002"), serial: "0002")]
        let scene = Scene.connected(tags: tags)
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"sent"}"#)
        scene.send("tag/0002/led/set", #"{"state":"ON","id":"waiting"}"#)
        scene.handle(.leavingBroker)
        #expect(scene.results.map(\.id) == ["waiting", "sent"])
        #expect(scene.results.map { $0.error?.code } == ["tag_offline", "link_lost"])
        scene.handle(.leavingBroker)
        #expect(scene.answer().contains { $0.hasPrefix("jacquard/tag/003R/led ") })
        scene.connect(.known("0002"))
        scene.wait(.seconds(90))
        scene.handle(.stopping)
        #expect(scene.results.count == 2 && scene.performed.count == 1)
    }

    private static let other = TagEntry(id: .known("0002"), serial: "0002")

    /// The bridge goes to another broker. Returns what it takes back at the one that it leaves.
    private func move(_ scene: Scene) -> (announcements: [String], facts: [String]) {
        scene.handle(.leavingBroker)
        let footprint = scene.state.footprint
        scene.handle(.brokerDisconnected)
        return (footprint.announcements.map(\.topic), footprint.facts.map(\.topic))
    }

    @Test("to another broker takes back what is about to be cleared: a removed tag, and former announcements")
    func leavingDepartures() {
        let scene = Scene.announced(tags: [.tag003R, Self.other])
        scene.handle(.tagRemoved(.known("0002")))
        adopt(scene) { $0.homeAssistant?.prefix = "other" }
        let left = move(scene)
        #expect(left.facts.contains("jacquard/tag/0002/availability") && left.facts.contains("jacquard/tag/0002/led"))
        #expect(left.announcements.contains(Self.device) && left.announcements.contains(Self.bridgeDevice))
        #expect(left.announcements.contains("other/device/jacquard_tag_003R/config"))
        scene.handle(.brokerConnected)
        let lines = scene.wait(.seconds(2))
        #expect(!lines.contains { $0.contains("tag/0002/") && $0.hasSuffix(" ") })
        #expect(!move(scene).facts.contains("jacquard/tag/0002/availability"), "it was taken back once")
    }

    @Test("to another broker forgets the bridges of the former one: a tag that they share is its own there")
    func leavingPeers() {
        let scene = Scene.announced(tags: [.tag003R, Self.other])
        scene.send("bridge/cellar/state", "online")
        scene.send("bridge/cellar/info", #"{"tags":["003R","0002"]}"#)
        scene.handle(.tagRemoved(.known("0002")))
        let left = move(scene)
        #expect(!left.facts.contains { $0.hasPrefix("jacquard/tag/") }, "they are left to the other bridge")
        scene.handle(.brokerConnected)
        scene.wait(.seconds(2))
        #expect(move(scene).facts.contains("jacquard/tag/003R/availability"))
        #expect(scene.state.fleet.peers.isEmpty)
    }

    @Test("gives a tag that is added again another handle, and ignores events of the removed one")
    func handles() {
        let scene = Scene()
        scene.handle(.tagRemoved(.tag003R))
        #expect(scene.handle(.tag(.tag003R, .gesture(.doubleTap))) == [])
        #expect(scene.handle(.sighting(.tag003R, TagSighting(rssi: -60))) == [])
        scene.handle(.tagAdded(.tag003R))
        #expect(scene.takeActions().last == .connect(2))
        #expect(scene.state.handle(of: .tag003R) == 2 && scene.state.id(of: 1) == nil)
        #expect(scene.handle(.tag(.tag003R, .gesture(.doubleTap))) == [])
        #expect(scene.handle(.tag(2, .gesture(.doubleTap))).first?.hasPrefix("jacquard/tag/003R/gesture") == true)
    }

    @Test("removes a tag: its discovery at once, its topics a second later, and not its bond")
    func release() {
        let scene = Scene.announced()
        scene.powerOn()
        _ = scene.takeActions()
        let lines = scene.handle(.tagRemoved(.tag003R))
        #expect(scene.takeActions() == [.disconnect(.tag003R), .removeTag(.tag003R)])
        #expect(lines.contains("\(Self.device) "))
        #expect(!lines.contains { $0.contains("tag_forgotten") })
        #expect(scene.wait(.milliseconds(999)).isEmpty)
        let rest = scene.wait(.milliseconds(1))
        let topics = scene.state.topics.tag(.tag003R)
        let announced = Features.topics.facts { $0 == .feature }
        #expect(rest.count == TagTopicTable.retained(topics).count + announced.count)
        #expect(Set(rest).isSuperset(of: TagTopicTable.retained(topics).map { "\($0) " }))
        #expect(rest.allSatisfy { $0.hasPrefix("jacquard/tag/003R/") && $0.hasSuffix(" ") })
        #expect(scene.state.deadline == nil)
    }

    @Test("ends the commands of a removed tag")
    func commands() {
        let scene = Scene.connected()
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"sent"}"#)
        scene.handle(.tagRemoved(.tag003R))
        #expect(scene.lastError?.code == "link_lost")
        #expect(scene.handle(.tagRemoved(.tag003R)) == [])
    }

    @Test("a tag that is added again goes on with its light and statistics; another tag of its name only with those")
    func goesOn() {
        for (serial, isOn) in [("003R", true), ("004R", false)] {
            let scene = Scene.connected()
            scene.report(.gesture(.brushIn))
            scene.send("tag/003R/led/set", #"{"color":"red","duration_ms":60000}"#)
            scene.answer()
            scene.handle(.tagRemoved(.tag003R))
            scene.handle(.messagesLost(Outbox.Losses(events: ["jacquard/tag/003R/gesture": 1])))
            scene.wait(.seconds(2))
            let lines = scene.handle(.tagAdded(TagEntry(id: .tag003R, serial: serial)))
            let stats = lines.first { $0.hasPrefix("jacquard/tag/003R/stats ") }
            #expect(stats?.contains(#""expired":1"#) == true)
            #expect(stats?.contains(#""last_seq":1"#) == true)
            let light = lines.first { $0.hasPrefix("jacquard/tag/003R/led ") }
            #expect(light?.contains(#""state":"ON""#) == isOn)
            let off = scene.wait(.seconds(60)).first { $0.hasPrefix("jacquard/tag/003R/led ") }
            #expect(off?.contains(#""state":"OFF""#) == (isOn ? true : nil))
        }
    }

    @Test("a removed tag that is listed again at once keeps its topics")
    func again() {
        let scene = Scene.connected()
        scene.handle(.tagRemoved(.tag003R))
        _ = scene.takeActions()
        let record = TagRecord(id: .tag003R, serial: "003R", name: "Jacket", isHeld: true)
        let lines = scene.handle(.tagAdded(.tag003R, record: record))
        let availability = lines.filter { $0.hasPrefix("jacquard/tag/003R/availability") }
        #expect(availability == ["jacquard/tag/003R/availability ", "jacquard/tag/003R/availability offline"])
        #expect(!scene.takeActions().contains(.connect(.tag003R)), "it is held")
        #expect(scene.wait(.seconds(2)) == [])
    }

    @Test("changes a tag's name in its topics and its discovery")
    func name() {
        let scene = Scene.announced()
        var entry = TagEntry.sleeve
        entry.name = "Right sleeve"
        let lines = scene.handle(.tagChanged(entry))
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains(#""name":"Right sleeve""#) })
    }

    @Test("changes a tag's connection policy", arguments: TagEntry.ConnectPolicy.allCases)
    func policy(policy: TagEntry.ConnectPolicy) {
        let scene = Scene()
        scene.powerOn()
        scene.connect()
        _ = scene.takeActions()
        var entry = TagEntry.tag003R
        entry.connect = policy
        scene.handle(.tagChanged(entry))
        #expect(scene.takeActions() == (policy == .always ? [] : [.disconnect(.tag003R)]))
        entry.connect = .always
        scene.handle(.tagChanged(entry))
        #expect(scene.takeActions() == (policy == .always ? [] : [.connect(.tag003R)]))
    }

    @Test("changes the reason why a tag is not connected with its policy")
    func reason() {
        let scene = Scene.announced()
        scene.powerOn()
        var entry = TagEntry.tag003R
        func reason() -> Bool? {
            scene.handle(.tagChanged(entry)).last { $0.hasPrefix("jacquard/tag/003R/connection ") }
                .map { $0.contains("disabled in the configuration") }
        }
        entry.connect = .never
        #expect(reason() == true)
        entry.name = "Left"
        #expect(reason() == nil)
        entry.connect = .onDemand
        #expect(reason() == false)
    }

    @Test("withdraws all discovery messages when discovery is switched off, and publishes them again")
    func discoveryOffAndOn() {
        let scene = Scene.announced()
        let settings = scene.state.configuration.homeAssistant
        let gone = adopt(scene) { $0.homeAssistant = nil }
        #expect(gone == ["\(Self.bridgeDevice) ", "\(Self.device) "])
        #expect(
            scene.wait(.seconds(1)) == [
                "jacquard/bridge/attic/pairing ", "jacquard/bridge/attic/found ",
            ] + Features.topics.facts { $0 == .feature }.map { "jacquard/tag/003R/\($0) " })
        _ = adopt(scene) { $0.homeAssistant = settings }
        guard case .subscribe(let filters)? = scene.takeActions().last else {
            Issue.record("it does not listen")
            return
        }
        #expect(filters.contains("homeassistant/status") && filters.contains("+/device/jacquard_tag_003R/config"))
        #expect(scene.wait(.seconds(1)).discoveryTopics == [Self.bridgeDevice, Self.device])
    }

    @Test("moves discovery to another prefix")
    func prefix() {
        let scene = Scene.announced()
        _ = adopt(scene) { $0.homeAssistant?.prefix = "ha" }
        let lines = scene.wait(.seconds(1))
        #expect(Set(lines.filter { $0.hasPrefix("homeassistant/") }) == ["\(Self.bridgeDevice) ", "\(Self.device) "])
        #expect(lines.discoveryTopics.suffix(2).allSatisfy { $0.hasPrefix("ha/device/") })
    }

    @Test("moves discovery to the other form, in three steps")
    func form() {
        let scene = Scene.announced()
        _ = adopt(scene) { $0.homeAssistant?.form = .single }
        // The single form has no notify entity.
        let removals = scene.wait(.seconds(1))
        #expect(removals.discoveryTopics == [Self.device])
        #expect(removals.first?.contains(#""notify":{"platform":"notify"}"#) == true)
        let requests = scene.wait(.seconds(1))
        #expect(Set(requests.discoveryTopics) == [Self.bridgeDevice, Self.device])
        #expect(requests.allSatisfy { $0.contains("migrate_discovery") })
        #expect(
            scene.wait(.seconds(1)).discoveryTopics.contains("homeassistant/sensor/jacquard_tag_003R/battery/config"))
        #expect(
            Set(scene.wait(.seconds(1))).subtracting(["jacquard/tag/003R/touch_mode gesture"])
                == ["\(Self.bridgeDevice) ", "\(Self.device) "])
        #expect(scene.state.deadline == nil)
    }

    @Test("publishes changed discovery when the broker is connected")
    func withoutBroker() {
        let scene = Scene.announced()
        _ = adopt(scene, isConnected: false) { $0.homeAssistant?.prefix = "ha" }
        #expect(scene.wait(.seconds(60)).discoveryTopics == [])
        scene.handle(.brokerConnected)
        #expect(scene.wait(.seconds(1)).discoveryTopics.count == 4)
    }

    @Test("applies changed limits at once")
    func limits() {
        let scene = Scene.connected()
        #expect(adopt(scene) { ($0.options.commandsPerTag, $0.options.gestureLifetime) = (1, .seconds(9)) } == [])
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"1"}"#)
        scene.send("tag/003R/led/set", #"{"state":"ON","id":"2"}"#)
        #expect(scene.lastError?.text == "Tag 003R has 1 command pending, which is the limit")
        scene.report(.gesture(.doubleTap))
        #expect(scene.publications.contains { $0.message.messageExpirySeconds == 9 })
    }

    @Test("with a lower limit of commands names it")
    func lowerLimit() {
        let scene = Scene.connected()
        for _ in 0..<3 { scene.send("tag/003R/led/set", "on") }
        adopt(scene) { $0.options.commandsPerTag = 2 }
        scene.send("tag/003R/led/set", "on")
        #expect(scene.lastError?.text == "Tag 003R has 3 commands pending; the limit is 2")
        #expect(scene.lastError?.code == "busy")
    }

    @Test("is ignored after the stop, and for an unknown tag")
    func nothing() {
        let scene = Scene.announced()
        var other = TagEntry.sleeve
        other.id = .known("other")
        #expect(scene.state.handle(.tagChanged(other), at: scene.now) == [])
        scene.handle(.stopping)
        #expect(scene.state.handle(.tagChanged(.sleeve), at: scene.now) == [])
        #expect(scene.state.handle(.tagRemoved(.tag003R), at: scene.now) == [])
        #expect(adopt(scene) { $0.homeAssistant = nil } == [])
    }
}
