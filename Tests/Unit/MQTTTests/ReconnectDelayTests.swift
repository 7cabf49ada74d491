import Testing

@testable import MQTT

@Suite("Reconnect delay")
struct ReconnectDelayTests {
    private static func delay() -> ReconnectDelay {
        ReconnectDelay(shortest: .milliseconds(500), longest: .seconds(30))
    }

    @Test(
        "doubles up to the longest pause, jitter between half a step and a whole one",
        arguments: [
            (0.0, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]),
            (0.5, [750, 1500, 3000, 6000, 12_000, 22_500, 22_500]),
            (1.0, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]),
        ] as [(Double, [Int])])
    func grows(random: Double, milliseconds: [Int]) {
        var delay = Self.delay()
        let pauses = milliseconds.map { _ in delay.next(random: random) }
        #expect(pauses == milliseconds.map { .milliseconds($0) })
    }

    @Test("keeps a pause below a limit, and continues doubling")
    func limited() {
        var delay = Self.delay()
        let pauses = (0..<5).map { _ in delay.next(random: 1, atMost: .seconds(5)) }
        #expect(pauses == [1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(delay.next(random: 1) == .seconds(30))
        #expect(delay.next(random: 0, atMost: .seconds(5)) == .milliseconds(2500))
    }

    @Test("starts again at the shortest pause after a reset")
    func resets() {
        var delay = Self.delay()
        for _ in 0..<8 { _ = delay.next(random: 0) }
        delay.reset()
        #expect(delay.next(random: 0) == .milliseconds(500))
    }

    @Test("stays at the longest pause once sent there")
    func longest() {
        var delay = Self.delay()
        #expect(delay.longestPause() == .seconds(30))
        #expect(delay.next(random: 0) == .seconds(15))
    }

    @Test("keeps to a longest pause below twice the shortest")
    func narrow() {
        var delay = ReconnectDelay(shortest: .seconds(1), longest: .seconds(1))
        #expect(delay.next(random: 0) == .seconds(1))
        #expect(delay.next(random: 0.99) == .seconds(1))
    }
}
