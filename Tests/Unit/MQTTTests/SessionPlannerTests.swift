import Testing
import Time

@testable import MQTT

@Suite("Session planner")
struct SessionPlannerTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let lost = MQTTError(.connectionLost, "")
    private let unreachable = MQTTError(.unreachable, "")

    private static func planner(_ version: MQTTConfiguration.Version = .automatic) -> SessionPlanner {
        var configuration = MQTTConfiguration(host: "broker", clientIdentifier: "jacquard-attic")
        configuration.version = version
        return SessionPlanner(configuration)
    }

    @Test("starts clean until the first connection, however many attempts it takes")
    func cleanAtFirst() {
        var planner = Self.planner()
        #expect(planner.plan(at: start).isCleanStart)
        _ = planner.ended(with: MQTTError(.unreachable, ""), at: start, random: 0)
        #expect(planner.plan(at: start).isCleanStart)
    }

    @Test("keeps the session of MQTT 5 after the first connection; the broker discards it when it expires")
    func resumes5() {
        var planner = Self.planner(.v5)
        planner.accepted(at: start)
        _ = planner.ended(with: lost, at: start + .seconds(60), random: 0)
        for seconds in [10, 3600] {
            #expect(planner.plan(at: start + .seconds(60 + seconds)) == .init(version: .v5, isCleanStart: false))
        }
    }

    @Test(
        "discards the session of an earlier process by a connection of its own, then keeps one session",
        arguments: [MQTTVersion.v5, .v311])
    func discards(version: MQTTVersion) {
        let discard = SessionPlanner.Plan(version: version, isCleanStart: true, isDiscardOnly: true)
        let keep = SessionPlanner.Plan(version: version, isCleanStart: false)
        var planner = Self.planner(version == .v5 ? .v5 : .v311)
        #expect(planner.plan(at: start) == discard)
        _ = planner.ended(with: MQTTError(.unreachable, ""), at: start, random: 0)
        #expect(planner.plan(at: start) == discard)
        planner.discarded()
        #expect(planner.plan(at: start) == keep)
        // Nothing can have been stored since the session was discarded.
        _ = planner.ended(with: MQTTError(.unreachable, ""), at: start, random: 0)
        #expect(planner.plan(at: start + .seconds(100)) == keep)
        planner.accepted(at: start + .seconds(100))
        _ = planner.ended(with: lost, at: start + .seconds(200), random: 0)
        #expect(planner.plan(at: start + .seconds(230)) == keep)
        // With 3.1.1, the session has expired: commands in it are too old.
        #expect(planner.plan(at: start + .seconds(231)) == (version == .v5 ? keep : discard))
    }

    @Test("discards at the place of the connection that follows: with the same version, at the same node")
    func discardsAtEachPlace() {
        var configuration = MQTTConfiguration(host: "a", clientIdentifier: "jacquard-attic")
        configuration.nodes.append(MQTTAddress(host: "b", port: 1883))
        var planner = SessionPlanner(configuration)
        planner.discarded()
        #expect(!planner.plan(at: start).isDiscardOnly)
        // The next node.
        _ = planner.ended(with: unreachable, at: start, random: 0)
        #expect(planner.plan(at: start) == .init(version: .v5, isCleanStart: true, isDiscardOnly: true, node: 1))
        // The other version.
        _ = planner.ended(with: lost, at: start, random: 0)
        #expect(planner.plan(at: start) == .init(version: .v311, isCleanStart: true, isDiscardOnly: true, node: 1))
    }

    @Test(
        "does not blame a version that the broker has accepted from the connection that discards",
        arguments: [MQTTError.Code.sessionRefused, .connectionLost, .protocolError, .unsupportedProtocolVersion])
    func acceptedVersion(code: MQTTError.Code) {
        for version in [MQTTVersion.v5, .v311] {
            var planner = Self.planner()
            if version == .v311 { _ = planner.ended(with: lost, at: start, random: 0) }
            #expect(planner.plan(at: start).version == version)
            for isNew in [true, false, false] {
                planner.discarded()
                let consequence = planner.ended(with: MQTTError(code, ""), at: start, random: 0)
                #expect(consequence.newVersion == nil)
                #expect(consequence.isNew == isNew || (version == .v311 && code == .connectionLost))
                // Discards again, which shows whether the version is still accepted.
                let next = SessionPlanner.Plan(version: version, isCleanStart: true, isDiscardOnly: true)
                #expect(planner.plan(at: start) == next)
            }
        }
    }

    @Test("with 3.1.1 and a session that is not to be kept every connection is clean")
    func neverKeeps311() {
        var configuration = MQTTConfiguration(host: "broker", clientIdentifier: "jacquard-client")
        configuration.version = .v311
        configuration.sessionExpiry = .zero
        var planner = SessionPlanner(configuration)
        let clean = SessionPlanner.Plan(version: .v311, isCleanStart: true)
        #expect(planner.plan(at: start) == clean)
        planner.accepted(at: start)
        _ = planner.ended(with: lost, at: start, random: 0)
        #expect(planner.plan(at: start) == clean)
    }

    @Test("reports a condition once, and again after a connection")
    func newsOnce() {
        var planner = Self.planner()
        let down = MQTTError(.unreachable, "")
        let refused = MQTTError(.badUserNameOrPassword, "")
        let news = [down, down, refused, refused, down].map {
            planner.ended(with: $0, at: start, random: 0).isNew
        }
        #expect(news == [true, false, true, false, true])
        planner.accepted(at: start)
        #expect(planner.ended(with: down, at: start, random: 0).isNew)
    }

    @Test("counts the attempts that failed in a row")
    func counts() {
        var planner = Self.planner()
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 1)
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 2)
        planner.accepted(at: start)
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 0)
    }

    @Test("waits for the longest pause after another client has taken the session over")
    func takenOver() {
        var planner = Self.planner()
        planner.accepted(at: start)
        let error = MQTTReasonCode(rawValue: 0x8E).error("the broker ends the connection")
        let consequence = planner.ended(with: error, at: start + .seconds(100), random: 0)
        #expect(consequence.retryIn == .seconds(30))
        #expect(consequence.isContested)
    }

    @Test("waits longer each time that another client ends a short connection, until one has lasted")
    func takenOverRepeatedly() {
        var planner = Self.planner()
        let error = MQTTReasonCode(rawValue: 0x8E).error("the broker ends the connection")
        let pauses = (0..<4).map { _ in
            planner.accepted(at: start)
            return planner.ended(with: error, at: start + .seconds(30), random: 0).retryIn
        }
        #expect(pauses == [30, 60, 120, 120].map { .seconds($0) })
        planner.accepted(at: start)
        #expect(planner.ended(with: error, at: start + .seconds(60), random: 0).retryIn == .seconds(30))
    }

    @Test("takes a lost connection as the work of another client that is known to use its identifier")
    func sharedIdentifier() {
        var planner = Self.planner()
        planner.isIdentifierShared = true
        planner.accepted(at: start)
        let first = planner.ended(with: lost, at: start, random: 0)
        #expect(first.isContested)
        #expect(first.retryIn == .seconds(30))
        planner.accepted(at: start)
        planner.isIdentifierShared = false
        #expect(planner.ended(with: lost, at: start, random: 0).retryIn < .seconds(30))
        // An attempt that fails is no work of another client.
        planner.isIdentifierShared = true
        #expect(!planner.ended(with: lost, at: start, random: 0).isContested)
    }

    @Test("reports another client once a minute, however often it ends the connection")
    func contestReports() {
        var planner = Self.planner()
        planner.isIdentifierShared = true
        let reported = (0..<200).filter { second in
            planner.accepted(at: start + .seconds(second))
            return planner.ended(with: lost, at: start + .seconds(second), random: 0).isNew
        }
        #expect(reported == [0, 60, 120, 180])
        #expect(planner.isContested)
    }

    @Test("lengthens its pauses while connections are short, up to five seconds, and suspects another client")
    func contested() {
        var planner = Self.planner()
        let consequences = (0..<6).map { _ in
            planner.accepted(at: start)
            return planner.ended(with: lost, at: start + .seconds(59), random: 0)
        }
        #expect(consequences.map(\.retryIn) == [0.5, 1, 2, 2.5, 2.5, 2.5].map { .seconds($0) })
        #expect(consequences.map(\.isContested) == [false, false, true, true, true, true])
    }

    @Test("suspects no other client while a broker ends or cannot be reached between the connections")
    func endingBroker() {
        var planner = Self.planner()
        for _ in 0..<6 {
            planner.accepted(at: start)
            #expect(!planner.ended(with: lost, at: start + .seconds(5), random: 0).isContested)
            #expect(!planner.ended(with: unreachable, at: start + .seconds(6), random: 0).isContested)
        }
    }

    @Test("suspects no other client when one node after the other ends, unless the connections are very short")
    func endingNodes() {
        var configuration = MQTTConfiguration(host: "a", clientIdentifier: "jacquard-attic")
        configuration.nodes.append(MQTTAddress(host: "b", port: 1883))
        for (length, isContested) in [(10, false), (9, true)] {
            var planner = SessionPlanner(configuration)
            let ends = (0..<3).map { _ in
                planner.accepted(at: start)
                return planner.ended(with: lost, at: start + .seconds(length), random: 0).isContested
            }
            #expect(ends.last == isContested)
        }
    }

    @Test("starts again at the shortest pause after a connection of a minute, which is no short one")
    func lasting() {
        var planner = Self.planner()
        for _ in 0..<6 { _ = planner.ended(with: unreachable, at: start, random: 0) }
        planner.accepted(at: start)
        let last = planner.ended(with: lost, at: start + .seconds(60), random: 0)
        #expect(last.retryIn == .milliseconds(500))
        #expect(!last.isContested)
        for isContested in [false, false, true] {
            planner.accepted(at: start)
            #expect(planner.ended(with: lost, at: start, random: 0).isContested == isContested)
        }
    }

    @Test("waits five seconds at most during the first two minutes of an outage, then up to thirty")
    func outage() {
        var planner = Self.planner()
        planner.accepted(at: start)
        var now = start + .seconds(3600)
        let begin = now
        var pause = planner.ended(with: lost, at: now, random: 1).retryIn
        while now + pause < begin + .seconds(120) {
            #expect(pause <= .seconds(5))
            now = now + pause
            pause = planner.ended(with: unreachable, at: now, random: 1).retryIn
        }
        #expect(planner.ended(with: unreachable, at: begin + .seconds(121), random: 1).retryIn == .seconds(30))
    }

    @Test("the first two minutes of the process are an outage too, and each outage has its own two minutes")
    func outages() {
        var planner = Self.planner()
        var now = start
        for _ in 0..<20 {
            for _ in 0..<4 {
                #expect(planner.ended(with: unreachable, at: now, random: 1).retryIn <= .seconds(5))
                now = now + .seconds(5)
            }
            planner.accepted(at: now)
            now = now + .seconds(20)
            #expect(planner.ended(with: lost, at: now, random: 1).retryIn <= .seconds(5))
        }
    }

    @Test("tries the other version immediately, whatever the pause, and once per pause")
    func otherVersion() {
        let refusal = MQTTReasonCode.connectionRefusal(1).error("the broker refuses the connection")
        for error in [refusal, lost] {
            var planner = Self.planner()
            for _ in 0..<8 { _ = planner.ended(with: unreachable, at: start, random: 1) }
            let first = planner.ended(with: error, at: start, random: 1)
            #expect(first.newVersion == .v311)
            #expect(first.retryIn == .zero)
            // Both versions were tried: the next attempt comes after a pause.
            #expect(planner.ended(with: lost, at: start, random: 1).retryIn > .zero)
        }
    }

    @Test("finds a broker of the other version within five seconds after short outages")
    func replacedBroker() {
        var planner = Self.planner()
        var now = start
        for _ in 0..<5 {
            planner.accepted(at: now)
            now = now + .seconds(10)
            now = now + planner.ended(with: lost, at: now, random: 1).retryIn
        }
        planner.accepted(at: now)
        let pause = planner.ended(with: lost, at: now, random: 1).retryIn
        #expect(pause <= .seconds(5))
        #expect(planner.ended(with: lost, at: now + pause, random: 1).retryIn == .zero)
        #expect(planner.plan(at: now + pause).version == .v311)
    }

    @Test("names the version it falls back to")
    func fallback() {
        var planner = Self.planner()
        let refusal = MQTTReasonCode.connectionRefusal(1).error("the broker refuses the connection")
        #expect(planner.ended(with: refusal, at: start, random: 0).newVersion == .v311)
        #expect(planner.plan(at: start).version == .v311)
    }

    @Test("tries the other version after silence only when no other address or node is left")
    func silence() {
        let silence = MQTTError(.timeout, "")
        var configuration = MQTTConfiguration(host: "a", clientIdentifier: "jacquard-attic")
        configuration.nodes.append(MQTTAddress(host: "b", port: 1883))
        var planner = SessionPlanner(configuration)
        let other = planner.ended(with: silence, at: start, random: 0)
        #expect(other.newVersion == nil && other.isFailover)
        let address = planner.ended(with: silence, at: start, random: 0, hasUntriedAddress: true)
        #expect(address.newVersion == nil && !address.isFailover && address.retryIn > .zero)
        _ = planner.ended(with: silence, at: start, random: 0)
        let version = planner.ended(with: silence, at: start, random: 0)
        #expect(version.newVersion == .v311 && version.retryIn == .zero)
    }
}
