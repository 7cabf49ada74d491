import HomeAssistant
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Places of earlier runs")
struct FormerPlacesTests {
    private typealias Announcement = PublishedPlace.Announcement
    private static let bridgeDevice = "homeassistant/device/jacquard_bridge_attic/config"

    /// A run of the bridge `attic` with the tag 003R, after runs elsewhere.
    private func scene(
        after places: [PublishedPlace], instances: [FormerInstance] = [], prefix: String? = "homeassistant"
    ) -> Scene {
        let scene = Scene()
        let configuration = BridgeConfiguration(
            instance: "attic", version: "0.1.0", tags: [.tag003R],
            homeAssistant: prefix.map { HomeAssistantConfiguration(prefix: $0) })
        scene.state = BridgeState(
            configuration: configuration,
            earlier: EarlierRuns(instances: instances, boots: ["aaaa"], places: places), boot: "9f3c",
            startedAt: Scene.beginning)
        scene.begin()
        return scene
    }

    private func place(
        of instance: String = "attic", base: String = "jacquard", _ prefix: String?,
        _ form: HomeAssistantConfiguration.Form = .device
    ) -> PublishedPlace {
        PublishedPlace(
            instance: instance, base: base, announcement: prefix.map { Announcement(prefix: $0, form: form) })
    }

    private func cleared(_ lines: [String]) -> [String] {
        lines.filter { $0.hasSuffix(" ") }.map { String($0.dropLast()) }
    }

    private static func info(_ bridge: String = "attic") -> String {
        #"{"bridge":"\#(bridge)","id":"0001","serial":"0001"}"#
    }

    @Test("a removed tag is withdrawn under the prefix where it was announced, a second before its facts")
    func removedTagAndPrefix() {
        let scene = scene(after: [place("ha/old")])
        #expect(scene.state.subscriptions.contains { $0.filter == "ha/old/device/jacquard_tag_003R/config" })
        scene.receive("jacquard/tag/0001/info", Self.info(), isRetained: true)
        #expect(cleared(scene.wait(.seconds(1))) == ["ha/old/device/jacquard_tag_0001/config"])
        #expect(cleared(scene.wait(.seconds(1))).contains("jacquard/tag/0001/battery"))
        #expect(!scene.takeActions().contains(.forgetFormerPlaces))
        scene.wait(.seconds(3))
        #expect(scene.takeActions().contains(.forgetFormerPlaces))
    }

