import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("Work for many tags at once")
struct TagBatchesTests {
    private static let count = 2 * TagBatches.tagsPerTurn + 1
    private static let tags = (0..<count).map { TagEntry(id: .known("t\($0)"), serial: "\(1000 + $0)") }

    private func availabilities(_ lines: [String]) -> Int {
        lines.count { $0.contains("/availability offline") }
    }

    @Test("after the start is spread over turns of the loop: each tag's facts are published once")
    func facts() {
        let scene = Scene(tags: Self.tags)
        #expect(availabilities(scene.handle(.started)) == TagBatches.tagsPerTurn)
        #expect(availabilities(scene.wait(TagBatches.distance)) == TagBatches.tagsPerTurn)
        #expect(availabilities(scene.wait(TagBatches.distance)) == 1)
        #expect(availabilities(scene.wait(.seconds(1))) == 0)
    }

    @Test("after a change of Bluetooth is spread over turns, and a tag removed meanwhile is left out")
    func connections() {
        let scene = Scene(tags: Self.tags)
        scene.handle(.started)
        scene.wait(.seconds(1))
        func connects() -> Int {
            scene.takeActions().count { if case .connect = $0 { true } else { false } }
        }
        _ = scene.takeActions()
        scene.powerOn()
        #expect(connects() == TagBatches.tagsPerTurn)
        scene.handle(.tagRemoved(Self.tags[Self.count - 1].id))
        _ = scene.takeActions()
        scene.wait(TagBatches.distance)
        #expect(connects() == TagBatches.tagsPerTurn)
        scene.wait(TagBatches.distance)
        #expect(connects() == 0)
    }

    @Test("the lists of tags are published at once for the first connection, and then once for many")
    func lists() {
        let scene = Scene(tags: Self.tags)
        scene.handle(.started)
        scene.wait(.seconds(1))
        func lists(_ lines: [String]) -> [String] { lines.filter { $0.contains("/tags {\"connected\":") } }
        var published = Self.tags.dropLast().map { tag in
            lists(scene.report(.connection(TagConnection(state: .connected, attempt: 1)), of: tag.id))
        }
        #expect(published.removeFirst() == ["jacquard/bridge/attic/tags {\"connected\":1,\"known\":\(Self.count)}"])
        #expect(published.filter { !$0.isEmpty } == [])
        let later = lists(scene.wait(.milliseconds(Self.count)))
        #expect(later == ["jacquard/bridge/attic/tags {\"connected\":\(Self.count - 1),\"known\":\(Self.count)}"])
        #expect(lists(scene.wait(.seconds(1))).isEmpty)
    }

    @Test("takes 30 turns and 29 ms for 3,000 tags")
    func duration() {
        var batches = TagBatches()
        let start = Instant(sinceBoot: .seconds(1))
        var (turns, end) = (1, start)
        _ = batches.begin((0..<3_000).map { .known("t\($0)") }, at: start)
        while let due = batches.deadline {
            _ = batches.takeDue(at: due)
            (turns, end) = (turns + 1, due)
        }
        #expect(turns == 30)
        #expect(end - start == .milliseconds(29))
    }

    @Test("begins again with all tags when its cause repeats, and is due at no time when it has ended")
    func again() {
        var batches = TagBatches()
        let ids = Self.tags.map(\.id)
        let start = Instant(sinceBoot: .seconds(1))
        #expect(batches.takeDue(at: start).isEmpty)
        let first = batches.begin(ids, at: start)
        let repeated = batches.begin(ids, at: start)
        #expect(first == repeated && Array(first) == Array(ids.prefix(TagBatches.tagsPerTurn)))
        let early = batches.takeDue(at: start)
        #expect(early.isEmpty)
        var taken = Array(first)
        while let due = batches.deadline { taken += batches.takeDue(at: due) }
        #expect(taken == ids)
        let none = batches.begin([], at: start)
        #expect(none.isEmpty && batches.deadline == nil)
    }
}
