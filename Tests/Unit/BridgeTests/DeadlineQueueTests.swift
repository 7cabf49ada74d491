import Testing
import Time

@testable import Bridge

@Suite("DeadlineQueue")
struct DeadlineQueueTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private func after(_ seconds: Int) -> Instant { start + .seconds(seconds) }

    @Test("returns the earliest deadline")
    func next() {
        var deadlines = DeadlineQueue(tags: 3)
        #expect(deadlines.next == nil)
        deadlines.set(after(5), of: 0)
        deadlines.set(after(2), of: 2)
        #expect(deadlines.next == after(2))
    }

    @Test("returns the tags that are due in the order of their indices")
    func due() {
        var deadlines = DeadlineQueue(tags: 4)
        for (tag, seconds) in [(3, 1), (0, 2), (1, 2), (2, 3)] { deadlines.set(after(seconds), of: tag) }
        #expect(deadlines.tags(dueAt: after(0)).isEmpty)
        #expect(deadlines.tags(dueAt: after(2)) == [0, 1, 3])
    }

    @Test("moves a tag whose deadline changes")
    func change() {
        var deadlines = DeadlineQueue(tags: 2)
        deadlines.set(after(1), of: 0)
        deadlines.set(after(2), of: 1)
        deadlines.set(after(3), of: 0)
        #expect(deadlines.next == after(2))
        deadlines.set(nil, of: 1)
        #expect(deadlines.next == after(3))
        deadlines.set(nil, of: 0)
        #expect(deadlines.next == nil)
    }

    @Test("accepts deadlines in the past")
    func past() {
        var deadlines = DeadlineQueue(tags: 1)
        deadlines.set(after(-1), of: 0)
        #expect(deadlines.next == after(-1))
        #expect(deadlines.tags(dueAt: start) == [0])
    }

    @Test("equals a search through all tags after any change")
    func oracle() {
        var deadlines = DeadlineQueue(tags: 7)
        var dues = [Instant?](repeating: nil, count: 7)
        var random: UInt64 = 1
        for _ in 0..<2_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let (tag, seconds) = (Int(random >> 33 % 7), Int(random >> 40 % 12))
            dues[tag] = seconds < 2 ? nil : after(seconds)
            deadlines.set(dues[tag], of: tag)
            #expect(deadlines.next == dues.compactMap(\.self).min())
            #expect(deadlines.tags(dueAt: after(6)) == dues.indices.filter { dues[$0].map { $0 <= after(6) } ?? false })
        }
    }
}