    @Test("of a former base topic 256 tags are cleared, and the rest at the next connection")
    func manyTags() {
        let scene = scene(after: [place(base: "old", nil)], prefix: nil)
        func connect(_ numbers: Range<Int>) -> [String] {
            scene.receive("old/bridge/attic/info", #"{"boot":"aaaa"}"#, isRetained: true)
            for number in 0..<300 {
                scene.receive("old/tag/x\(number)/info", Self.info("cellar"), isRetained: true)
            }
            for number in numbers { scene.receive("old/tag/t\(number)/info", Self.info(), isRetained: true) }
            return cleared(scene.wait(.seconds(6)))
        }
        let first = connect(0..<260)
        #expect(first.filter { $0.hasSuffix("/info") }.count == 256 && !first.contains("old/bridge/attic/info"))
        #expect(!first.contains("old/tag/x1/info") && !scene.takeActions().contains(.forgetFormerPlaces))
        scene.handle(.brokerDisconnected)
        scene.handle(.brokerConnected)
        let second = connect(256..<260)
        #expect(second.contains("old/tag/t259/info") && second.contains("old/bridge/attic/info"))
        #expect(scene.takeActions().contains(.forgetFormerPlaces))
    }

    @Test("of a former base topic with more tags of other bridges than are read, nothing is waited for")
    func othersOnly() {
        let scene = scene(after: [place(base: "old", nil)], prefix: nil)
        scene.receive("old/bridge/attic/info", #"{"boot":"aaaa"}"#, isRetained: true)
        let padding = String(repeating: " ", count: 60_000)
        for number in 0..<20 {
            scene.receive("old/tag/x\(number)/info", Self.info("cellar") + padding, isRetained: true)
        }
        let lines = cleared(scene.wait(.seconds(6)))
        #expect(lines.contains("old/bridge/attic/info") && scene.takeActions().contains(.forgetFormerPlaces))
    }

    @Test("a former name is withdrawn under the prefix and in the form that it had")
    func nameAndPrefix() {
        let scene = scene(
            after: [place(of: "old", "ha", .single)], instances: [FormerInstance(name: "old", boots: ["bbbb"])])
        scene.receive("jacquard/bridge/old/info", #"{"boot":"bbbb","tags":[]}"#, isRetained: true)
        let withdrawn = cleared(scene.wait(.seconds(1)))
        #expect(withdrawn.contains("ha/sensor/jacquard_bridge_old/pairing/config"))
        #expect(withdrawn.allSatisfy { $0.hasPrefix("ha/") && $0.contains("/jacquard_bridge_old/") })
        #expect(cleared(scene.wait(.seconds(1))).last == "jacquard/bridge/old/state")
    }

    @Test(
        "a start without discovery withdraws what was announced, and a second later clears the topics of Home Assistant"
    )
    func withoutDiscovery() {
        let scene = scene(after: [place("homeassistant")], prefix: nil)
        #expect(cleared(scene.wait(.milliseconds(999))) == [])
        #expect(
            cleared(scene.wait(.milliseconds(1))) == [
                "homeassistant/device/jacquard_tag_003R/config", Self.bridgeDevice,
            ])
        #expect(
            cleared(scene.wait(.seconds(1))) == [
                "jacquard/bridge/attic/pairing", "jacquard/bridge/attic/found",
            ] + Features.topics.facts { $0 == .feature }.map { "jacquard/tag/003R/\($0)" })
        scene.wait(.seconds(3))
        #expect(scene.takeActions().contains(.forgetFormerPlaces))
    }

    @Test("a start without discovery withdraws nothing if nothing was announced")
    func neverAnnounced() {
        let scene = scene(after: [place(nil)], prefix: nil)
        #expect(cleared(scene.wait(.seconds(10))) == [])
    }

    @Test("a former base topic is cleared after the announcements name the new one", arguments: [true, false])
    func base(isOwn: Bool) {
        let scene = scene(after: [place(base: "old", "homeassistant")])
        let filters = ["old/tag/+/info", "old/bridge/attic/info"]
        #expect(Set(scene.state.subscriptions.map(\.filter)).isSuperset(of: filters))
        scene.receive("old/bridge/attic/info", #"{"boot":"\#(isOwn ? "aaaa" : "cccc")"}"#, isRetained: true)
        scene.receive("old/tag/003R/info", #"{"bridge":"attic","serial":"003R"}"#, isRetained: true)
        scene.receive("old/tag/0001/info", Self.info(), isRetained: true)
        scene.receive("old/tag/0002/info", #"{"bridge":"zoo","serial":"0002"}"#, isRetained: true)
        let withdrawn = cleared(scene.wait(.seconds(1)))
        #expect(withdrawn == (isOwn ? ["homeassistant/device/jacquard_tag_0001/config"] : []))
        #expect(scene.takeActions().contains(.unsubscribe(filters)))
        #expect(cleared(scene.wait(.milliseconds(3_999))) == [])
        let facts = cleared(scene.wait(.milliseconds(1)))
        #expect(facts.isEmpty == !isOwn)
        guard isOwn else { return }
        #expect(facts.contains("old/tag/003R/battery/level") && facts.contains("old/tag/0001/availability"))
        #expect(facts.last == "old/bridge/attic/state")
        #expect(facts.allSatisfy { $0.hasPrefix("old/") && !$0.contains("/0002/") })
    }
}
