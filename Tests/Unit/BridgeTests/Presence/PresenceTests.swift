import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("The presence of a tag")
struct PresenceTests {
    /// A presence whose time the test sets.
    private struct Bench {
        var now = Scene.beginning
        var presence: Presence

        init(stored: TagRecord.Presence? = nil) {
            presence = Presence(awayAfter: .seconds(120), stored: stored, at: Scene.beginning)
        }

        /// Handles events, and returns `state`, with a question mark if it is inferred.
        mutating func after(_ events: Presence.Event...) -> String {
            for event in events { _ = presence.handle(event, at: now) }
            return text
        }

        /// Passes time, and returns the state.
        mutating func wait(_ seconds: Int) -> String {
            now = now + .seconds(seconds)
            _ = presence.deadlineReached(at: now)
            return text
        }

        var text: String { presence.state.rawValue + (presence.isInferred ? "?" : "") }
    }

    private static func ended(_ end: LinkEnd?, idle: Int = 5, rssi: Int? = -60) -> Presence.Event {
        .linkEnded(end, idle: .seconds(idle), rssi: rssi)
    }

    @Test("is unknown before the tag is received, and then here")
    func start() {
        var bench = Bench()
        #expect(bench.text == "unknown?")
        #expect(bench.wait(10_000) == "unknown?")
        #expect(bench.after(.linkUp) == "here")
        #expect(bench.wait(10_000) == "here")
    }

