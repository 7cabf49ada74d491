import Testing

@testable import HomeAssistant

@Suite("The discovery life cycle")
struct DiscoveryLifeTests {
    private static let battery = "homeassistant/sensor/jacquard_tag_003R/battery/config"
    private static let own = Array(#"{"origin":{"name":"jacquard2mqtt"}}"#.utf8)
    private let life = LifeUnderTest()

    @Test("announces everything a second after the first connection, and the touch modes a second later")
    func beginning() {
        #expect(life.deadline == nil)
        life.brokerConnected(at: .seconds(10))
        #expect(life.deadline == .seconds(11))
        #expect(life.takeDue(at: .milliseconds(10_999)) == [])
        #expect(life.takeDue(at: .seconds(11)) == [.announceAll(again: false)])
        #expect(life.hasAnnounced)
        #expect(life.deadline == .seconds(12))
        #expect(life.takeDue(at: .seconds(12)) == [.repeatTouchModes])
        life.brokerConnected(at: .seconds(13))
        #expect(life.deadline == nil)
    }

    @Test("migrates another form in three steps, a second apart")
    func migration() {
        life.brokerConnected(at: .zero)
        #expect(life.received(Self.battery, Self.own, isRetained: true, at: .zero))
        #expect(life.takeDue(at: .seconds(1)) == [.publish([.migrationRequest(Self.battery)])])
        #expect(
            life.received(
                Self.battery, DiscoveryMessage.migrationRequest("").payload, isRetained: true, at: .seconds(1)))
        #expect(life.takeDue(at: .seconds(2)) == [.announceAll(again: false)])
        #expect(life.takeDue(at: .seconds(3)) == [.publish([.empty(Self.battery)]), .repeatTouchModes])
        #expect(life.deadline == nil)
        #expect(life.filters.first == "homeassistant/status")
    }

    private static let device = "homeassistant/device/jacquard_tag_003R/config"

