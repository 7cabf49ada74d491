import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Outbox")
struct OutboxTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func time(_ seconds: Double) -> Instant {
        start + .seconds(seconds)
    }

    private func fact(_ topic: String, _ text: String, qos: MQTTQoS = .atLeastOnce) -> Publication {
        .fact(topic, word: text, qos: qos)
    }

    /// An event that lives five seconds.
    private func event(_ text: String) -> Publication {
        Publication(
            topic: "gesture", payload: Array(text.utf8), kind: .event(lifetime: .seconds(5)), messageExpirySeconds: 5)
    }

    private func result(_ text: String) -> Publication {
        Publication(topic: "result", payload: Array(text.utf8), kind: .result(lifetime: .seconds(60)))
    }

    private func lines(_ deliveries: [Outbox.Delivery]) -> [String] {
        deliveries.map(\.publication.line)
    }

    private func connected(window: Int = 100) -> Outbox {
        var outbox = Outbox(window: window)
        _ = outbox.connected(at: start)
        return outbox
    }

    @Test("delivers at once while there is a connection")
    func straightOn() {
        var outbox = connected()
        #expect(lines(outbox.submit(event("1"), at: start)) == ["gesture 1"])
        #expect(lines(outbox.submit(fact("state", "online"), at: start)) == ["state online"])
        #expect(lines(outbox.submit(result("ok"), at: start)) == ["result ok"])
        let stream = Publication(topic: "touch", payload: [], qos: .atMostOnce, kind: .stream)
        #expect(outbox.submit(stream, at: start) == [Outbox.Delivery(ticket: nil, publication: stream)])
    }

    @Test("says once that a long queue has emptied", arguments: [(1_000, [false, false]), (1_001, [true, false])])
    func emptied(count: Int, expected: [Bool]) {
        var outbox = Outbox(window: 2_000)
        for number in 1...count { _ = outbox.submit(event("\(number)"), at: start) }
        let early = outbox.takeEmptied()
        #expect(!early)
        _ = outbox.connected(at: start)
        let answers = [outbox.takeEmptied(), outbox.takeEmptied()]
        #expect(answers == expected)
    }

    @Test("sends what is queued to a broker that the bridge leaves, and nothing of it to the next one")
    func left() {
        var outbox = connected(window: 2)
        for publication in [result("1"), event("2"), result("3"), event("4")] {
            _ = outbox.submit(publication, at: start)
        }
        #expect(outbox.left(at: start).map(\.line) == ["gesture 4", "result 3"])
        #expect(outbox.connected(at: start).isEmpty)
    }

    @Test("clears what is queued to be cleared at a broker that the bridge leaves")
    func leftClearings() {
        var outbox = connected(window: 2)
        for topic in ["a", "b", "c"] { _ = outbox.submit(fact(topic, "x"), at: start) }
        for topic in ["b", "c"] { _ = outbox.submit(.noFact(topic), at: start) }
        outbox.withhold(["b"])
        #expect(outbox.left(at: start).map(\.line) == ["c "])
        let unconnected = Outbox()
        var other = unconnected
        _ = other.submit(.noFact("a"), at: start)
        #expect(other.left(at: start).isEmpty)
    }

    @Test("without a connection, loses the results for a broker that the bridge leaves, and keeps the events")
    func leftWithoutConnection() {
        var outbox = Outbox()
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(result("2"), at: start)
        #expect(outbox.left(at: start).isEmpty)
        #expect(outbox.takeLosses().results == 1)
        #expect(lines(outbox.connected(at: start)) == ["gesture 1"])
    }

    private func step(_ payload: String) -> Publication {
        Publication(topic: "config", payload: Array(payload.utf8), kind: .step)
    }

    @Test("delivers a step before the fact that follows it, also after an outage and through a full window")
    func steps() {
        var outbox = connected(window: 2)
        _ = outbox.submit(fact("config", "both"), at: start)
        #expect(lines(outbox.submit(step("removes 2"), at: start)) == ["config removes 2"])
        #expect(outbox.submit(fact("config", "first"), at: start).isEmpty)
        // Its acknowledgement has not come: it is sent again, before what follows.
        outbox.disconnected(at: start)
        _ = outbox.submit(step("removes 1"), at: start)
        _ = outbox.submit(fact("config", "none"), at: start)
        let first = outbox.connected(at: start)
        #expect(lines(first) == ["config removes 2", "config removes 1"])
        #expect(lines(outbox.acknowledged(first[0].ticket ?? 0, at: start)) == ["config none"])
        #expect(outbox.acknowledged(first[1].ticket ?? 0, at: start).isEmpty && outbox.queued == 1)
        outbox.disconnected(at: start)
        #expect(lines(outbox.connected(at: start)) == ["config none"])
        // Nothing waits for a place: both are delivered at once.
        var free = connected()
        _ = free.submit(fact("config", "both"), at: start)
        let both = free.submit(step("removes 2"), at: start) + free.submit(fact("config", "first"), at: start)
        #expect(lines(both) == ["config removes 2", "config first"])
        #expect(both.allSatisfy { $0.publication.message.isRetained && $0.ticket != nil })
    }

    @Test("a step ends with its topic: it is withheld, cleared, or closes the connection twice; and is bounded")
    func stepEnds() {
        var outbox = Outbox()
        _ = outbox.submit(fact("config", "both"), at: start)
        outbox.withhold(["config"])
        _ = outbox.submit(step("removes"), at: start)
        #expect(outbox.connected(at: start).isEmpty && outbox.submit(step("removes"), at: start).isEmpty)
        #expect(lines(outbox.republish(["config"], at: start)) == ["config both"])
        var cleared = Outbox()
        for publication in [fact("config", "a"), step("b"), .noFact("config")] {
            _ = cleared.submit(publication, at: start)
        }
        let clearing = cleared.connected(at: start)
        #expect(lines(clearing) == ["config b", "config "])
        var many = Outbox()
        _ = many.submit(fact("config", "a"), at: start)
        for number in 1...9 { _ = many.submit(step("\(number)"), at: start) }
        #expect(lines(many.connected(at: start)) == (2...9).map { "config \($0)" } + ["config a"])
        var closing = Outbox()
        for publication in [fact("state", "x"), fact("config", "a"), step("bad"), fact("config", "b")] {
            _ = closing.submit(publication, at: start)
        }
        var sent: [String] = []
        for _ in 0..<4 {
            let deliveries = closing.connected(at: start)
            sent += lines(deliveries)
            if let state = deliveries.first(where: { $0.publication.topic == "state" }) {
                sent += lines(closing.acknowledged(state.ticket ?? 0, at: start))
            }
            closing.disconnected(isClosedByBroker: true, at: start)
        }
        #expect(sent.count { $0 == "config bad" } <= 3 && sent.last == "state x", "\(sent)")
    }

    @Test("a fact of another bridge is delivered once, and is not kept for later connections")
    func correction() {
        let correction = Publication(
            topic: "other/state", payload: Array("offline".utf8), kind: .correction(lifetime: .seconds(5)))
        var outbox = connected(window: 1)
        #expect(lines(outbox.submit(correction, at: start)) == ["other/state offline"])
        // The first one is unacknowledged, the second one is queued.
        #expect(outbox.submit(correction, at: start) == [])
        outbox.disconnected(at: start)
        #expect(outbox.connected(at: start) == [])
        // A queued one expires, which is no loss.
        #expect(lines(outbox.submit(event("1"), at: start)) == ["gesture 1"])
        #expect(outbox.submit(correction, at: start) == [])
        #expect(outbox.acknowledged(1, at: time(6)) == [])
        #expect(outbox.acknowledged(2, at: time(6)) == [])
        #expect(outbox.queued == 0)
        #expect(outbox.dropped.total == 0)
    }

    @Test("returns the destination of an unacknowledged delivery, and whether the sender of a command has chosen it")
    func destination() throws {
        var outbox = connected()
        var answer = result("ok")
        answer.isForRequester = true
        for (publication, isForRequester) in [(fact("state", "online"), false), (event("1"), false), (answer, true)] {
            let ticket = try #require(outbox.submit(publication, at: start).first?.ticket)
            #expect(outbox.destination(of: ticket)?.topic == publication.topic)
            #expect(outbox.destination(of: ticket)?.isChosenByRequester == isForRequester)
            _ = outbox.acknowledged(ticket, at: start)
            #expect(outbox.destination(of: ticket) == nil)
        }
    }

    @Test("publishes an equal fact once on each connection")
    func equalFacts() {
        var outbox = connected()
        #expect(outbox.submit(fact("level", "87"), at: start).count == 1)
        #expect(outbox.submit(fact("level", "87"), at: start).isEmpty)
        #expect(outbox.submit(fact("level", "86"), at: start).count == 1)
        #expect(outbox.submit(fact("level", "87"), at: start).count == 1)
        outbox.disconnected(at: start)
        #expect(lines(outbox.connected(at: start)) == ["level 87"])
        #expect(outbox.submit(fact("level", "87"), at: start).isEmpty)
    }

    @Test(
        "stores the latest of each fact without a connection, and delivers all in the order of their first submission")
    func offlineFacts() {
        var outbox = Outbox()
        for (topic, text) in [("state", "online"), ("level", "1"), ("gear", "a"), ("level", "2"), ("level", "3")] {
            #expect(outbox.submit(fact(topic, text), at: start).isEmpty)
        }
        #expect(lines(outbox.connected(at: start)) == ["state online", "level 3", "gear a"])
    }

    @Test("delivers facts first on a connection, then events, then results, each in order")
    func connection() {
        var outbox = Outbox()
        for publication in [
            event("1"), fact("state", "online"), result("ok"), event("2"), fact("rssi", "-1", qos: .atMostOnce),
        ] {
            _ = outbox.submit(publication, at: start)
        }
        let deliveries = outbox.connected(at: time(1))
        #expect(lines(deliveries) == ["state online", "rssi -1", "gesture 1", "gesture 2", "result ok"])
        #expect(deliveries.map { $0.ticket == nil } == [false, true, false, false, false])
    }

    @Test("queues events until they expire, and results for a minute")
    func expiry() {
        var outbox = Outbox()
        _ = outbox.submit(result("old"), at: start)
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(event("2"), at: time(3))
        #expect(lines(outbox.connected(at: time(5))) == ["gesture 2", "result old"])
        outbox.disconnected(at: time(60))
        #expect(outbox.connected(at: time(60)).isEmpty)
        #expect(outbox.dropped == Outbox.Dropped(events: 2, results: 1))
        #expect(outbox.dropped.total == 3)
        #expect(outbox.takeLosses() == Outbox.Losses(events: ["gesture": 2], results: 1, totalDropped: 3))
        #expect(outbox.takeLosses().isEmpty)
        #expect(outbox.dropped.total == 3)
    }

    @Test(
        "shortens the message expiry by the time in the queue",
        arguments: [(0, 5), (0.1, 5), (1, 4), (3.5, 2), (4.999, 1)] as [(Double, UInt32)])
    func remainingExpiry(waited: Double, seconds: UInt32) {
        var outbox = Outbox()
        _ = outbox.submit(event("1"), at: start)
        #expect(outbox.connected(at: time(waited)).map(\.publication.message.messageExpirySeconds) == [seconds])
    }

    @Test("drops streams without a connection, and when the broker is too slow")
    func streams() {
        var outbox = Outbox(window: 1)
        let stream = Publication(topic: "touch", payload: [], qos: .atMostOnce, kind: .stream)
        #expect(outbox.submit(stream, at: start).isEmpty)
        _ = outbox.connected(at: start)
        #expect(outbox.submit(stream, at: start).count == 1)
        _ = outbox.submit(event("1"), at: start)
        #expect(outbox.submit(stream, at: start).isEmpty)
        #expect(outbox.dropped.streams == 2)
    }

    @Test("has at most its window in flight, and continues in order after acknowledgements")
    func window() {
        var outbox = connected(window: 2)
        let first = outbox.submit(event("1"), at: start) + outbox.submit(event("2"), at: start)
        #expect(lines(first) == ["gesture 1", "gesture 2"])
        for publication in [event("3"), fact("level", "1"), event("4"), fact("level", "2")] {
            #expect(outbox.submit(publication, at: start).isEmpty)
        }
        #expect(outbox.queued == 5)
        let tickets = first.compactMap(\.ticket)
        let second = outbox.acknowledged(tickets[1], at: start)
        #expect(lines(second) == ["gesture 3"])
        #expect(lines(outbox.acknowledged(tickets[0], at: start)) == ["level 2"])
        #expect(lines(outbox.acknowledged(second[0].ticket ?? 0, at: start)) == ["gesture 4"])
        #expect(outbox.acknowledged(tickets[0], at: start).isEmpty)
        #expect(outbox.acknowledged(99, at: start).isEmpty)
        #expect(outbox.queued == 2 && outbox.acknowledgements == 3)
    }

    @Test("delivers a fact of QoS 0 although the window is full")
    func unacknowledgedFact() {
        var outbox = connected(window: 1)
        _ = outbox.submit(event("1"), at: start)
        #expect(lines(outbox.submit(fact("rssi", "-1", qos: .atMostOnce), at: start)) == ["rssi -1"])
    }

    @Test("drops messages that expire while the window is full")
    func expiryInLine() throws {
        var outbox = connected(window: 1)
        let ticket = try #require(outbox.submit(event("1"), at: start).first?.ticket)
        _ = outbox.submit(event("2"), at: start)
        _ = outbox.submit(event("3"), at: time(4))
        #expect(lines(outbox.acknowledged(ticket, at: time(6))) == ["gesture 3"])
        #expect(outbox.takeLosses().events == ["gesture": 1])
    }

    @Test("drops results that expire while the window is full")
    func expiredResults() throws {
        var outbox = connected(window: 1)
        let ticket = try #require(outbox.submit(event("1"), at: start).first?.ticket)
        _ = outbox.submit(result("a"), at: start)
        _ = outbox.submit(result("b"), at: time(30))
        #expect(lines(outbox.acknowledged(ticket, at: time(61))) == ["result b"])
        #expect(outbox.takeLosses().results == 1)
        #expect(outbox.queued == 1)
    }

    @Test("counts expired messages at the connection, before the facts are delivered")
    func expiredBehindFacts() {
        var outbox = Outbox(window: 1)
        _ = outbox.submit(fact("state", "online"), at: start)
        _ = outbox.submit(fact("level", "87"), at: start)
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(event("2"), at: time(4))
        #expect(lines(outbox.connected(at: time(6))) == ["state online"])
        #expect(outbox.takeLosses().events == ["gesture": 1])
    }

    @Test("sends unacknowledged messages again on the next connection, before later ones")
    func resending() throws {
        var outbox = connected(window: 3)
        _ = outbox.submit(fact("state", "online"), at: start)
        let acknowledged = try #require(outbox.submit(event("1"), at: start).first?.ticket)
        _ = outbox.submit(event("2"), at: start)
        _ = outbox.submit(event("3"), at: start)
        _ = outbox.acknowledged(acknowledged, at: start)
        outbox.disconnected(at: time(1))
        _ = outbox.submit(event("4"), at: time(1))
        let deliveries = outbox.connected(at: time(2))
        #expect(lines(deliveries) == ["state online", "gesture 2", "gesture 3"])
        #expect(deliveries.map(\.publication.message.messageExpirySeconds) == [nil, 3, 3])
        let ticket = try #require(deliveries.first?.ticket)
        #expect(lines(outbox.acknowledged(ticket, at: time(2))) == ["gesture 4"])
    }

    @Test("does not send expired messages again, and ignores tickets of an earlier connection")
    func earlierConnection() throws {
        var outbox = connected()
        let ticket = try #require(outbox.submit(event("1"), at: start).first?.ticket)
        outbox.disconnected(at: start)
        #expect(outbox.connected(at: time(5)).isEmpty)
        _ = outbox.submit(event("2"), at: time(5))
        #expect(outbox.acknowledged(ticket, at: time(5)).isEmpty)
        #expect(outbox.queued == 1)
    }

    @Test("treats a connection without a disconnection as a new one")
    func twice() {
        var outbox = connected()
        _ = outbox.submit(fact("state", "online"), at: start)
        _ = outbox.submit(event("1"), at: start)
        #expect(lines(outbox.connected(at: time(1))) == ["state online", "gesture 1"])
    }

    @Test("bounds the bytes of events and, without a connection, of results separately")
    func bounds() {
        var outbox = Outbox(maxEventBytes: 2 * eventBytes, maxResultBytes: resultBytes)
        for number in 1...3 { _ = outbox.submit(event("\(number)"), at: start) }
        for number in 1...2 { _ = outbox.submit(result("\(number)"), at: start) }
        #expect(outbox.dropped == Outbox.Dropped(events: 1, results: 1))
        #expect(lines(outbox.connected(at: start)) == ["gesture 1", "gesture 2", "result 1"])
    }

    @Test("counts the bytes of topic, payload and correlation data, and an overhead")
    func bytes() {
        var publication = Publication(topic: "1234", payload: [1, 2, 3], kind: .result(lifetime: .seconds(60)))
        publication.message.correlationData = [1, 2]
        #expect(Waiting(publication, at: start).bytes == 4 + 3 + 2 + Waiting.overhead)
    }

    /// The memory of an event and of a result with a payload of one byte.
    private var eventBytes: Int { Waiting(event("1"), at: start).bytes }
    private var resultBytes: Int { Waiting(result("1"), at: start).bytes }

    @Test("makes room by dropping expired messages at any place")
    func room() {
        var outbox = Outbox(maxEventBytes: 2 * eventBytes)
        _ = outbox.submit(result("ok"), at: start)
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(event("2"), at: time(1))
        _ = outbox.submit(event("3"), at: time(5))
        #expect(outbox.queued == 3)
        #expect(lines(outbox.connected(at: time(5))) == ["gesture 2", "gesture 3", "result ok"])
    }

    @Test("makes room behind a message that lasts longer")
    func roomBehind() {
        var outbox = Outbox(maxEventBytes: 2 * eventBytes)
        let lasting = Publication(topic: "gesture", payload: Array("1".utf8), kind: .event(lifetime: .seconds(60)))
        _ = outbox.submit(lasting, at: start)
        for (number, seconds) in [(2, 1.0), (3, 7), (4, 13)] {
            _ = outbox.submit(event("\(number)"), at: time(seconds))
        }
        #expect(outbox.dropped == Outbox.Dropped(events: 2))
        #expect(lines(outbox.connected(at: time(13))) == ["gesture 1", "gesture 4"])
    }

    @Test("counts the bytes of a waiting message once, however often the connection ends")
    func bytesOfReconnects() {
        var outbox = Outbox(maxEventBytes: 2 * eventBytes, maxResultBytes: 2 * resultBytes)
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(result("1"), at: start)
        for _ in 1...3 {
            _ = outbox.connected(at: start)
            outbox.disconnected(at: start)
        }
        _ = outbox.submit(event("2"), at: start)
        _ = outbox.submit(result("2"), at: start)
        #expect(outbox.dropped == Outbox.Dropped())
        #expect(outbox.queued == 4)
    }

    @Test("keeps only the events of the last seconds out of a hundred thousand without a broker")
    func longAbsence() {
        var outbox = Outbox()
        for number in 0..<100_000 {
            let seconds = Double(number) / 100
            _ = outbox.submit(event("\(number)"), at: time(seconds))
        }
        #expect(outbox.queued <= 501)
    }

    @Test("queues without a connection until the bytes reach the limit, then drops")
    func exactBytes() {
        // Each message takes 258 bytes: topic, payload and 256 for the rest.
        for kind in [Publication.Kind.event(lifetime: .seconds(5)), .result(lifetime: .seconds(5))] {
            for (limit, queued) in [(258, 1), (259, 2), (516, 2), (517, 3)] {
                var outbox = Outbox(maxEventBytes: limit, maxResultBytes: limit)
                for _ in 0..<4 { _ = outbox.submit(Publication(topic: "t", payload: [1], kind: kind), at: start) }
                #expect(outbox.queued == queued, "\(limit)")
            }
        }
    }
}

@Suite("Queue")
struct QueueTests {
    @Test("returns elements in order, also after it was empty")
    func order() {
        var queue = Queue<Int>()
        var expected = 0
        for number in 0..<1_000 {
            queue.append(number)
            guard number % 3 != 0 else { continue }
            #expect(queue.first == expected)
            #expect(queue.removeFirst() == expected)
            expected += 1
        }
        #expect(queue.all == Array(expected..<1_000))
        #expect(queue.count == 1_000 - expected)
        while queue.removeFirst() != nil {}
        #expect(queue.isEmpty)
        #expect(queue.first == nil)
    }
}