    @Test("is asleep if the tag has ended the link, by itself or on request")
    func asleep() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(.remote)) == "asleep")
        #expect(bench.wait(100_000) == "asleep")
        #expect(bench.after(.linkUp) == "here")
        #expect(bench.after(.sleepRequested(within: .seconds(5))) == "here")
        #expect(bench.wait(4) == "here")
        #expect(bench.after(Self.ended(nil)) == "asleep")
        let isLost = bench.after(.linkUp, .sleepRequested(within: .seconds(5)), Self.ended(.timeout))
        #expect(isLost == "here", "the tag has not ended the link")
        #expect(bench.after(.linkUp, .sleepRequested(within: .zero)) == "here")
        #expect(bench.wait(11) == "here")
        #expect(bench.after(Self.ended(.timeout)) == "here", "the tag did not sleep when it should have")
    }

    @Test("is gone if nothing is received for the configured time after a timeout")
    func gone() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(.timeout, idle: 600)) == "here")
        #expect(bench.wait(119) == "here")
        #expect(bench.wait(1) == "gone")
        #expect(bench.after(.linkUp) == "here")
        #expect(bench.after(Self.ended(.timeout)) == "here")
        #expect(bench.wait(60) == "here")
        #expect(bench.after(.linkUp) == "here")
        #expect(bench.wait(1_000) == "here", "the tag came back in time")
    }

    @Test("is inferred if the stack does not say how the link ended")
    func inferred() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(nil, idle: 600)) == "asleep?")
        #expect(bench.after(.linkUp, Self.ended(nil, idle: 569)) == "here")
        #expect(bench.wait(120) == "gone?")
        #expect(bench.after(.linkUp, Self.ended(nil, idle: 600, rssi: -80)) == "here", "at the edge of the range")
        #expect(bench.wait(120) == "gone?")
        #expect(bench.after(.linkUp, Self.ended(nil, idle: 600, rssi: nil)) == "asleep?")
    }

    @Test("is asleep after this host has ended the link, unless the signal was weak")
    func local() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(.local)) == "here")
        #expect(bench.wait(120) == "asleep?")
        #expect(bench.after(.linkUp, Self.ended(.local, rssi: -90)) == "here")
        #expect(bench.wait(120) == "gone?")
    }

    @Test("does not come back by single weak advertisements")
    func edge() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(.timeout)) == "here")
        #expect(bench.wait(100) == "here")
        #expect(bench.after(.received(rssi: -90)) == "here")
        #expect(bench.wait(119) == "here")
        #expect(bench.wait(1) == "gone?")
        #expect(bench.after(.received(rssi: -90)) == "gone?")
        #expect(bench.after(.received(rssi: -70)) == "here")
        #expect(bench.wait(120) == "asleep?", "it was not connected in its minute of advertising")
        #expect(bench.after(.received(rssi: -90)) == "here")
    }

    @Test("keeps its state while the adapter is off, and continues to wait afterwards")
    func adapter() {
        var bench = Bench()
        #expect(bench.after(.linkUp, .adapterOff) == "here?")
        #expect(bench.wait(100_000) == "here?")
        #expect(bench.after(.adapterOn) == "here?")
        #expect(bench.wait(119) == "here?")
        #expect(bench.wait(1) == "asleep?", "it has advertised for a minute")
        #expect(bench.after(.linkUp, Self.ended(.timeout), .adapterOff) == "here?")
        #expect(bench.wait(1_000) == "here?")
        #expect(bench.after(.adapterOn) == "here?")
        #expect(bench.wait(120) == "gone")
        #expect(bench.after(.adapterOff) == "gone?")
        var new = Bench()
        #expect(new.after(.adapterOff, .adapterOn) == "unknown?")
    }

    @Test("is not gone because of an adapter that ends the links just before it is reported as off")
    func adapterAfterLinks() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(nil)) == "here")
        #expect(bench.wait(2) == "here")
        #expect(bench.after(.adapterOff, .adapterOn) == "here?")
        #expect(bench.wait(120) == "asleep?")
        #expect(bench.after(.linkUp, Self.ended(nil)) == "here")
        #expect(bench.wait(3) == "here")
        #expect(bench.after(.adapterOff, .adapterOn) == "here?")
        #expect(bench.wait(120) == "gone?")
    }

    @Test("uses another time at once")
    func anotherTime() {
        var bench = Bench()
        #expect(bench.after(.linkUp, Self.ended(.timeout)) == "here")
        bench.presence.awayAfter = .seconds(30)
        #expect(bench.wait(29) == "here")
        #expect(bench.wait(1) == "gone")
    }

    @Test("continues with the stored state after a restart, and is never gone because of it")
    func restart() {
        for (state, later) in [("here", "asleep?"), ("asleep", "asleep?"), ("gone", "gone?"), ("unknown", "unknown?")] {
            var bench = Bench(stored: TagRecord.Presence(state: state, unixMilliseconds: 5))
            #expect(bench.text == state + "?")
            #expect(bench.presence.since.unixMilliseconds == 5)
            #expect(bench.wait(1_000) == later)
        }
        #expect(Bench(stored: TagRecord.Presence(state: "nonsense", unixMilliseconds: 5)).text == "unknown?")
    }

    @Test("in any order of events is never here without a link or a reception, nor gone with a link")
    func anyOrder() {
        var random = SplitMix(seed: 3)
        let events: [Presence.Event] = [
            .linkUp, Self.ended(nil), Self.ended(nil, idle: 700), Self.ended(.remote), Self.ended(.timeout),
            Self.ended(.local), .received(rssi: -60), .received(rssi: -90), .sleepRequested(within: .seconds(1)),
            .adapterOff, .adapterOn,
        ]
        for _ in 0..<300 {
            var bench = Bench()
            var isLinked = false
            for _ in 0..<40 {
                let event = events.randomElement(using: &random)!
                let state = bench.after(event)
                switch event {
                case .linkUp: isLinked = true
                case .linkEnded, .adapterOff: isLinked = false
                default: break
                }
                if isLinked { #expect(state == "here") }
                _ = bench.wait(Int.random(in: 0...200, using: &random))
                if isLinked { #expect(bench.text == "here") }
                #expect(bench.presence.deadline.map { $0 > bench.now.instant } ?? true)
            }
        }
    }
}
