import JacquardProtocol
import Testing
import Time

@testable import Bridge

/// A transcript line: a gesture at a time in milliseconds, or the time alone, and the events that follow.
private enum Line {
    case made(Gesture, at: Int, [String])
    case time(Int, [String])
}

@Suite("Chords of one tag")
struct ChordProgressTests {
    private static let tapIn = Chord(name: "tap_in", of: [.doubleTap, .brushIn], within: .milliseconds(800))
    private static let inOut = Chord(name: "in_out", of: [.brushIn, .brushOut], within: .milliseconds(800))
    private static let tapInOut = Chord(
        name: "tap_in_out", of: [.doubleTap, .brushIn, .brushOut], within: .milliseconds(1_500))
    private static let twice = Chord(name: "twice", of: [.doubleTap, .doubleTap], within: .milliseconds(800))
    private static let thrice = Chord(
        name: "thrice", of: [.doubleTap, .doubleTap, .doubleTap], within: .milliseconds(1_600))
    private static let four = Chord(
        name: "four", of: [.shortCover, .doubleTap, .brushIn, .brushOut], within: .milliseconds(1_000))

    private static func exclusive(_ chord: Chord) -> Chord {
        var chord = chord
        chord.isExclusive = true
        return chord
    }

    /// Feeds the lines, and compares what each one publishes. Numbers the gestures as the tag's counters do.
    private func run(_ chords: [Chord], _ lines: [Line], sourceLocation: SourceLocation = #_sourceLocation) {
        var progress = ChordProgress(chords)
        var last: UInt64 = 0
        for line in lines {
            switch line {
            case .made(let gesture, let time, let expected):
                last += 1
                let at = Timestamp(instant: Instant(sinceBoot: .milliseconds(time)), unixMilliseconds: Int64(time))
                let (events, completed) = progress.made(MadeGesture(gesture: gesture, sequence: last, at: at))
                last += UInt64(completed.count)
                #expect(events.map(\.line) == expected, "gesture at \(time)", sourceLocation: sourceLocation)
            case .time(let time, let expected):
                let events = progress.release(at: Instant(sinceBoot: .milliseconds(time)))
                #expect(events.map(\.line) == expected, "\(time)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("follow the last of their gestures, which are published at once")
    func simple() {
        run(
            [Self.tapIn],
            [
                .made(.doubleTap, at: 0, ["1@0"]),
                .made(.brushIn, at: 500, ["2@500", "tap_in 3@500 of [1, 2]"]),
                .made(.brushIn, at: 600, ["4@600"]),
                .made(.brushIn, at: 700, ["5@700"]),
            ])
    }

    @Test(
        "have a limit that is inclusive, to the millisecond",
        arguments: [(799, true), (800, true), (801, false)])
    func limit(time: Int, isComplete: Bool) {
        run(
            [Self.tapIn],
            [
                .made(.doubleTap, at: 0, ["1@0"]),
                .made(.brushIn, at: time, ["2@\(time)"] + (isComplete ? ["tap_in 3@\(time) of [1, 2]"] : [])),
            ])
    }

    @Test("measure from the first gesture to the last")
    func limitOfFour() {
        for (end, isComplete) in [(1_000, true), (1_001, false)] {
            run(
                [Self.four],
                [
                    .made(.shortCover, at: 0, ["1@0"]),
                    .made(.doubleTap, at: 400, ["2@400"]),
                    .made(.brushIn, at: 800, ["3@800"]),
                    .made(.brushOut, at: end, ["4@\(end)"] + (isComplete ? ["four 5@\(end) of [1, 2, 3, 4]"] : [])),
                ])
        }
    }

    @Test("are broken by another gesture", arguments: [Gesture.shortCover, .brushOut, Gesture(rawValue: 99)])
    func broken(other: Gesture) {
        run(
            [Self.tapIn],
            [
                .made(.doubleTap, at: 0, ["1@0"]), .made(other, at: 100, ["2@100"]),
                .made(.brushIn, at: 200, ["3@200"]),
            ])
    }

    @Test("can begin again with each gesture")
    func again() {
        run(
            [Self.tapIn],
            [
                .made(.doubleTap, at: 0, ["1@0"]), .made(.doubleTap, at: 700, ["2@700"]),
                .made(.brushIn, at: 1_400, ["3@1400", "tap_in 4@1400 of [2, 3]"]),
            ])
    }

    @Test("that overlap are each published, in the order of the configuration")
    func overlapping() {
        run(
            [Self.inOut, Self.tapIn, Self.tapInOut],
            [
                .made(.doubleTap, at: 0, ["1@0"]),
                .made(.brushIn, at: 500, ["2@500", "tap_in 3@500 of [1, 2]"]),
                .made(.brushOut, at: 900, ["4@900", "in_out 5@900 of [2, 4]", "tap_in_out 6@900 of [1, 2, 4]"]),
            ])
    }

    @Test("count each gesture once for each chord")
    func repetition() {
        run(
            [Self.twice, Self.thrice],
            [
                .made(.doubleTap, at: 0, ["1@0"]),
                .made(.doubleTap, at: 300, ["2@300", "twice 3@300 of [1, 2]"]),
                .made(.doubleTap, at: 600, ["4@600", "thrice 5@600 of [1, 2, 4]"]),
                .made(.doubleTap, at: 900, ["6@900", "twice 7@900 of [4, 6]"]),
            ])
    }

    @Test("that are exclusive hold their gestures back, and replace them")
    func exclusive() {
        run(
            [Self.exclusive(Self.tapIn)],
            [
                .made(.doubleTap, at: 0, []),
                .time(800, []),
                .made(.brushIn, at: 800, ["tap_in 3@800 of [1, 2]"]),
                .made(.brushIn, at: 900, ["4@900"]),
            ])
    }

    @Test("that are exclusive release a gesture after their time, with the time at which it was made")
    func late() {
        run(
            [Self.exclusive(Self.tapIn)],
            [
                .made(.doubleTap, at: 0, []), .time(800, []), .time(801, ["1@0"]),
                .made(.brushIn, at: 801, ["2@801"]),
            ])
        run([Self.exclusive(Self.tapIn)], [.made(.doubleTap, at: 0, []), .made(.brushIn, at: 801, ["1@0", "2@801"])])
    }

    @Test("that are exclusive release a gesture at once, in order, when another one follows")
    func released() {
        run(
            [Self.exclusive(Self.tapInOut)],
            [
                .made(.doubleTap, at: 0, []), .made(.brushIn, at: 100, []),
                .made(.shortCover, at: 200, ["1@0", "2@100", "3@200"]),
                .made(.doubleTap, at: 300, []), .made(.doubleTap, at: 400, ["4@300"]),
                .time(1_900, []), .time(1_901, ["5@400"]),
            ])
    }

    @Test("that are exclusive and begin alike are published in order")
    func exclusiveOverlapping() {
        let chords = [Self.exclusive(Self.tapIn), Self.exclusive(Self.tapInOut)]
        run(
            chords,
            [
                .made(.doubleTap, at: 0, []), .made(.brushIn, at: 100, ["tap_in 3@100 of [1, 2]"]),
                .made(.brushOut, at: 200, ["tap_in_out 5@200 of [1, 2, 4]"]),
            ])
        run(
            chords,
            [
                .made(.doubleTap, at: 0, []), .made(.brushIn, at: 100, ["tap_in 3@100 of [1, 2]"]),
                .made(.brushOut, at: 1_501, ["4@1501"]),
            ])
    }

    @Test("that are not exclusive wait for a gesture that an exclusive one holds back")
    func mixed() {
        run(
            [Self.tapIn, Self.exclusive(Self.tapInOut)],
            [
                .made(.doubleTap, at: 0, []), .made(.brushIn, at: 100, []),
                .made(.brushOut, at: 200, ["tap_in 3@100 of [1, 2]", "tap_in_out 5@200 of [1, 2, 4]"]),
                .made(.doubleTap, at: 1_000, []), .made(.brushIn, at: 1_100, []),
                .time(2_500, []), .time(2_501, ["6@1000", "7@1100", "tap_in 8@1100 of [6, 7]"]),
            ])
    }

    @Test("lose no gesture and keep the order, whatever is made when")
    func random() {
        var generator = SplitMix(seed: 7)
        let chords = [Self.tapIn, Self.exclusive(Self.tapInOut), Self.exclusive(Self.twice), Self.inOut, Self.four]
        let gestures: [Gesture] = [.doubleTap, .brushIn, .brushOut, .shortCover]
        for _ in 0..<200 {
            var progress = ChordProgress(chords)
            var (last, time, events) = (UInt64(0), 0, [GestureEvent]())
            for _ in 0..<50 {
                time += Int(generator.next() % 900)
                events += progress.release(at: Instant(sinceBoot: .milliseconds(time)))
                let at = Timestamp(instant: Instant(sinceBoot: .milliseconds(time)), unixMilliseconds: Int64(time))
                let gesture = gestures[Int(generator.next() % 4)]
                let result = progress.made(MadeGesture(gesture: gesture, sequence: last + 1, at: at))
                last += 1 + UInt64(result.completed.count)
                events += result.events
            }
            events += progress.releaseAll()
            let sequences = events.map(\.sequence)
            #expect(sequences == sequences.sorted())
            let contained = events.flatMap { event -> [UInt64] in
                if case .chord(_, let of, let sequence, _) = event { of + [sequence] } else { [event.sequence] }
            }
            #expect(Set(contained) == Set(1...last))
        }
    }
}

extension GestureEvent {
    /// A gesture as `1@0`, a chord as `name 3@500 of [1, 2]`, with the time in milliseconds.
    fileprivate var line: String {
        switch self {
        case .gesture(let made): "\(made.sequence)@\(made.at.unixMilliseconds)"
        case .chord(let name, let of, let sequence, let at): "\(name) \(sequence)@\(at.unixMilliseconds) of \(of)"
        }
    }
}
