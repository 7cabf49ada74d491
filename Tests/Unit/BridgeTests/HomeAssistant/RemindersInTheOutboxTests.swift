import Testing
import Time

@testable import Bridge

@Suite("Reminders and cleared topics in the outbox")
struct RemindersInTheOutboxTests {
    private static let now = Instant(sinceBoot: .seconds(3_600))
    private static let fact = Publication.fact("a", word: "1")

    private func connected() -> Outbox {
        var outbox = Outbox()
        _ = outbox.connected(at: Self.now)
        return outbox
    }

    @Test("sends a reminder of a published fact, and not the fact again")
    func reminder() {
        var outbox = connected()
        #expect(outbox.submit(Self.fact, at: Self.now).count == 1)
        #expect(outbox.submit(Self.fact, at: Self.now) == [])
        #expect(outbox.submit(Self.fact.reminder, at: Self.now).map(\.publication) == [Self.fact])
        #expect(outbox.submit(Self.fact, at: Self.now) == [])
    }

    @Test("queues a reminder without a connection, once")
    func away() {
        var outbox = Outbox()
        #expect(outbox.submit(Self.fact.reminder, at: Self.now) == [])
        #expect(outbox.submit(Self.fact.reminder, at: Self.now) == [])
        #expect(outbox.connected(at: Self.now).map(\.publication) == [Self.fact])
    }

    @Test("sends one message for a fact that is queued and reminded of")
    func line() {
        var outbox = Outbox(window: 1)
        _ = outbox.connected(at: Self.now)
        let first = outbox.submit(.fact("b", word: "1"), at: Self.now)
        #expect(outbox.submit(Self.fact, at: Self.now) == [])
        #expect(outbox.submit(Self.fact.reminder, at: Self.now) == [])
        let ticket = first.first?.ticket ?? 0
        let second = outbox.acknowledged(ticket, at: Self.now)
        #expect(second.map(\.publication) == [Self.fact])
        #expect(outbox.acknowledged(second.first?.ticket ?? 0, at: Self.now) == [])
    }

    @Test("clears a topic on each connection until the broker has acknowledged it")
    func emptied() {
        var outbox = connected()
        _ = outbox.submit(Self.fact, at: Self.now)
        _ = outbox.submit(.noFact("a"), at: Self.now)
        outbox.disconnected(at: Self.now)
        let again = outbox.connected(at: Self.now)
        #expect(again.map(\.publication) == [.noFact("a")])
        _ = outbox.acknowledged(again.first?.ticket ?? 0, at: Self.now)
        #expect(outbox.connected(at: Self.now) == [])
    }

    @Test("keeps a fact that was submitted after the clearing")
    func refilled() {
        var outbox = connected()
        let emptying = outbox.submit(.noFact("a"), at: Self.now)
        _ = outbox.submit(Self.fact, at: Self.now)
        _ = outbox.acknowledged(emptying.first?.ticket ?? 0, at: Self.now)
        #expect(outbox.connected(at: Self.now).map(\.publication) == [Self.fact])
    }
}
