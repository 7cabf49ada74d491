import Testing
import Time

@testable import MQTT

@Suite("Node round")
struct NodeRoundTests {
    private func round(_ count: Int, _ order: MQTTConfiguration.Order = .listed, prefersFirst: Bool = false)
        -> NodeRound
    {
        NodeRound(count: count, order: order, prefersFirst: prefersFirst)
    }

    /// The nodes of the following attempts, all of which fail; nil for a pause.
    private func transcript(_ round: inout NodeRound, failures: Int) -> [Int?] {
        (0..<failures).flatMap { _ -> [Int?] in
            let node = round.current
            return round.advance(isNodeFailure: true) ? [node] : [node, nil]
        }
    }

    @Test("tries each node once, then pauses")
    func listed() {
        var round = round(3)
        #expect(transcript(&round, failures: 7) == [0, 1, 2, nil, 0, 1, 2, nil, 0])
    }

    @Test("of one node pauses after each failure")
    func single() {
        var round = round(1)
        #expect(transcript(&round, failures: 3) == [0, nil, 0, nil, 0, nil])
    }

    @Test("a connection that was lost counts as a failure; one that has lasted begins a new round")
    func lost() {
        var round = round(3)
        _ = round.advance(isNodeFailure: true)
        // Node 1 was connected for a while.
        round.restart()
        #expect(transcript(&round, failures: 4) == [1, 2, 0, nil, 1])
    }

    @Test("a failure that is not the node's is followed by a pause and the next node")
    func client() {
        var round = round(3)
        let isImmediate = round.advance(isNodeFailure: false)
        #expect(!isImmediate)
        #expect(round.current == 1)
    }

    @Test("prefers the first node after a lost connection and after each pause if that is configured")
    func prefersFirst() {
        var round = round(3, prefersFirst: true)
        _ = round.advance(isNodeFailure: true)
        round.restart()
        #expect(transcript(&round, failures: 4) == [1, 0, 2, nil, 0])
    }

    @Test("starts at a node that depends on the key, evenly for many keys", arguments: [2, 3, 5])
    func spread(count: Int) {
        var clients = [Int](repeating: 0, count: count)
        for number in 0..<500 { clients[round(count, .spread(key: "attic-\(number)")).current] += 1 }
        let share = 500 / count
        #expect(clients.allSatisfy { abs($0 - share) < share / 4 }, "\(clients)")
        #expect(round(count, .spread(key: "attic")).current == round(count, .spread(key: "attic")).current)
    }

    @Test("starts at the same node in each process")
    func stable() {
        #expect(["attic", "cellar", "garage"].map { round(16, .spread(key: $0)).current } == [11, 4, 9])
    }
}

