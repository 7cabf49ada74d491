import Testing
import Time

@testable import Bridge

@Suite("Facts that the broker acknowledges late")
struct LateAcknowledgementTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let late = Duration.seconds(4)

    /// An outbox with a connection to a node of a cluster.
    private func outbox(isCluster: Bool = true) -> Outbox {
        var outbox = Outbox()
        _ = outbox.connected(isCluster: isCluster, at: start)
        return outbox
    }

    /// Acknowledges deliveries after a time, and returns those that follow.
    private func acknowledge(
        _ deliveries: [Outbox.Delivery], in outbox: inout Outbox, at now: Instant
    ) -> [Outbox.Delivery] {
        deliveries.flatMap { $0.ticket.map { outbox.acknowledged($0, at: now) } ?? [] }
    }

    @Test("are sent again by a node of a cluster until an acknowledgement is in time")
    func repeated() {
        var (outbox, now) = (outbox(), start)
        var deliveries = outbox.submit(.fact("level", word: "87"), at: now)
        for _ in 0..<2 {
            now = now + late
            deliveries = acknowledge(deliveries, in: &outbox, at: now)
            #expect(deliveries.map(\.publication.line) == ["level 87"])
        }
        now = now + .seconds(1)
        #expect(acknowledge(deliveries, in: &outbox, at: now).isEmpty)
        #expect(outbox.queued == 0)
        // The count begins again.
        deliveries = outbox.submit(.fact("level", word: "86"), at: now)
        for _ in 0..<3 {
            now = now + late
            deliveries = acknowledge(deliveries, in: &outbox, at: now)
            #expect(deliveries.map(\.publication.line) == ["level 86"])
        }
    }

    @Test("are sent again three times at once, and then after a minute, two minutes, and so on")
    func bounded() {
        var (outbox, now) = (outbox(), start)
        var deliveries = outbox.submit(.fact("level", word: "87"), at: now)
        var health = 0
        for pause in [1, 2, 4] {
            for count in 1...4 {
                now = now + late
                deliveries = acknowledge(deliveries, in: &outbox, at: now)
                #expect(deliveries.count == (count < 4 ? 1 : 0))
            }
            // Other facts are acknowledged in time, and start the retry.
            for (time, isDue) in [(now + .seconds(60 * pause - 1), false), (now + .seconds(60 * pause), true)] {
                health += 1
                let submitted = outbox.submit(.fact("health", word: "\(health)"), at: time)
                deliveries = submitted.filter { $0.publication.topic == "level" }
                #expect(deliveries.count == (isDue ? 1 : 0))
                let others = submitted.filter { $0.publication.topic == "health" }
                #expect(others.count == 1)
                #expect(acknowledge(others, in: &outbox, at: time).isEmpty)
                if isDue { now = time }
            }
        }
    }

    @Test("are not sent again by a broker with one address")
    func oneBroker() {
        var outbox = outbox(isCluster: false)
        let deliveries = outbox.submit(.fact("level", word: "87"), at: start)
        #expect(acknowledge(deliveries, in: &outbox, at: start + .seconds(60)).isEmpty)
        #expect(outbox.queued == 0)
    }

    @Test("are sent once if they have changed meanwhile, or are cleared, or the connection ends")
    func changed() {
        var outbox = outbox()
        let first = outbox.submit(.fact("level", word: "87"), at: start)
        let second = outbox.submit(.fact("level", word: "86"), at: start + .seconds(3))
        #expect(second.count == 1)
        let repeated = acknowledge(first, in: &outbox, at: start + late)
        #expect(repeated.map(\.publication.line) == ["level 86"])
        #expect(acknowledge(second + repeated, in: &outbox, at: start + late).isEmpty)
        let cleared = outbox.submit(.noFact("level"), at: start)
        #expect(acknowledge(cleared, in: &outbox, at: start + late).isEmpty)
        let third = outbox.submit(.fact("gear", word: "1"), at: start)
        outbox.disconnected(at: start)
        let again = outbox.connected(isCluster: true, at: start)
        #expect(again.map(\.publication.line) == ["gear 1"])
        #expect(acknowledge(third, in: &outbox, at: start + late).isEmpty)
        #expect(acknowledge(again, in: &outbox, at: start).isEmpty)
    }

    @Test("are no events or results: these are stored before their acknowledgement")
    func messages() {
        var outbox = outbox()
        let result = Publication(topic: "result", payload: [], kind: .result(lifetime: .seconds(60)))
        let deliveries = outbox.submit(result, at: start)
        #expect(acknowledge(deliveries, in: &outbox, at: start + late).isEmpty)
    }
}
