import HomeAssistant
import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Announcements of many tags")
struct AnnouncementQueueTests {
    private static let tags = (0..<20).map { TagEntry(id: .known("t\($0)"), serial: "000\($0)") }

    private func scene() -> Scene {
        let scene = Scene(tags: Self.tags)
        var configuration = Scene.configuration(tags: Self.tags)
        configuration.homeAssistant = HomeAssistantConfiguration(
            prefix: "homeassistant", statusTopic: "homeassistant/status")
        scene.state = BridgeState(configuration: configuration, boot: "9f3c", startedAt: Scene.beginning)
        return scene
    }

    private func announced(_ lines: [String]) -> Int {
        lines.count { $0.hasPrefix("homeassistant/device/jacquard_tag_") }
    }

    @Test("are spread over turns of the loop, and none is left out when a tag is removed meanwhile")
    func spread() {
        let scene = scene()
        scene.handle(.started)
        scene.handle(.brokerConnected)
        let first = scene.wait(.seconds(1))
        #expect(announced(first) == AnnouncementQueue.tagsPerTurn)
        scene.handle(.tagRemoved(.known("t0")))
        let next = scene.wait(AnnouncementQueue.distance)
        #expect(announced(next) == AnnouncementQueue.tagsPerTurn)
        #expect(
            announced(scene.wait(AnnouncementQueue.distance)) == Self.tags.count - 2 * AnnouncementQueue.tagsPerTurn)
    }

    @Test("are followed by the touch modes a second after the last one")
    func touchModes() {
        var queue = AnnouncementQueue()
        let start = Instant(sinceBoot: .seconds(1))
        let isPostponedBefore = queue.postponesTouchModes()
        queue.begin(Self.tags.map(\.id), again: false, at: start)
        let isPostponed = queue.postponesTouchModes()
        #expect(!isPostponedBefore && isPostponed)
        var (now, count) = (start, 0)
        while let due = queue.deadline, count < Self.tags.count {
            now = due
            let (tags, _, isEnd) = queue.takeDue(at: now)
            count += tags.count
            #expect(!isEnd)
        }
        #expect(queue.deadline == now + .seconds(1))
        let (tags, _, isEnd) = queue.takeDue(at: now + .seconds(1))
        #expect(tags.isEmpty && isEnd && queue.deadline == nil)
    }
}