@Suite("Session planner with several nodes")
struct NodePlannerTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let lost = MQTTError(.connectionLost, "")
    private let unreachable = MQTTError(.unreachable, "")
    private let refusal = MQTTReasonCode.connectionRefusal(1).error("the broker refuses the connection")

    private func planner(_ version: MQTTConfiguration.Version = .automatic) -> SessionPlanner {
        var configuration = MQTTConfiguration(host: "a", clientIdentifier: "jacquard-attic")
        configuration.nodes = ["a", "b", "c"].map { MQTTAddress(host: $0, port: 1883) }
        configuration.version = version
        return SessionPlanner(configuration)
    }

    @Test("tries the next node immediately, and pauses after a round")
    func round() {
        var planner = planner(.v5)
        let consequences = (0..<4).map { _ in planner.ended(with: unreachable, at: start, random: 0) }
        #expect(consequences.map(\.retryIn) == [.zero, .zero, .milliseconds(500), .zero])
        #expect(consequences.map(\.isFailover) == [true, true, false, true])
        #expect(planner.plan(at: start).node == 1)
    }

    @Test("keeps its session at the next node")
    func session() {
        for version in [MQTTConfiguration.Version.v5, .v311] {
            var planner = planner(version)
            planner.accepted(at: start)
            let end = start + .seconds(100)
            #expect(planner.ended(with: lost, at: end, random: 0).retryIn == .zero)
            let plan = planner.plan(at: end)
            #expect(plan.node == 1)
            #expect(!plan.isCleanStart)
            #expect(!plan.isDiscardOnly)
        }
    }

    @Test("tries 3.1.1 at the same node before the next one, and MQTT 5 at the next one")
    func version() {
        var planner = planner()
        var plans: [SessionPlanner.Plan] = []
        var pauses: [Duration] = []
        for error in [lost, lost, lost, unreachable] {
            plans.append(planner.plan(at: start))
            pauses.append(planner.ended(with: error, at: start, random: 0).retryIn)
        }
        #expect(plans.map(\.node) == [0, 0, 1, 1])
        #expect(plans.map(\.version) == [.v5, .v311, .v5, .v311])
        #expect(pauses == [.zero, .zero, .zero, .zero])
        #expect(planner.plan(at: start).node == 2)
    }

    @Test("a cluster that rejects MQTT 5 is connected with the second attempt")
    func rejection() {
        var planner = planner()
        #expect(planner.ended(with: refusal, at: start, random: 0).retryIn == .zero)
        let plan = planner.plan(at: start)
        #expect(plan.version == .v311)
        #expect(plan.node == 0)
        // It stays with 3.1.1 at the other nodes.
        #expect(planner.ended(with: lost, at: start, random: 0).retryIn == .zero)
        #expect(planner.plan(at: start).version == .v311)
        #expect(planner.plan(at: start).node == 1)
    }

    @Test("nodes that accept and close connections don't cause connections without pauses")
    func short() {
        var planner = planner(.v5)
        let pauses = (0..<6).map { _ in
            planner.accepted(at: start)
            return planner.ended(with: lost, at: start + .seconds(1), random: 0).retryIn
        }
        #expect(pauses == [0, 0, 0.5, 0, 0, 1].map { .seconds($0) })
    }

    @Test("a connection of ten seconds is followed by the next node at once, although that has failed in this round")
    func useful() {
        for (duration, pause) in [(Duration.seconds(10), Duration.zero), (.seconds(9), .milliseconds(500))] {
            var planner = planner(.v5)
            for _ in 0..<2 { _ = planner.ended(with: unreachable, at: start, random: 0) }
            planner.accepted(at: start)
            #expect(planner.ended(with: lost, at: start + duration, random: 0).retryIn == pause)
            #expect(planner.plan(at: start).node == 0)
        }
    }

    @Test("nodes that were looked up are tried in their order, also after a connection to the second one")
    func lookedUp() {
        var planner = planner(.v5)
        planner.found(nodes: 3)
        _ = planner.ended(with: unreachable, at: start, random: 0)
        planner.accepted(at: start)
        _ = planner.ended(with: lost, at: start + .seconds(10), random: 0)
        #expect(planner.plan(at: start).node == 2)
    }

    @Test("a session that was discarded at a node is discarded again after a lookup, which may have found other nodes")
    func discardedBeforeLookup() {
        var planner = planner(.v5)
        planner.discarded()
        #expect(!planner.plan(at: start).isDiscardOnly)
        planner.found(nodes: 3)
        #expect(planner.plan(at: start).isDiscardOnly)
    }

    @Test("wrong credentials are tried at one node for each pause")
    func credentials() {
        var planner = planner(.v5)
        let error = MQTTError(.badUserNameOrPassword, "")
        #expect(planner.ended(with: error, at: start, random: 0).retryIn == .milliseconds(500))
        #expect(planner.plan(at: start).node == 1)
    }

    @Test("sessions of unanswered attempts, which a broker opens late, are not those of another client")
    func ghosts() {
        var planner = planner(.v5)
        let takenOver = MQTTError(.sessionTakenOver, "")
        for _ in 0..<2 { _ = planner.ended(with: MQTTError(.timeout, ""), at: start, random: 0) }
        let consequences = (0..<3).map { _ in
            planner.accepted(at: start)
            return planner.ended(with: takenOver, at: start, random: 0)
        }
        #expect(consequences.map(\.retryIn) == [0.5, 1, 30].map { .seconds($0) })
        #expect(consequences.map(\.isContested) == [false, false, true])
        // They are gone after a connection that has lasted.
        _ = planner.ended(with: MQTTError(.timeout, ""), at: start, random: 0)
        planner.accepted(at: start)
        #expect(planner.ended(with: lost, at: start + .seconds(60), random: 0).retryIn == .zero)
        planner.accepted(at: start)
        #expect(planner.ended(with: takenOver, at: start, random: 0).retryIn == .seconds(30))
    }

    @Test("a session that was taken over is left alone at each node")
    func takenOver() {
        var planner = planner(.v5)
        planner.accepted(at: start)
        let error = MQTTError(.sessionTakenOver, "")
        #expect(planner.ended(with: error, at: start, random: 0).retryIn == .seconds(30))
        #expect(planner.plan(at: start).node == 0)
    }
}
