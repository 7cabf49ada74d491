import Testing
import Time

@Suite("Instants")
struct InstantTests {
    private let start = Instant(sinceBoot: .seconds(3_600))

    @Test("can be shifted by durations, and their difference is one")
    func arithmetic() {
        var later = start + .milliseconds(1_500)
        #expect(later == Instant(sinceBoot: .milliseconds(3_601_500)))
        #expect(later - start == .milliseconds(1_500))
        #expect(start - later == .milliseconds(-1_500))
        #expect(later - .milliseconds(1_500) == start)
        later += .seconds(1)
        #expect(later - start == .milliseconds(2_500))
    }

    @Test("are ordered by time, to the attosecond")
    func order() {
        let next = start + Duration(secondsComponent: 0, attosecondsComponent: 1)
        #expect(start < next)
        #expect(!(next < start))
        #expect(!(start < start))
    }

    @Test(
        "as deadlines become the earlier of two; nil is never",
        arguments: [(nil, nil, nil), (nil, 2, 2), (2, nil, 2), (2, 1, 1), (1, 2, 1), (1, 1, 1)] as [(Int?, Int?, Int?)])
    func lower(deadline: Int?, other: Int?, earliest: Int?) {
        func instant(_ seconds: Int?) -> Instant? { seconds.map { start + .seconds($0) } }
        var lowered = instant(deadline)
        lowered.lower(to: instant(other))
        #expect(lowered == instant(earliest))
    }
}

@Suite("Durations as whole numbers")
struct DurationUnitsTests {
    @Test(
        "are rounded towards zero",
        arguments: [
            (.zero, 0, 0), (.seconds(2), 2_000_000, 2_000), (.microseconds(1_999), 1_999, 1),
            (.nanoseconds(999), 0, 0), (.nanoseconds(-1_999_999), -1_999, -1),
            (.milliseconds(-2_500), -2_500_000, -2_500),
        ] as [(Duration, Int64, Int64)])
    func rounding(duration: Duration, microseconds: Int64, milliseconds: Int64) {
        #expect(duration.microseconds == microseconds)
        #expect(duration.milliseconds == milliseconds)
    }

    @Test(
        "end at the limits of the number",
        arguments: [
            (.seconds(Int64.max), 0, .max), (.seconds(Int64.min), 0, .min),
            (.seconds(9_223_372_036_854), 775_807, .max),
            (.seconds(9_223_372_036_854), 775_808, .max), (.seconds(-9_223_372_036_854), -775_809, .min),
        ] as [(Duration, Int64, Int64)])
    func limits(seconds: Duration, more: Int64, microseconds: Int64) {
        #expect((seconds + Duration.microseconds(more)).microseconds == microseconds)
    }
}
