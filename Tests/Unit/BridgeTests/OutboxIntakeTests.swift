import Testing
import Time

@testable import Bridge

@Suite("Outbox under a flood of commands")
struct OutboxIntakeTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func result(_ number: Int) -> Publication {
        Publication(topic: "result", payload: Array("\(100_000 + number)".utf8), kind: .result(lifetime: .seconds(60)))
    }

    private func event(_ text: String) -> Publication {
        Publication(topic: "gesture", payload: Array(text.utf8), kind: .event(lifetime: .seconds(5)))
    }

    private var resultBytes: Int { Waiting(result(0), at: start).bytes }

    /// An outbox whose limit is so many results.
    private func connected(limit: Int, window: Int = 2, receiveMaximum: Int = .max) -> Outbox {
        var outbox = Outbox(window: window, maxResultBytes: limit * resultBytes)
        _ = outbox.connected(receiveMaximum: receiveMaximum, at: start)
        return outbox
    }

    @Test("drops no result while the broker is connected")
    func keepsResults() {
        var outbox = connected(limit: 10)
        var inFlight = (0..<10_000).flatMap { outbox.submit(result($0), at: start) }
        var delivered: [Outbox.Delivery] = []
        while !inFlight.isEmpty {
            let first = inFlight.removeFirst()
            delivered.append(first)
            inFlight += outbox.acknowledged(first.ticket ?? 0, at: start)
        }
        #expect(delivered.map(\.publication.payload) == (0..<10_000).map { result($0).payload })
        #expect(outbox.dropped.total == 0)
    }

    @Test("restrains the intake at its limit, closes it at four times the limit, and opens it at half of it")
    func thresholds() {
        var outbox = connected(limit: 10)
        var tickets: [UInt64] = []
        var changes: [String] = []
        func note() {
            let word = "\(outbox.intake) \(outbox.queued - tickets.count)"
            if changes.last?.hasPrefix("\(outbox.intake)") != true { changes.append(word) }
        }
        note()
        for number in 0..<42 {
            tickets += outbox.submit(result(number), at: start).compactMap(\.ticket)
            note()
        }
        let isTaken = outbox.takesCommand()
        #expect(!isTaken)
        while let ticket = tickets.first {
            tickets.removeFirst()
            tickets += outbox.acknowledged(ticket, at: start).compactMap(\.ticket)
            note()
        }
        #expect(changes == ["open 0", "restrained 10", "closed 40", "restrained 20", "open 4"])
        let isTakenAgain = outbox.takesCommand()
        let losses = outbox.takeLosses()
        #expect(isTakenAgain)
        #expect(losses == Outbox.Losses(commands: 1, totalDropped: 1))
    }

    @Test("sends in batches while it is restrained: the next one when the last is acknowledged")
    func batches() {
        var outbox = connected(limit: 4, window: 3)
        let first = (0..<10).flatMap { outbox.submit(result($0), at: start) }
        #expect(first.count == 3)
        #expect(outbox.intake == .restrained)
        #expect(outbox.acknowledged(first[1].ticket ?? 0, at: start).isEmpty)
        #expect(outbox.acknowledged(first[0].ticket ?? 0, at: start).isEmpty)
        #expect(outbox.acknowledged(first[2].ticket ?? 0, at: start).count == 3)
    }

    @Test("has at most the broker's receive maximum in flight, at least one", arguments: [(20, 20), (1, 1), (0, 1)])
    func receiveMaximum(limit: Int, expected: Int) {
        var outbox = connected(limit: 1_000, window: 100, receiveMaximum: limit)
        #expect((0..<50).flatMap { outbox.submit(result($0), at: start) }.count == expected)
        outbox.disconnected(at: start)
        #expect(outbox.connected(at: start).count == 50)
    }

    @Test("lets gestures and facts overtake results")
    func priority() {
        var outbox = connected(limit: 10, window: 1)
        let first = outbox.submit(result(0), at: start)
        _ = outbox.submit(result(1), at: start)
        _ = outbox.submit(event("1"), at: start)
        _ = outbox.submit(.fact("level", word: "87"), at: start)
        let second = outbox.acknowledged(first[0].ticket ?? 0, at: start)
        #expect(second.map(\.publication.topic) == ["gesture"])
        let third = outbox.acknowledged(second[0].ticket ?? 0, at: start)
        #expect(third.map(\.publication.topic) == ["level"])
        #expect(outbox.acknowledged(third[0].ticket ?? 0, at: start).map(\.publication.topic) == ["result"])
    }

    @Test("opens the intake when the connection has ended, and drops results above the limit until the next one")
    func disconnected() {
        var outbox = connected(limit: 10)
        for number in 0..<30 { _ = outbox.submit(result(number), at: start) }
        #expect(outbox.intake == .restrained)
        outbox.disconnected(at: start)
        #expect(outbox.intake == .open)
        _ = outbox.submit(result(30), at: start)
        #expect(outbox.takeLosses() == Outbox.Losses(results: 1, totalDropped: 1))
        #expect(outbox.queued == 30)
    }

    @Test(
        "concerns commands and requests only, not facts of other bridges or of Home Assistant",
        arguments: [
            ("jacquard/tag/003R/led/set", true), ("jacquard/group/hall/led/set", true),
            ("jacquard/bridge/attic/request/scan", true), ("jacquard/bridge/cellar/state", false),
            ("jacquard/bridge/cellar/info", false), ("jacquard/bridge/cellar/beat", false),
            ("jacquard/tag/0009/info", false), ("homeassistant/status", false),
        ])
    func commands(topic: String, isCommand: Bool) {
        #expect(Scene().state.isCommand(topic) == isCommand)
    }
}
