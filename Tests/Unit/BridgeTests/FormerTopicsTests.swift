import HomeAssistant
import Testing

@testable import Bridge

@Suite("Topics of earlier runs")
struct FormerTopicsTests {
    private static let device = "homeassistant/device/jacquard_tag_0001/config"

    private static func info(_ bridge: String = "attic") -> String {
        #"{"bridge":"\#(bridge)","id":"0001","serial":"0001"}"#
    }

    private func scene(
        _ earlier: EarlierRuns = EarlierRuns(), hasDiscovery: Bool = true,
        form: HomeAssistantConfiguration.Form = .device
    ) -> Scene {
        let scene = Scene()
        let configuration = BridgeConfiguration(
            instance: "attic", version: "0.1.0", tags: [.tag003R],
            homeAssistant: hasDiscovery ? HomeAssistantConfiguration(form: form) : nil)
        scene.state = BridgeState(
            configuration: configuration, earlier: earlier, boot: "9f3c", startedAt: Scene.beginning)
        scene.begin()
        return scene
    }

    /// The topics that were cleared, in order.
    private func cleared(_ lines: [String]) -> [String] {
        lines.filter { $0.hasSuffix(" ") }.map { String($0.dropLast()) }
    }

    @Test(
        "of a tag that is no longer known are cleared: discovery first, everything else a second later",
        arguments: [true, false])
    func tag(hasDiscovery: Bool) {
        let scene = scene(hasDiscovery: hasDiscovery)
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        #expect(cleared(scene.wait(.milliseconds(999))) == [])
        let discovery = cleared(scene.wait(.milliseconds(1)))
        #expect(discovery.first == Self.device)
        #expect(discovery.contains("homeassistant/sensor/jacquard_tag_0001/battery/config"))
        #expect(discovery.allSatisfy { $0.hasPrefix("homeassistant/") && $0.contains("jacquard_tag_0001") })
        #expect(cleared(scene.wait(.milliseconds(999))) == [])
        let topics = scene.state.topics.tag(.known("0001"))
        // The earlier run may have had features that are off now.
        #expect(
            cleared(scene.wait(.milliseconds(1))) == TagTopicTable.all(topics))
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test("of a known tag, and of tags of other bridges, are kept", arguments: 0..<6)
    func others(number: Int) {
        let scene = scene(EarlierRuns(areTagsKnown: number != 5))
        switch number {
        case 0: scene.receive("jacquard/tag/003R/info", Self.info(), isRetained: true)
        case 1: scene.receive("jacquard/tag/0001/info", Self.info("zoo"), isRetained: true)
        case 2: scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: false)
        case 3: scene.receive("jacquard/tag/0001/info", "{", isRetained: true)
        default: scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        }
        if number == 4 {
            scene.send("bridge/zoo/info", #"{"tags":["0001"]}"#)
            scene.send("bridge/zoo/state", "online")
        }
        #expect(cleared(scene.wait(.seconds(5))) == [])
    }

