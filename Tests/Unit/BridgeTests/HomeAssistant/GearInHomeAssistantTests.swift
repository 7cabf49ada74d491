import JSON
import JacquardProtocol
import Testing

@testable import Bridge
@testable import HomeAssistant

@Suite("Gear in Home Assistant")
struct GearInHomeAssistantTests {
    private static let keys = Set([
        "attached", "gear", "touch_mode", "haptic_short", "haptic_long", "haptic_stop", "haptic_sine_increase",
        "haptic_sine_decrease", "haptic_linear_increase", "haptic_linear_decrease", "haptic_parabolic_increase",
        "haptic_parabolic_decrease",
    ])
    .union(Features.entities(BridgeOptions()).filter { $0.need == .gear }.map(\.entity.key))

    private func bare(_ form: HomeAssistantConfiguration.Form = .device) -> Scene {
        let scene = Scene.announced(form, bare: [.tag003R])
        scene.powerOn()
        scene.connect()
        return scene
    }

    @Test("a tag that was never attached to gear has no entities that need it")
    func withoutGear() {
        let scene = bare()
        scene.report(.gear(nil))
        let items = scene.components()
        #expect(Self.keys.isDisjoint(with: items.keys))
        #expect(items["led"] != nil && items["gesture"] != nil && items["trigger_cover"] != nil)
        for (key, item) in items {
            let topics = (item["availability"]?.list ?? []).compactMap { $0["topic"]?.text }
            #expect(!topics.contains("jacquard/tag/003R/gear"), "\(key)")
        }
    }

    @Test("has its entities after it was attached once, also while it is away and after a restart")
    func attachedOnce() throws {
        let scene = bare()
        _ = scene.takeActions()
        let before = scene.announcements.count
        scene.report(.gear(.jacket))
        #expect(Self.keys.isSubset(of: scene.components().keys))
        #expect(scene.announcements.count == before + 1)
        scene.report(.gear(nil))
        scene.report(.gear(.jacket))
        #expect(scene.announcements.count == before + 1)
        let records = scene.takeActions().compactMap { if case .remember(let record) = $0 { record } else { nil } }
        let later = Scene()
        later.state = BridgeState(
            configuration: scene.state.configuration, records: [try #require(records.last)], boot: "9f3d",
            startedAt: Scene.beginning)
        later.begin()
        later.wait(.seconds(2))
        #expect(Self.keys.isSubset(of: later.components().keys))
    }

    @Test("that is read by a command counts, too")
    func readByCommand() {
        let scene = bare()
        scene.send("tag/003R/info/get", #"{"component":"gear"}"#)
        scene.answer(.component(.jacket))
        #expect(Self.keys.isSubset(of: scene.components().keys))
    }

    @Test("entities that an earlier version announced without gear are removed", arguments: [true, false])
    func update(hasGear: Bool) {
        let scene = Scene.announcing(bare: hasGear ? [] : [.tag003R])
        scene.begin()
        let old = Scene.announced()
        let topic = "homeassistant/device/jacquard_tag_003R/config"
        let payload = old.publications.last { $0.topic == topic }?.text ?? ""
        scene.receive(topic, payload, isRetained: true)
        scene.wait(.seconds(1))
        let messages = scene.publications.filter { $0.topic == topic }.map(\.text)
        #expect(messages.count == (hasGear ? 1 : 2))
        let removal = #""haptic_short":{"platform":"button"}"#
        #expect(messages.first?.contains(removal) == !hasGear)
        #expect(messages.last?.contains(removal) == false)
    }

    @Test("entities stay that another bridge has announced for a tag of both, and those of a tag of this one go")
    func announcedElsewhere() {
        let topic = "homeassistant/device/jacquard_tag_003R/config"
        let payload = Scene.announced().publications.last { $0.topic == topic }?.text ?? ""
        for isShared in [true, false] {
            let scene = Scene.announcing(bare: [.tag003R])
            scene.begin()
            if isShared {
                scene.send("bridge/zoo/info", #"{"tags":["003R"],"connected":[]}"#)
                scene.send("bridge/zoo/state", "online")
            }
            scene.receive(topic, payload, isRetained: true)
            scene.connect()
            scene.report(.gear(nil))
            scene.wait(.seconds(2))
            let items = scene.components()
            #expect(Self.keys.isSubset(of: items.keys) == isShared)
            #expect(Self.keys.isDisjoint(with: items.keys) == !isShared)
            scene.report(.information(.tag))
            #expect(Self.keys.isSubset(of: scene.components().keys) == isShared)
        }
    }

    @Test("entities of gear are withdrawn with the tag")
    func withdrawn() {
        let scene = bare(.single)
        scene.report(.gear(.jacket))
        let topic = "homeassistant/button/jacquard_tag_003R/haptic_short/config"
        #expect(scene.publications.last { $0.topic == topic }?.payload.isEmpty == false)
        var off = scene.state.configuration
        off.homeAssistant = nil
        scene.handle(.configurationChanged(off, isBrokerConnected: true))
        #expect(scene.publications.last { $0.topic == topic }?.payload.isEmpty == true)
    }

    @Test("no icon is a piece of clothing")
    func icons() {
        for (key, item) in Scene.announced().components() {
            let icon = item["icon"]?.text ?? ""
            #expect(!["tshirt", "hanger", "shoe", "hat"].contains { icon.hasPrefix("mdi:" + $0) }, "\(key)")
        }
    }
}
