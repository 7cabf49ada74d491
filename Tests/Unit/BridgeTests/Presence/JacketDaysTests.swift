import JacquardProtocol
import Testing
import Time

@testable import Bridge

@Suite("The presence of a jacket over 1,000 days")
struct JacketDaysTests {
    @Test(
        "is wrong for less than 1 % of the time and does not flap", arguments: [true, false],
        [UInt64(1), 2, 3])
    func days(hasReasons: Bool, seed: UInt64) {
        var jacket = Jacket(hasReasons: hasReasons, seed: seed)
        for _ in 0..<1_000 { jacket.liveOneDay() }
        let share = jacket.wrong / jacket.total
        #expect(share < 0.01, "\(share * 100) % wrong")
        #expect(jacket.moves > 1_000)
        #expect(Double(jacket.changes) < 1.05 * Double(jacket.moves) + 1, "\(jacket.changes) for \(jacket.moves)")
    }
}

/// A jacket with a person, a bridge that restarts and an adapter that is switched off at times. Times are in seconds.
private struct Jacket {
    /// The time for which home or away was wrong, and all time.
    private(set) var wrong = 0.0
    private(set) var total = 0.0
    /// How often the jacket left or returned, and how often the presence changed between home and away.
    private(set) var moves = 0
    private(set) var changes = 0

    private let hasReasons: Bool
    private var random: SplitMix
    private var presence: Presence
    private var now = Timestamp(instant: Instant(sinceBoot: .seconds(1)), unixMilliseconds: 1_795_169_702_114)
    private var isHome = true
    private var wasHome: Bool?
    private var isLinked = false

    init(hasReasons: Bool, seed: UInt64) {
        self.hasReasons = hasReasons
        random = SplitMix(seed: seed)
        presence = Presence(awayAfter: .seconds(120), at: now)
        connect()
    }

    /// Moves and walks of one day, with a restart or an adapter that is off on some days.
    mutating func liveOneDay() {
        var left = 86_400.0
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let start = total
            pass(draw(600, 14_400))
            let event = Int.random(in: 0..<100, using: &random)
            switch event {
            case 0..<50: walk()
            case 50..<80: use(for: draw(0, 900))
            case 80..<88: interfere()
            case 88..<96: restart()
            default: switchAdapterOff()
            }
            left -= total - start
        }
        if left > 0 { pass(left) }
    }

    // MARK: Episodes

    /// The jacket is moved, worn for a while at home, leaves, and comes back.
    private mutating func walk() {
        use(for: draw(10, 900), sleepsAfterwards: false)
        (isHome, moves) = (false, moves + 1)
        if isLinked {
            pass(draw(2, 20))
            end(.timeout)
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            pass(draw(1, 15))
            handle(.received(rssi: Int.random(in: -97 ... -82, using: &random)))
        }
        pass(draw(600, 40_000))
        (isHome, moves) = (true, moves + 1)
        if Int.random(in: 0..<3, using: &random) == 0 {
            handle(.received(rssi: Int.random(in: -92 ... -60, using: &random)))
        }
        pass(draw(2, 60))
        connect()
        use(for: draw(0, 1_800))
    }

    /// The jacket is moved or touched: it wakes, and is connected. Gestures keep it awake.
    private mutating func use(for time: Double, sleepsAfterwards: Bool = true) {
        if !isLinked {
            pass(draw(1, 6))
            handle(.received(rssi: Int.random(in: -78 ... -40, using: &random)))
            connect()
        }
        var rest = time
        while rest > 0 {
            // A worn jacket that nobody touches for ten minutes ends its link, and is connected at the next step.
            let pause = min(rest, draw(5, 700))
            if pause >= 600 {
                pass(600)
                end(.remote, idle: 600)
                pass(draw(2, 10))
                connect()
            } else {
                pass(pause)
            }
            idle = pause >= 600 ? 0 : pause
            rest -= pause
        }
        guard sleepsAfterwards else { return }
        pass(600)
        end(.remote, idle: 600)
    }

    /// The time since the last message at the end of ``use(for:sleepsAfterwards:)``.
    private var idle = 0.0

    /// The link breaks at home. The tag is connected again in its minute of advertising, almost always.
    private mutating func interfere() {
        use(for: draw(0, 120), sleepsAfterwards: false)
        end(.timeout)
        if Int.random(in: 0..<50, using: &random) == 0 { return }
        pass(draw(1, 40))
        use(for: draw(0, 120))
    }

    /// The bridge starts again. A tag that was linked advertises for a minute.
    private mutating func restart() {
        let wasLinked = isLinked
        isLinked = false
        let pause = draw(3, 600)
        let stored = presence.stored
        // Meanwhile the retained state stays as it is.
        account(pause)
        now = now + .milliseconds(Int(pause * 1_000))
        presence = Presence(awayAfter: .seconds(120), stored: stored, at: now)
        if wasLinked, pause < 55 { use(for: 10) }
    }

    private mutating func switchAdapterOff() {
        let wasLinked = isLinked
        isLinked = false
        handle(.adapterOff)
        let pause = draw(3, 1_800)
        pass(pause)
        handle(.adapterOn)
        if wasLinked, pause < 55 { use(for: 10) }
    }

    // MARK: Events and time

    private mutating func connect() {
        isLinked = true
        handle(.linkUp)
    }

    private mutating func end(_ end: LinkEnd, idle: Double? = nil) {
        isLinked = false
        let rssi = isHome ? Int.random(in: -79 ... -40, using: &random) : Int.random(in: -92 ... -45, using: &random)
        handle(.linkEnded(hasReasons ? end : nil, idle: .seconds(idle ?? self.idle), rssi: rssi))
    }

    private mutating func handle(_ event: Presence.Event) {
        _ = presence.handle(event, at: now)
        note()
    }

    private mutating func pass(_ seconds: Double) {
        let end = now + .milliseconds(Int(seconds * 1_000))
        while let deadline = presence.deadline, deadline <= end.instant {
            let step = deadline - now.instant
            account(Double(step.components.seconds) + Double(step.components.attoseconds) / 1e18)
            now = now + step
            _ = presence.deadlineReached(at: now)
            note()
        }
        let step = end.instant - now.instant
        account(Double(step.components.seconds) + Double(step.components.attoseconds) / 1e18)
        now = end
    }

    private var seemsHome: Bool? {
        switch presence.state {
        case .here, .asleep: true
        case .gone: false
        case .unknown: nil
        }
    }

    private mutating func account(_ seconds: Double) {
        total += seconds
        if seemsHome != isHome { wrong += seconds }
    }

    private mutating func note() {
        if let wasHome, let seemsHome, wasHome != seemsHome { changes += 1 }
        wasHome = seemsHome ?? wasHome
    }

    private mutating func draw(_ low: Double, _ high: Double) -> Double {
        Double.random(in: low...high, using: &random)
    }
}
