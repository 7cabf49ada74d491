import HomeAssistant
import JSON
import JacquardProtocol
import Testing

@testable import Bridge

@Suite("The motion sensor in Home Assistant")
struct MotionInHomeAssistantTests {
    private static let keys = [
        "motion", "motion_recording", "motion_streaming", "motion_storage", "motion_record", "motion_stream",
        "motion_stop", "motion_list",
    ]

    private func scene(_ form: HomeAssistantConfiguration.Form = .device) -> Scene {
        let scene = Scene.announced(form)
        scene.powerOn()
        scene.connect()
        return scene
    }

    private func use(_ scene: Scene, _ module: MotionModuleStatus.Module = .inactive) {
        scene.send("tag/003R/imu/get", "")
        scene.answer(.motionStatus(MotionModuleStatus(module: module, status: nil)))
    }

    @Test("is announced after its first use, if the tag has the module")
    func firstUse() {
        let scene = scene()
        #expect(scene.components()["motion"] == nil)
        use(scene, .missing)
        #expect(scene.components()["motion"] == nil)
        use(scene)
        let items = scene.components()
        for key in Self.keys {
            #expect(items[key]?["entity_category"]?.string == "diagnostic", "\(key)")
            let isButton = items[key]?["platform"]?.string == "button"
            #expect((items[key]?["enabled_by_default"] == .bool(false)) == isButton, "\(key)")
        }
        #expect(items["motion_recording"]?["state_topic"]?.string == "jacquard/tag/003R/imu")
        #expect(items["motion_storage"]?["state_topic"]?.string == "jacquard/tag/003R/imu/sessions")
        let count = scene.announcements.count
        use(scene)
        #expect(scene.announcements.count == count)
    }

    @Test("its buttons send valid commands")
    func buttons() throws {
        let scene = scene()
        use(scene)
        let items = scene.components()
        for key in ["motion_stream", "motion_stop", "motion_list"] {
            let topic = try #require(items[key]?["command_topic"]?.string)
            let payload = try #require(items[key]?["payload_press"]?.string)
            scene.send(String(topic.dropFirst("jacquard/".count)), payload)
            #expect(scene.lastError == nil, "\(key)")
            scene.answer(.motionStatus(MotionModuleStatus(module: .active, status: .idle)))
        }
    }

    @Test("is remembered over a restart, and read at the next connection")
    func restart() throws {
        let scene = scene()
        _ = scene.takeActions()
        use(scene)
        let records = scene.actions.compactMap { if case .remember(let record) = $0 { record } else { nil } }
        let record = try #require(records.last)
        #expect(record.features == ["motion": true])
        let later = Scene()
        later.state = BridgeState(
            configuration: scene.state.configuration, records: [record], boot: "9f3d", startedAt: Scene.beginning)
        later.begin()
        later.wait(.seconds(2))
        #expect(later.components()["motion"] != nil)
        #expect(later.publications.contains { $0.topic == "jacquard/tag/003R/imu" })
        later.powerOn()
        later.connect()
        #expect(later.performed.last == .motion(.status))
    }

    @Test("is withdrawn with the tag")
    func withdrawn() {
        let scene = scene(.single)
        use(scene)
        let topic = "homeassistant/sensor/jacquard_tag_003R/motion/config"
        #expect(scene.publications.last { $0.topic == topic }?.payload.isEmpty == false)
        var off = scene.state.configuration
        off.homeAssistant = nil
        scene.handle(.configurationChanged(off, isBrokerConnected: true))
        #expect(scene.publications.last { $0.topic == topic }?.payload.isEmpty == true)
    }
}
