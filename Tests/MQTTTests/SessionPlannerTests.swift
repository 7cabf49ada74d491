import Testing
import Time

@testable import MQTT

@Suite("Session planner")
struct SessionPlannerTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let lost = MQTTError(.connectionLost, "")

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

    @Test(
        "keeps the session afterwards; with 3.1.1 only for as long as it may be kept",
        arguments: [
            (.v5, 10, false), (.v5, 3600, false),
            (.v311, 10, false), (.v311, 30, false), (.v311, 31, true),
        ] as [(MQTTConfiguration.Version, Int, Bool)])
    func cleanLater(version: MQTTConfiguration.Version, secondsAway: Int, expected: Bool) {
        var planner = Self.planner(version)
        planner.accepted(at: start)
        _ = planner.ended(with: lost, at: start + .seconds(60), random: 0)
        #expect(planner.plan(at: start + .seconds(60 + secondsAway)).isCleanStart == expected)
    }

    @Test("reports a condition once, and again after a connection")
    func newsOnce() {
        var planner = Self.planner()
        let down = MQTTError(.unreachable, "")
        let refused = MQTTError(.badUserNameOrPassword, "")
        let news = [down, down, refused, refused, down].map {
            planner.ended(with: $0, at: start, random: 0).isNews
        }
        #expect(news == [true, false, true, false, true])
        planner.accepted(at: start)
        #expect(planner.ended(with: down, at: start, random: 0).isNews)
    }

    @Test("counts the attempts that failed in a row")
    func counts() {
        var planner = Self.planner()
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 1)
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 2)
        planner.accepted(at: start)
        #expect(planner.ended(with: lost, at: start, random: 0).failures == 0)
    }

    @Test("leaves the session to the client that took it over for the longest pause")
    func takenOver() {
        var planner = Self.planner()
        planner.accepted(at: start)
        let error = MQTTReasonCode(rawValue: 0x8E).error("the broker ends the connection")
        let consequence = planner.ended(with: error, at: start + .seconds(100), random: 0)
        #expect(consequence.retryIn == .seconds(30))
        #expect(consequence.isContested)
    }

    @Test("grows its pauses when connections do not last, and sees another client behind it")
    func contested() {
        var planner = Self.planner()
        let consequences = (0..<4).map { _ in
            planner.accepted(at: start)
            return planner.ended(with: lost, at: start + .seconds(29), random: 0)
        }
        #expect(consequences.map(\.retryIn) == [0.5, 1, 2, 4].map { .seconds($0) })
        #expect(consequences.map(\.isContested) == [false, false, true, true])
        planner.accepted(at: start)
        let last = planner.ended(with: lost, at: start + .seconds(30), random: 0)
        #expect(last.retryIn == .milliseconds(500))
        #expect(!last.isContested)
    }

    @Test("names the version it falls back to")
    func fallback() {
        var planner = Self.planner()
        let refusal = MQTTReasonCode.connectionRefusal(1).error("the broker refuses the connection")
        #expect(planner.ended(with: refusal, at: start, random: 0).newVersion == .v311)
        #expect(planner.plan(at: start).version == .v311)
    }
}
