import Testing
import Time

@testable import Bridge

@Suite("Agenda")
struct AgendaTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private func after(_ seconds: Int) -> Instant { start + .seconds(seconds) }

    @Test("knows the earliest of all")
    func next() {
        var agenda = Agenda(tags: 3)
        #expect(agenda.next == nil)
        agenda.set(after(5), of: 0)
        agenda.set(after(2), of: 2)
        #expect(agenda.next == after(2))
    }

    @Test("tells the tags that are due in the order of their numbers")
    func due() {
        var agenda = Agenda(tags: 4)
        for (tag, seconds) in [(3, 1), (0, 2), (1, 2), (2, 3)] { agenda.set(after(seconds), of: tag) }
        #expect(agenda.tags(dueAt: after(0)).isEmpty)
        #expect(agenda.tags(dueAt: after(2)) == [0, 1, 3])
    }

    @Test("moves a tag whose time changes")
    func change() {
        var agenda = Agenda(tags: 2)
        agenda.set(after(1), of: 0)
        agenda.set(after(2), of: 1)
        agenda.set(after(3), of: 0)
        #expect(agenda.next == after(2))
        agenda.set(nil, of: 1)
        #expect(agenda.next == after(3))
        agenda.set(nil, of: 0)
        #expect(agenda.next == nil)
    }

    @Test("takes times that have passed")
    func past() {
        var agenda = Agenda(tags: 1)
        agenda.set(after(-1), of: 0)
        #expect(agenda.next == after(-1))
        #expect(agenda.tags(dueAt: start) == [0])
    }

    @Test("says the same as a look at all tags, whatever changes")
    func oracle() {
        var agenda = Agenda(tags: 7)
        var dues = [Instant?](repeating: nil, count: 7)
        var random: UInt64 = 1
        for _ in 0..<2_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let (tag, seconds) = (Int(random >> 33 % 7), Int(random >> 40 % 12))
            dues[tag] = seconds < 2 ? nil : after(seconds)
            agenda.set(dues[tag], of: tag)
            #expect(agenda.next == dues.compactMap(\.self).min())
            #expect(agenda.tags(dueAt: after(6)) == dues.indices.filter { dues[$0].map { $0 <= after(6) } ?? false })
        }
    }
}
