import Testing
import Time

@testable import MQTT

@Suite("Keep-alive")
struct KeepAliveTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    private func at(_ seconds: Double) -> Instant { start + .seconds(seconds) }

    private var thirtySeconds: KeepAlive { KeepAlive(interval: .seconds(30), now: start) }

    @Test("waits for an interval of silence, then probes")
    func probes() {
        #expect(thirtySeconds.action(at: at(0)) == .wait(until: at(30)))
        #expect(thirtySeconds.action(at: at(29.9)) == .wait(until: at(30)))
        #expect(thirtySeconds.action(at: at(30)) == .probe)
    }

    @Test("counts from the direction that has been silent for longer")
    func bothDirections() {
        var keepAlive = thirtySeconds
        keepAlive.read(at: at(20))
        #expect(keepAlive.action(at: at(21)) == .wait(until: at(30)))
        keepAlive.written(at: at(10))
        #expect(keepAlive.action(at: at(21)) == .wait(until: at(40)))
    }

    @Test("ends the connection within one and a half intervals after the last activity, late checks included")
    func givesUp() {
        var keepAlive = thirtySeconds
        let probe = at(30) + keepAlive.accuracy
        keepAlive.probed(at: probe, wasSent: true)
        keepAlive.written(at: probe)
        #expect(keepAlive.action(at: probe) == .wait(until: probe + .seconds(12)))
        #expect(keepAlive.action(at: probe + .seconds(12)) == .giveUp)
        #expect(probe + .seconds(12) + keepAlive.accuracy <= at(45))
    }

    @Test("continues if the probe was answered")
    func answered() {
        var keepAlive = thirtySeconds
        keepAlive.probed(at: at(30), wasSent: true)
        keepAlive.written(at: at(30))
        keepAlive.read(at: at(31))
        #expect(keepAlive.action(at: at(42)) == .wait(until: at(60)))
    }

    @Test("checks again soon if the library did not probe")
    func notSent() {
        var keepAlive = thirtySeconds
        keepAlive.probed(at: at(30), wasSent: false)
        #expect(keepAlive.action(at: at(30)) == .wait(until: at(33)))
        #expect(keepAlive.action(at: at(33)) == .probe)
    }

    @Test("wakes an idle process three times in an interval at most")
    func idle() {
        var keepAlive = thirtySeconds
        var now = start
        var looks = 0
        while now < at(600) {
            looks += 1
            switch keepAlive.action(at: now) {
            case .wait(let next): now = next
            case .probe:
                keepAlive.probed(at: now, wasSent: true)
                keepAlive.written(at: now)
                keepAlive.read(at: now + .milliseconds(1))
            case .giveUp: Issue.record("given up although it was answered")
            }
        }
        #expect(looks <= 3 * 20)
    }
}
