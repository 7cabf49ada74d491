import MQTTTypes
import Testing
import Time

@testable import MQTT

@Suite("Subscription retries")
struct SubscriptionRetriesTests {
    private let start = Instant(sinceBoot: .seconds(3_600))
    private let failure = MQTTReasonCode(rawValue: 0x80)
    private let granted = MQTTReasonCode(rawValue: 1)

    private func subscription(_ text: String) throws -> SubscriptionRetries.Subscription {
        .init(filter: try MQTTTopicFilter(text), qos: .atLeastOnce)
    }

    @Test("a granted subscription is not repeated")
    func grant() throws {
        var retries = SubscriptionRetries()
        #expect(retries.answered(try subscription("a"), granted, at: start) == .granted)
        #expect(retries.deadline == nil)
    }

    @Test("a refused one that is no longer wanted is not repeated")
    func ended() throws {
        var retries = SubscriptionRetries()
        _ = retries.answered(try subscription("a"), failure, at: start)
        _ = retries.answered(try subscription("b"), failure, at: start + .seconds(1))
        retries.unsubscribed(try MQTTTopicFilter("a"))
        #expect(retries.deadline == start + .seconds(2))
        #expect(retries.due(at: start + .seconds(60)) == [try subscription("b")])
    }

    @Test("a refused one is repeated after pauses that double up to a minute, until it is granted")
    func pauses() throws {
        var retries = SubscriptionRetries()
        var now = start
        var pauses: [Duration] = []
        let subscription = try subscription("a")
        for attempt in 0..<9 {
            let outcome = retries.answered(subscription, failure, at: now)
            #expect(outcome == (attempt == 0 ? .refused : .refusedAgain))
            let due = try #require(retries.deadline)
            pauses.append(due - now)
            let early = retries.due(at: due - .milliseconds(1))
            #expect(early.isEmpty)
            now = due
            let repeated = retries.due(at: now)
            #expect(repeated == [subscription])
            // The answer is pending.
            #expect(retries.deadline == nil)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(retries.answered(subscription, granted, at: now) == .grantedLate)
        #expect(retries.answered(subscription, granted, at: now) == .granted)
        #expect(retries.answered(subscription, failure, at: now) == .refused)
    }

    @Test("a cancelled one is not repeated")
    func unsubscribed() throws {
        var retries = SubscriptionRetries()
        let subscription = try subscription("a")
        #expect(retries.answered(subscription, failure, at: start) == .refused)
        retries.unsubscribed(subscription.filter)
        #expect(retries.deadline == nil)
        #expect(retries.answered(subscription, failure, at: start) == .refused)
    }

    @Test("only an indefinite reason of a SUBACK is not final", arguments: 0x80...0xFF as ClosedRange<UInt8>)
    func final(reason: UInt8) throws {
        var retries = SubscriptionRetries()
        #expect(retries.answered(try subscription("a"), MQTTReasonCode(rawValue: reason), at: start) == .refused)
        let isIndefinite = [0x80, 0x83, 0x91, 0x97].contains(reason)
        #expect(retries.deadline == (isIndefinite ? start + .seconds(1) : nil))
    }

    @Test("each subscription has its own pauses")
    func several() throws {
        var retries = SubscriptionRetries()
        let (a, b) = (try subscription("a"), try subscription("b"))
        _ = retries.answered(b, failure, at: start)
        _ = retries.answered(a, failure, at: start)
        let both = retries.due(at: start + .seconds(1))
        #expect(both == [a, b])
        _ = retries.answered(a, failure, at: start + .seconds(1))
        _ = retries.answered(b, granted, at: start + .seconds(1))
        let last = retries.due(at: start + .seconds(3))
        #expect(last == [a])
    }
}
