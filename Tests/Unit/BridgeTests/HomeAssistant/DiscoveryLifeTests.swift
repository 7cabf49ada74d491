import HomeAssistant
import JacquardProtocol
import MQTTTypes
import Testing

@testable import Bridge

@Suite("Discovery over time")
struct DiscoveryLifeTests {
    private static let device = "homeassistant/device/jacquard_tag_003R/config"
    private static let battery = "homeassistant/sensor/jacquard_tag_003R/battery/config"
    private static let ours = #"{"name":"Battery","origin":{"name":"jacquard2mqtt","sw_version":"0.0.9"}}"#

    @Test("begins a second after the first connection, after all facts")
    func beginning() {
        let scene = Scene.announcing()
        scene.begin()
        #expect(scene.publications.map(\.line).discoveryTopics == [])
        #expect(scene.wait(.milliseconds(999)).discoveryTopics == [])
        #expect(scene.wait(.milliseconds(1)).discoveryTopics.last == Self.device)
        #expect(scene.wait(.seconds(1)) == ["jacquard/tag/003R/touch_mode gesture"])
        #expect(scene.state.deadline == nil)
        scene.handle(.brokerConnected)
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test(
        "is followed once by the states whose values an earlier version displayed differently")
    func options() {
        let scene = Scene.announcing()
        scene.begin()
        scene.wait(.seconds(1))
        #expect(scene.publications.last?.topic == Self.device)
        #expect(scene.wait(.milliseconds(999)) == [])
        #expect(scene.wait(.milliseconds(1)) == ["jacquard/tag/003R/touch_mode gesture"])
        #expect(scene.publications.last?.kind == .reminder)
        #expect(scene.wait(.seconds(60)) == [])
    }

    @Test("collects topics of earlier runs until everything is announced")
    func filters() {
        let scene = Scene.announcing(tags: [.sleeve])
        let leftovers = [
            "+/device/jacquard_bridge_attic/config", "+/+/jacquard_bridge_attic/+/config",
            "+/device/jacquard_tag_003R/config", "+/+/jacquard_tag_003R/+/config",
        ]
        #expect(
            scene.state.subscriptions.map(\.filter).filter { !$0.hasPrefix("jacquard/") }
                == ["homeassistant/status"] + leftovers)
        scene.begin()
        scene.wait(.seconds(1))
        // What remains are those by which Home Assistant says that a device was deleted there.
        #expect(
            scene.state.subscriptions.map(\.filter).filter { !$0.hasPrefix("jacquard/") } == [
                "homeassistant/status", "homeassistant/device/jacquard_bridge_attic/config", Self.device,
            ])
    }

    @Test("works with a prefix of several levels")
    func longPrefix() {
        let scene = Scene.announcing(prefix: "home/ha")
        #expect(scene.state.subscriptions.contains { $0.filter == "home/ha/+/jacquard_tag_003R/+/config" })
        let single = Scene.announcing(.single, prefix: "home/ha")
        #expect(single.state.subscriptions.contains { $0.filter == "home/ha/device/jacquard_tag_003R/config" })
    }

    @Test("publishes everything again when Home Assistant has started, spread over two seconds, the bridge first")
    func reminders() {
        let tags = (1...4).map { TagEntry(id: .known("000\($0)"), serial: "000\($0)") }
        let scene = Scene.announced(tags: tags)
        scene.receive("homeassistant/status", "online")
        let first = scene.publications.count
        #expect(
            scene.wait(.zero).discoveryTopics == ["homeassistant/device/jacquard_bridge_attic/config"])
        let end = scene.wait(.milliseconds(1_599)).discoveryTopics
        #expect(end == (1...3).map { "homeassistant/device/jacquard_tag_000\($0)/config" })
        #expect(scene.wait(.milliseconds(400)).discoveryTopics == ["homeassistant/device/jacquard_tag_0004/config"])
        #expect(scene.publications[first...].allSatisfy { $0.kind == .reminder && $0.message.isRetained })
        let topics = Set(scene.publications[first...].map(\.topic))
        #expect(topics.isSuperset(of: ["jacquard/bridge/attic/state", "jacquard/tag/0002/availability"]))
        #expect(!topics.contains { $0.hasSuffix("/gesture") })
    }

    @Test("ignores other values, and a start before everything is announced")
    func otherWords() {
        let scene = Scene.announcing()
        scene.begin()
        scene.receive("homeassistant/status", "online")
        scene.wait(.seconds(1))
        scene.wait(.seconds(1))
        scene.receive("homeassistant/status", "offline")
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test("is published again when the firmware is known, and not when gear comes and goes")
    func changes() {
        let scene = Scene.announced()
        scene.connect()
        #expect(scene.report(.information(.tag)).discoveryTopics == [Self.device])
        #expect(scene.report(.gear(.jacket)).discoveryTopics == [])
        #expect(scene.report(.gear(nil)).discoveryTopics == [])
    }

    @Test("counts the connected tags")
    func connectedTags() {
        let scene = Scene.announced()
        scene.connect()
        #expect(scene.publications.last?.line == #"jacquard/bridge/attic/tags {"connected":1,"known":1}"#)
        scene.disconnect()
        #expect(scene.publications.last?.line == #"jacquard/bridge/attic/tags {"connected":0,"known":1}"#)
    }

    @Test("a device that is deleted in Home Assistant is one problem, until it is announced again")
    func deleted() {
        let scene = Scene.announced()
        let lines = (0..<29).flatMap { _ in scene.receive(Self.device, "") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""code":"deleted_in_home_assistant""#) == true)
        #expect(lines.first?.contains("jacquard2mqtt forget 003R") == true)
        #expect(scene.wait(.seconds(60)).discoveryTopics == [])
        scene.receive("homeassistant/status", "online")
        #expect(scene.wait(.seconds(2)).discoveryTopics.contains(Self.device))
        #expect(scene.receive(Self.device, Self.ours, isRetained: true).first?.contains(#""problems":[]"#) == true)
    }

    @Test("a tag that is added can be deleted in Home Assistant, and one that is forgotten cannot")
    func deletedLater() {
        let scene = Scene.announced(tags: [])
        _ = scene.takeActions()
        scene.handle(.tagAdded(.tag003R))
        #expect(scene.takeActions().contains(.subscribe([Self.device])))
        #expect(scene.receive(Self.device, "").count == 1)
        let lines = scene.handle(.tagRemoved(.tag003R))
        #expect(lines.contains { $0.hasPrefix("jacquard/bridge/attic/health ") && $0.contains(#""problems":[]"#) })
        #expect(scene.receive(Self.device, "") == [])
    }

    @Test("ends by clearing the topics of its form", arguments: HomeAssistantConfiguration.Form.allCases)
    func withdrawal(form: HomeAssistantConfiguration.Form) {
        let scene = Scene.announced(form)
        let announced = scene.announcements.map(\.topic).filter { $0.contains("jacquard_tag_003R") }
        let withdrawn = Effects.collected { scene.state.withdraw(scene.state.tags[0], &$0) }.publications
        #expect(withdrawn.map(\.topic) == announced)
        #expect(withdrawn.allSatisfy { $0.payload.isEmpty && $0.message.isRetained })
    }

    @Test("ends at once when the tag is forgotten, and a second before the tag's other topics")
    func forgotten() {
        let scene = Scene.announced(tags: [.tag003R])
        scene.send("bridge/attic/request/forget", #"{"id":"003R"}"#)
        let token = scene.tokens.last ?? 0
        let lines = scene.handle(.requestEnded(token: token, .success(.done)))
        #expect(lines.contains(Self.device + " "))
        #expect(lines.last { $0.contains("/tags ") } == #"jacquard/bridge/attic/tags {"connected":0,"known":0}"#)
        #expect(!lines.contains("jacquard/tag/003R/availability "))
        #expect(scene.wait(.seconds(1)).contains("jacquard/tag/003R/availability "))
    }

    @Test("is published for a tag that is added later")
    func added() {
        let scene = Scene.announced(tags: [])
        let lines = scene.handle(.tagAdded(.tag003R))
        #expect(lines.discoveryTopics == [Self.device])
        #expect(lines.last == #"jacquard/bridge/attic/tags {"connected":0,"known":1}"#)
    }

    @Test("is not published again for a tag that was forgotten meanwhile")
    func forgottenMeanwhile() {
        let scene = Scene.announced(tags: [.tag003R])
        scene.receive("homeassistant/status", "online")
        scene.send("bridge/attic/request/forget", #"{"id":"003R"}"#)
        scene.handle(.requestEnded(token: scene.tokens.last ?? 0, .success(.done)))
        let announced = scene.wait(.seconds(3)).filter { $0.hasPrefix(Self.device + " {") }
        #expect(announced == [])
    }

    @Test("changes its form in three steps, a second apart: request, new form, old topics cleared")
    func migration() {
        let scene = Scene.announcing()
        scene.begin()
        scene.receive(Self.battery, Self.ours, isRetained: true)
        #expect(scene.wait(.seconds(1)) == [Self.battery + #" {"migrate_discovery":true}"#])
        scene.receive(Self.battery, #"{"migrate_discovery":true}"#, isRetained: true)
        let announced = scene.wait(.seconds(1)).discoveryTopics
        #expect(announced == ["homeassistant/device/jacquard_bridge_attic/config", Self.device])
        #expect(scene.wait(.seconds(1)).contains(Self.battery + " "))
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test("changes back the same way")
    func migrationBack() {
        let scene = Scene.announcing(.single)
        scene.begin()
        scene.receive(Self.device, Self.ours, isRetained: true)
        #expect(scene.wait(.seconds(1)) == [Self.device + #" {"migrate_discovery":true}"#])
        #expect(scene.wait(.seconds(1)).discoveryTopics.contains(Self.battery))
        #expect(scene.wait(.seconds(1)).discoveryTopics == [Self.device])
        #expect(scene.publications.contains { $0.topic == Self.device && $0.payload.isEmpty })
    }

    @Test("changes its form when the old one arrives late, and then publishes everything again")
    func lateMigration() {
        let scene = Scene.announced()
        let before = scene.publications.count
        scene.receive(Self.battery, Self.ours, isRetained: true)
        scene.wait(.seconds(3))
        #expect(
            scene.publications[before...].map(\.topic) == [
                Self.battery, "homeassistant/device/jacquard_bridge_attic/config", Self.device, Self.battery,
            ])
        #expect(scene.publications[before + 2].kind == .reminder)
    }

    @Test("clears the topics below another prefix")
    func otherPrefix() {
        let scene = Scene.announcing()
        scene.begin()
        scene.receive("ha/device/jacquard_tag_003R/config", Self.ours, isRetained: true)
        scene.receive("ha/sensor/jacquard_tag_003R/battery/config", Self.ours, isRetained: true)
        let lines = scene.wait(.seconds(1))
        #expect(
            lines.prefix(2) == [
                "ha/device/jacquard_tag_003R/config ", "ha/sensor/jacquard_tag_003R/battery/config ",
            ])
        #expect(lines.discoveryTopics.last == Self.device)
    }

    @Test(
        "ignores topics that it did not publish",
        arguments: [
            (battery, "", true), (battery, "{", true), (battery, "[]", true), (battery, ours, false),
            (battery, #"{"origin":{"name":"somebody"}}"#, true), (battery, #"{"name":"Battery"}"#, true),
            ("homeassistant/sensor/other/battery/config", ours, true), (device, ours, true),
            ("config", ours, true), ("/config", ours, true), ("device/jacquard_tag_003R/config", ours, true),
            (
                battery, #"{"origin":{"name":"jacquard2mqtt"},"x":""# + String(repeating: "x", count: 65_536) + #""}"#,
                true
            ),
        ])
    func strangers(topic: String, payload: String, isRetained: Bool) {
        let scene = Scene.announced()
        #expect(scene.receive(topic, payload, isRetained: isRetained) == [])
        #expect(scene.wait(.seconds(5)) == [])
    }

    @Test("stops with the bridge")
    func stop() {
        let scene = Scene.announcing()
        scene.begin()
        scene.handle(.stopping)
        #expect(scene.state.deadline == nil)
        #expect(scene.handle(.brokerConnected) == [])
        #expect(scene.receive("homeassistant/status", "online") == [])
    }

    @Test("has no deadline when the broker reconnects after a migration")
    func afterMigration() {
        let scene = Scene.announcing()
        scene.begin()
        scene.receive(Self.battery, Self.ours, isRetained: true)
        scene.wait(.seconds(5))
        scene.handle(.brokerConnected)
        #expect(scene.wait(.seconds(1)) == [])
        #expect(scene.state.deadline == nil)
        #expect(scene.wait(.seconds(5)) == [])
    }
}
