import MQTTTypes
import Testing
import Time

@testable import Bridge

@Suite("Publications that make the broker close the connection")
struct OutboxClosingTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func result(_ text: String) -> Publication {
        Publication(topic: "result", payload: Array(text.utf8), kind: .result(lifetime: .seconds(60)))
    }

    /// A broker that closes the connection when it receives one of some texts, and the outbox before it.
    private struct Connection {
        var outbox = Outbox()
        let bad: Set<String>
        let now: Instant
        /// Every text that the broker has acknowledged.
        var delivered: [String] = []
        /// How often the broker has closed the connection.
        var closings = 0

        init(bad: Set<String>, at now: Instant) {
            self.bad = bad
            self.now = now
        }

        /// Connects until a connection stays, at most 50 times.
        mutating func run() {
            for _ in 0..<50 {
                if serve(outbox.connected(at: now)) { return }
                closings += 1
                outbox.disconnected(isClosedByBroker: true, at: now)
            }
        }

        /// Acknowledges in order until the line is empty or a bad one comes.
        private mutating func serve(_ deliveries: [Outbox.Delivery]) -> Bool {
            var waiting = deliveries
            while !waiting.isEmpty {
                let delivery = waiting.removeFirst()
                guard !bad.contains(delivery.publication.line) else { return false }
                delivered.append(delivery.publication.line)
                if let ticket = delivery.ticket { waiting += outbox.acknowledged(ticket, at: now) }
            }
            return true
        }
    }

    @Test("are dropped when the broker has closed the second connection; all others are delivered, in their order")
    func dropped() {
        var connection = Connection(bad: ["result 3"], at: start)
        for number in 1...5 { _ = connection.outbox.submit(result("\(number)"), at: start) }
        connection.run()
        #expect(connection.closings == 2)
        #expect(connection.delivered == ["result 1", "result 2", "result 4", "result 5"])
        #expect(connection.outbox.dropped == Outbox.Dropped(refused: 1))
        #expect(connection.outbox.takeLosses() == Outbox.Losses(refused: 1, closing: ["result"], totalDropped: 1))
        #expect(connection.outbox.queued == 0)
    }

    @Test("can be several, including facts: each costs one more connection")
    func several() {
        var connection = Connection(bad: ["gear bad", "result 1", "result 2"], at: start)
        for (topic, word) in [("state", "online"), ("gear", "bad"), ("level", "87")] {
            _ = connection.outbox.submit(.fact(topic, word: word), at: start)
        }
        for number in 1...3 { _ = connection.outbox.submit(result("\(number)"), at: start) }
        connection.run()
        #expect(connection.closings == 4)
        #expect(connection.delivered.suffix(3) == ["state online", "level 87", "result 3"])
        #expect(connection.outbox.dropped.refused == 3)
        #expect(connection.outbox.takeLosses().closing == ["gear", "result", "result"])
    }

    @Test("a dropped fact is not published again until it changes, or until the retry")
    func fact() throws {
        var connection = Connection(bad: ["gear bad"], at: start)
        _ = connection.outbox.submit(.fact("gear", word: "bad"), at: start)
        connection.run()
        #expect(connection.outbox.submit(.fact("gear", word: "bad"), at: start).isEmpty)
        #expect(connection.outbox.connected(at: start).isEmpty)
        // Another fact of the topic is suspect too: alone, and dropped at the first closing.
        let other = connection.outbox.submit(.fact("gear", word: "worse"), at: start)
        #expect(other.map(\.publication.line) == ["gear worse"])
        #expect(connection.outbox.submit(result("1"), at: start).isEmpty)
        connection.outbox.disconnected(isClosedByBroker: true, at: start)
        #expect(connection.outbox.connected(at: start).map(\.publication.line) == ["result 1"])
        // One that the broker takes is a fact like all others.
        connection.outbox.disconnected(at: start)
        _ = connection.outbox.submit(.fact("gear", word: "good"), at: start)
        let good = connection.outbox.connected(at: start)
        #expect(good.map(\.publication.line) == ["gear good"])
        let next = connection.outbox.acknowledged(try #require(good.first?.ticket), at: start)
        #expect(next.map(\.publication.line) == ["result 1"])
        connection.outbox.disconnected(at: start)
        #expect(connection.outbox.connected(at: start).count == 2)
    }

    @Test("a dropped fact is sent again, alone, after one, two and four minutes, and then only when it changes")
    func retries() {
        var connection = Connection(bad: ["gear bad"], at: start)
        _ = connection.outbox.submit(.fact("gear", word: "bad"), at: start)
        connection.run()
        var (now, uptime) = (start, 0)
        for minutes in [1, 2, 4] {
            uptime += 1
            let early = now + .seconds(60 * minutes - 1)
            #expect(health(uptime, in: &connection.outbox, at: early).map(\.publication.topic) == ["health"])
            uptime += 1
            now = now + .seconds(60 * minutes)
            #expect(health(uptime, in: &connection.outbox, at: now).map(\.publication.topic) == ["health", "gear"])
            connection.outbox.disconnected(isClosedByBroker: true, at: now)
            #expect(acknowledgeAll(connection.outbox.connected(at: now), in: &connection.outbox, at: now) == ["health"])
        }
        #expect(connection.outbox.takeLosses().closing.count == 4)
        #expect(connection.outbox.abandoned == [.init(topic: "gear", bytes: 3)])
        #expect(health(99, in: &connection.outbox, at: now + .seconds(7_200)).map(\.publication.topic) == ["health"])
    }

    @Test("a fact that was given up is sent once when it changes, and is a fact like all others if the broker takes it")
    func changedAfterEndings() throws {
        var connection = Connection(bad: ["gear bad"], at: start)
        _ = connection.outbox.submit(.fact("gear", word: "bad"), at: start)
        connection.run()
        var now = start
        for minutes in [1, 2, 4] {
            now = now + .seconds(60 * minutes)
            _ = health(minutes, in: &connection.outbox, at: now)
            connection.outbox.disconnected(isClosedByBroker: true, at: now)
            _ = acknowledgeAll(connection.outbox.connected(at: now), in: &connection.outbox, at: now)
        }
        #expect(connection.outbox.abandoned.map(\.topic) == ["gear"])
        let other = connection.outbox.submit(.fact("gear", word: "worse"), at: now)
        #expect(other.map(\.publication.line) == ["gear worse"])
        connection.outbox.disconnected(isClosedByBroker: true, at: now)
        _ = acknowledgeAll(connection.outbox.connected(at: now), in: &connection.outbox, at: now)
        #expect(connection.outbox.abandoned.map(\.topic) == ["gear"])
        let good = connection.outbox.submit(.fact("gear", word: "good"), at: now)
        #expect(acknowledgeAll(good, in: &connection.outbox, at: now) == ["gear"])
        #expect(connection.outbox.abandoned.isEmpty)
    }

    @Test("a dropped fact that the broker takes later is a fact like all others")
    func recovered() {
        var connection = Connection(bad: ["gear bad"], at: start)
        _ = connection.outbox.submit(.fact("gear", word: "bad"), at: start)
        connection.run()
        let later = start + .seconds(60)
        let deliveries = connection.outbox.submit(.fact("health", word: "1"), at: later)
        #expect(acknowledgeAll(deliveries, in: &connection.outbox, at: later) == ["health", "gear"])
        connection.outbox.disconnected(at: later)
        #expect(
            acknowledgeAll(connection.outbox.connected(at: later), in: &connection.outbox, at: later)
                == ["gear", "health"])
    }

    @Test("a retry waits for a connection")
    func retryWithoutConnection() {
        var connection = Connection(bad: ["gear bad"], at: start)
        _ = connection.outbox.submit(.fact("gear", word: "bad"), at: start)
        connection.run()
        connection.outbox.disconnected(at: start)
        let later = start + .seconds(60)
        #expect(connection.outbox.submit(.fact("health", word: "1"), at: later).isEmpty)
        #expect(
            acknowledgeAll(connection.outbox.connected(at: later), in: &connection.outbox, at: later) == ["health"])
        #expect(health(2, in: &connection.outbox, at: later).map(\.publication.topic) == ["health", "gear"])
    }

    /// Submits a changed health document, and acknowledges it and the retries that follow, except the last one.
    private func health(_ uptime: Int, in outbox: inout Outbox, at now: Instant) -> [Outbox.Delivery] {
        let first = outbox.submit(.fact("health", word: "\(uptime)"), at: now)
        return first + first.flatMap { $0.ticket.map { outbox.acknowledged($0, at: now) } ?? [] }
    }

    /// Acknowledges deliveries and those that follow, and returns their topics.
    private func acknowledgeAll(
        _ deliveries: [Outbox.Delivery], in outbox: inout Outbox, at now: Instant
    ) -> [String] {
        var (waiting, topics) = (deliveries, [String]())
        while !waiting.isEmpty {
            let delivery = waiting.removeFirst()
            topics.append(delivery.publication.topic)
            if let ticket = delivery.ticket { waiting += outbox.acknowledged(ticket, at: now) }
        }
        return topics
    }

    @Test("include none if the broker closes each connection before it acknowledges anything")
    func failingBroker() {
        var outbox = Outbox()
        for topic in ["state", "info", "level"] { _ = outbox.submit(.fact(topic, word: "1"), at: start) }
        _ = outbox.submit(result("1"), at: start)
        var first: [String] = []
        for _ in 0..<20 {
            first += outbox.connected(at: start).prefix(1).map(\.publication.topic)
            outbox.disconnected(isClosedByBroker: true, at: start)
        }
        #expect(outbox.dropped.total == 0)
        // Each fact has its turn to be the first one.
        #expect(Set(first) == ["state", "info", "level"])
        var delivered: [String] = []
        var deliveries = outbox.connected(at: start)
        while !deliveries.isEmpty {
            let delivery = deliveries.removeFirst()
            delivered.append(delivery.publication.topic)
            if let ticket = delivery.ticket { deliveries += outbox.acknowledged(ticket, at: start) }
        }
        #expect(Set(delivered) == ["state", "info", "level", "result"])
        #expect(delivered.last == "result")
    }

    @Test("are found when they are the first fact")
    func firstFact() {
        var connection = Connection(bad: ["state bad"], at: start)
        for (topic, word) in [("state", "bad"), ("info", "1"), ("level", "87")] {
            _ = connection.outbox.submit(.fact(topic, word: word), at: start)
        }
        connection.run()
        #expect(connection.closings == 3)
        #expect(connection.delivered.suffix(2) == ["info 1", "level 87"])
        #expect(connection.outbox.takeLosses().closing == ["state"])
    }

    @Test("publications in flight at a network failure are not suspects")
    func network() {
        var outbox = Outbox()
        for number in 1...3 { _ = outbox.submit(result("\(number)"), at: start) }
        for _ in 0..<5 {
            #expect(outbox.connected(at: start).count == 3)
            outbox.disconnected(at: start)
        }
        #expect(outbox.dropped.total == 0)
    }

    @Test("streams are dropped while a suspect is in flight only if the window is full")
    func probing() {
        var outbox = Outbox()
        _ = outbox.submit(result("1"), at: start)
        _ = outbox.connected(at: start)
        outbox.disconnected(isClosedByBroker: true, at: start)
        _ = outbox.connected(at: start)
        let stream = Publication(topic: "touch", payload: [], qos: .atMostOnce, kind: .stream)
        #expect(outbox.submit(stream, at: start).count == 1)
    }

    @Test("and publications refused with a reason code are counted; the number of logged topics is limited")
    func refused() throws {
        var outbox = Outbox()
        _ = outbox.connected(at: start)
        let ticket = try #require(outbox.submit(result("1"), at: start).first?.ticket)
        #expect(outbox.refused(ticket, at: start).isEmpty)
        #expect(outbox.refused(nil, at: start).isEmpty)
        #expect(outbox.queued == 0)
        #expect(outbox.dropped.refused == 2)
        var losses = Outbox.Losses()
        for number in 0..<100 { losses.refused("\(number)") }
        #expect(losses.refused == 100)
        #expect(losses.closing.count == Outbox.Losses.maxTopics)
    }
}