    @Test("of a tag that only an offline bridge knows are cleared")
    func offlineOwner() {
        let scene = scene()
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        scene.send("bridge/zoo/info", #"{"tags":["0001"]}"#)
        scene.send("bridge/zoo/state", "offline")
        #expect(cleared(scene.wait(.seconds(1))).contains(Self.device))
    }

    @Test("of a tag that is added meanwhile are published again after the clearing")
    func added() {
        let scene = scene()
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        scene.wait(.milliseconds(1_500))
        let lines = scene.handle(.tagAdded(TagEntry(id: .known("0001"), serial: "0001")))
        let availability = lines.filter { $0.hasPrefix("jacquard/tag/0001/availability") }
        #expect(availability == ["jacquard/tag/0001/availability ", "jacquard/tag/0001/availability offline"])
        #expect(cleared(scene.wait(.seconds(5))) == [])
    }

    @Test("are collected on each connection for one second")
    func connections() {
        let scene = scene()
        scene.wait(.seconds(2))
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        #expect(cleared(scene.wait(.seconds(5))) == [])
        scene.handle(.brokerConnected)
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        #expect(cleared(scene.wait(.seconds(1))).contains(Self.device))
    }

    private static let runs = EarlierRuns(instances: [FormerInstance(name: "old", boots: ["aaaa", "bbbb"])])

    @Test("of a former name are cleared, with its tags that are not known", arguments: ["aaaa", "bbbb"])
    func instance(boot: String) {
        let scene = scene(Self.runs)
        scene.receive("jacquard/bridge/old/state", "online", isRetained: true)
        scene.receive("jacquard/bridge/old/info", #"{"boot":"\#(boot)","tags":["0001"]}"#, isRetained: true)
        scene.receive("jacquard/tag/0001/info", Self.info("old"), isRetained: true)
        scene.send("bridge/old/state", "offline")
        let discovery = cleared(scene.wait(.seconds(1)))
        #expect(discovery.contains(Self.device))
        #expect(discovery.contains("homeassistant/device/jacquard_bridge_old/config"))
        _ = scene.takeActions()
        let rest = cleared(scene.wait(.seconds(1)))
        #expect(rest.contains("jacquard/tag/0001/availability"))
        #expect(rest.filter { $0.hasPrefix("jacquard/bridge/old/") }.count == 8)
        #expect(rest.last == "jacquard/bridge/old/state")
        #expect(scene.takeActions() == [.forgetInstance("old")])
        scene.handle(.brokerConnected)
        scene.receive("jacquard/bridge/old/info", #"{"boot":"\#(boot)","tags":["0001"]}"#, isRetained: true)
        #expect(cleared(scene.wait(.seconds(5))) == [])
    }

    // Releases before the device form log an error for each message to it.
    @Test("of a former name are cleared in the device form only where one is retained, while the single form is used")
    func earlyReleases() {
        let scene = scene(Self.runs, form: .single)
        scene.receive("jacquard/bridge/old/info", #"{"boot":"aaaa","tags":[]}"#, isRetained: true)
        _ = scene.takeActions()
        let topics = scene.wait(.seconds(1)).discoveryTopics
        #expect(topics.contains { $0.contains("jacquard_bridge_old") })
        #expect(!topics.contains { $0.hasPrefix("homeassistant/device/") })
        let former = "homeassistant/device/jacquard_bridge_old/config"
        #expect(scene.takeActions().contains(.subscribe([former])))
        #expect(cleared(scene.receive(former, "{}", isRetained: true)) == [former])
        #expect(scene.takeActions() == [.unsubscribe([former])])
    }

    @Test("of a former name that another bridge uses now are kept", arguments: ["cccc", nil])
    func takenName(boot: String?) {
        let scene = scene(Self.runs)
        if let boot {
            scene.receive("jacquard/bridge/old/info", #"{"boot":"\#(boot)","tags":["0001"]}"#, isRetained: true)
        }
        scene.receive("jacquard/tag/0001/info", Self.info("old"), isRetained: true)
        #expect(cleared(scene.wait(.seconds(5))) == [])
        #expect(!scene.takeActions().contains(.forgetInstance("old")))
    }

    @Test("are read up to 1 MiB and 256 tags on one connection")
    func bounds() {
        let scene = scene()
        for number in 0..<1_000 {
            scene.receive("jacquard/tag/t\(number)/info", Self.info(), isRetained: true)
        }
        let devices = cleared(scene.wait(.seconds(1))).filter { $0.hasPrefix("homeassistant/device/") }
        #expect(devices.count == FormerTopics.maxCount)
        let large = self.scene()
        let padding = String(repeating: " ", count: 500_000)
        for number in 0..<10 {
            large.receive("jacquard/tag/t\(number)/info", Self.info() + padding, isRetained: true)
        }
        #expect(cleared(large.wait(.seconds(1))).filter { $0.hasPrefix("homeassistant/device/") }.count == 2)
    }
}