    private func document(_ components: String) -> [UInt8] {
        Array(#"{"components":{\#(components)},"origin":{"name":"jacquard2mqtt"}}"#.utf8)
    }

    @Test("removes components that the single form does not have, a second before it migrates the others")
    func removal() {
        let life = LifeUnderTest(.single)
        life.brokerConnected(at: .zero)
        let battery = #""battery":{"platform":"sensor","qos":1}"#
        let document = document(battery + #","notify":{"platform":"notify","qos":1},"rssi":{"platform":"number"}"#)
        #expect(life.received(Self.device, document, isRetained: true, at: .zero))
        let reduced = self.document(battery + #","notify":{"platform":"notify"},"rssi":{"platform":"number"}"#)
        let removal = DiscoveryMessage(topic: Self.device, payload: reduced, removesComponents: true)
        #expect(life.takeDue(at: .seconds(1)) == [.publish([removal])])
        // The machine receives its own messages.
        #expect(life.received(Self.device, reduced, isRetained: true, at: .seconds(1)))
        #expect(life.takeDue(at: .seconds(2)) == [.publish([.migrationRequest(Self.device)])])
        #expect(life.takeDue(at: .seconds(3)) == [.announceAll(again: false)])
        #expect(life.takeDue(at: .seconds(4)) == [.publish([.empty(Self.device)]), .repeatTouchModes])
    }

    @Test("empties topics of the single form that nothing takes the place of, and migrates the others")
    func orphans() {
        let orphan = "homeassistant/sensor/jacquard_tag_003R/presence/config"
        life.brokerConnected(at: .zero)
        for topic in [orphan, Self.battery] {
            #expect(life.received(topic, Self.own, isRetained: true, at: .zero))
        }
        #expect(
            life.takeDue(at: .seconds(1)) == [.publish([.empty(orphan)]), .publish([.migrationRequest(Self.battery)])])
    }

    @Test(
        "a device that is deleted in Home Assistant is reported until it is announced again, or gone", arguments: 0..<2)
    func deletion(end: Int) {
        life.brokerConnected(at: .zero)
        _ = life.received(Self.device, [], isRetained: false, at: .zero)
        #expect(life.deletions == .init(), "not announced yet")
        _ = life.takeDue(at: .seconds(1))
        #expect(
            life.filters == ["homeassistant/status", "homeassistant/device/jacquard_bridge_attic/config", Self.device])
        for _ in 0..<29 { #expect(life.received(Self.device, [], isRetained: false, at: .seconds(2))) }
        #expect(life.deletions == .init(tags: ["003R"]))
        #expect(
            life.received("homeassistant/device/jacquard_bridge_attic/config", [], isRetained: false, at: .seconds(2)))
        #expect(life.deletions == .init(ofBridge: true, tags: ["003R"]))
        if end == 0 {
            life.setTags([])
        } else {
            _ = life.received(Self.device, Self.own, isRetained: true, at: .seconds(3))
        }
        #expect(life.deletions == .init(ofBridge: true))
    }

    @Test("an entity of the single form that is deleted is reported, and one that the bridge itself removes is not")
    func deletedEntity() {
        let life = LifeUnderTest(.single)
        life.brokerConnected(at: .zero)
        _ = life.takeDue(at: .seconds(1))
        #expect(life.filters.contains("homeassistant/+/jacquard_tag_003R/+/config"))
        let chord = "homeassistant/device_automation/jacquard_tag_003R/trigger_wave/config"
        #expect(life.received(chord, [], isRetained: false, at: .seconds(2)))
        #expect(life.deletions == .init())
        #expect(life.received(Self.battery, [], isRetained: false, at: .seconds(2)))
        #expect(life.deletions == .init(tags: ["003R"]))
        #expect(life.received(Self.battery, Self.own, isRetained: false, at: .seconds(2)))
        #expect(life.deletions == .init())
    }

    @Test("reads 8 MiB of retained messages and ignores what follows", arguments: [0, 1])
    func bytesRead(excess: Int) {
        life.brokerConnected(at: .zero)
        let other = [UInt8](repeating: UInt8(ascii: " "), count: 8 * 1_048_576 - Self.own.count + excess)
        #expect(life.received(Self.battery, other, isRetained: true, at: .zero))
        #expect(life.received(Self.battery, Self.own, isRetained: true, at: .zero))
        let isRead = life.takeDue(at: .seconds(1)) == [.publish([.migrationRequest(Self.battery)])]
        #expect(isRead == (excess == 0))
    }

    @Test("empties another prefix before it announces")
    func otherPrefix() {
        let topic = "ha/device/jacquard_tag_003R/config"
        life.brokerConnected(at: .zero)
        #expect(life.received(topic, Self.own, isRetained: true, at: .zero))
        #expect(life.takeDue(at: .seconds(1)) == [.publish([.empty(topic)]), .announceAll(again: false)])
    }

    @Test("repeats everything after a start of Home Assistant, and once more if it starts again meanwhile")
    func restarts() {
        life.brokerConnected(at: .zero)
        _ = life.takeDue(at: .seconds(1))
        _ = life.takeDue(at: .seconds(2))
        for _ in 0..<3 {
            #expect(life.received("homeassistant/status", Array("online".utf8), isRetained: false, at: .seconds(5)))
        }
        #expect(life.takeDue(at: .seconds(5)) == [.repeatBridge])
        #expect(life.takeDue(at: .seconds(6)) == [.repeatTag(0)])
        let deadline = Duration.seconds(6) + Duration.seconds(2) / 3
        #expect(life.deadline == deadline)
        #expect(life.takeDue(at: .seconds(7)) == [.repeatBridge])
        #expect(life.takeDue(at: .seconds(8)) == [.repeatTag(0)])
        #expect(life.deadline == nil)
    }

    @Test(
        "compares topics as bytes",
        arguments: [
            "homeassistant/sensor/jacquard_tag_003R/battery/\u{301}config", "homeassistant/\u{301}status",
            "homeassistant/sensor/jacquard_tag_003\u{52}\u{301}/battery/config",
        ])
    func bytes(topic: String) {
        #expect(!life.received(topic, Self.own, isRetained: true, at: .zero))
    }

    @Test(
        "identifies tags by the characters that Home Assistant accepts",
        arguments: [("003R", "jacquard_tag_003R"), ("a-b_c", "jacquard_tag_a-b_c"), ("ä b", "jacquard_tag__c3_a4_20b")])
    func objectIDs(id: String, objectID: String) {
        #expect(DiscoveryTopics.objectID(ofTag: id) == objectID)
    }

    @Test("finds its own messages of both forms under its prefix only")
    func footprint() {
        let footprint = DiscoveryFootprint(prefix: "homeassistant", instance: "attic", tags: ["003R"])
        #expect(footprint.contains(Self.battery, Self.own))
        #expect(footprint.contains("homeassistant/device/jacquard_bridge_attic/config", Self.own))
        #expect(!footprint.contains("ha/device/jacquard_bridge_attic/config", Self.own))
        #expect(!footprint.contains("homeassistant/device/jacquard_tag_0004/config", Self.own))
        #expect(!footprint.contains(Self.battery, Array("{}".utf8)))
    }
}
