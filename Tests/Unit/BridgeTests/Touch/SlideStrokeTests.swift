import Foundation
import JacquardProtocol
import Testing
import Time

@testable import Bridge

/// Synthetic hands and worn cloth: they differ in place, speed, width and strength, and 15 % of the samples are lost. The same
/// for each run.
private struct Hands {
    struct Sample {
        let at: Duration
        let lines: [UInt8]
        /// The true place, 0 to 100; nil for cloth.
        let place: Double?
    }

    private var random = SplitMix(seed: 7)

    private static let rate = 25.0
    private static let loss = 0.15

    /// The place over the time from 0 to 1, and the duration in seconds.
    static let strokes: [Stroke] = [
        Stroke(name: "brush in", seconds: 0.5) { 1 + 9 * $0 }, Stroke(name: "brush out", seconds: 0.5) { 10 - 9 * $0 },
        Stroke(name: "there and back", seconds: 1.2) { 2 + 7 * (1 - abs(2 * $0 - 1)) },
        Stroke(name: "sweep and hold", seconds: 1.4) { 2 + 7 * min(1, 2 * $0) },
        Stroke(name: "zigzag", seconds: 1.2) { 3 + 5 * abs(2 * ((1.5 * $0).truncatingRemainder(dividingBy: 1)) - 1) },
    ]

    struct Stroke: Sendable {
        let name: String
        let seconds: Double
        let place: @Sendable (Double) -> Double
    }

    struct User {
        let speed: Double
        let place: Double
        let height: Double
        let width: Double
    }

    mutating func user() -> User {
        User(
            speed: exp(normal(0.2)), place: normal(0.7), height: uniform(70...125), width: uniform(0.7...1.4))
    }

    mutating func perform(_ stroke: Stroke, by user: User) -> [Sample] {
        let duration = stroke.seconds * user.speed * exp(normal(0.12))
        let (place, height) = (user.place + normal(0.4), user.height * exp(normal(0.12)))
        let (width, bend) = (user.width * exp(normal(0.08)), uniform(-0.25...0.25))
        return samples(duration) { time in
            let at = stroke.place(time + bend * time * (1 - time)) + place
            return ((0..<12).map { Self.blob(at, width, height, line: $0) }, min(max(at, 0), 11) * 100 / 11)
        }
    }

    /// Folds of worn cloth, wide and slow, or a knock.
    mutating func cloth() -> [Sample] {
        let folds = (0..<Int(random.next() % 3) + 1).map { _ in
            (
                at: uniform(0...11), drift: normal(4), width: uniform(1...4), height: uniform(20...110),
                shape: uniform(0.5...1.5)
            )
        }
        return samples(uniform(0.3...2)) { time in
            let lines = (0..<12).map { line in
                folds.reduce(0.0) { sum, fold in
                    sum
                        + Self.blob(
                            fold.at + fold.drift * time, fold.width,
                            fold.height * pow(max(0, sin(.pi * time)), fold.shape), line: line)
                }
            }
            return (lines, nil)
        }
    }

    private mutating func samples(_ seconds: Double, _ image: (Double) -> ([Double], Double?)) -> [Sample] {
        let count = max(6, Int(seconds * Self.rate))
        return (0..<count).compactMap { index in
            let isLost = uniform(0...1) < Self.loss
            guard !isLost || index == 0 || index == count - 1 else { return nil }
            let (lines, place) = image(Double(index) / Double(count - 1))
            let noisy = lines.map { UInt8(min(max(($0 + normal(3)).rounded(), 0), 128)) }
            return Sample(at: .milliseconds(index * 40), lines: noisy, place: place)
        }
    }

    private static func blob(_ at: Double, _ width: Double, _ height: Double, line: Int) -> Double {
        height * exp(-(Double(line) - at) * (Double(line) - at) / (2 * width * width))
    }

    private mutating func uniform(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }

    private mutating func normal(_ deviation: Double) -> Double {
        let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &random))).squareRoot()
        return deviation * radius * cos(2 * .pi * uniform(0...1))
    }
}

@Suite("Slides of synthetic hands")
struct SlideStrokeTests {
    private static let start = Instant(sinceBoot: .seconds(100))

    /// The events of a touch, and the differences between the places of events and the true ones.
    private static func play(
        _ samples: [Hands.Sample], on machine: inout SlideMachine, at start: Instant
    ) -> (events: [SlideMachine.Event], errors: [Double]) {
        var (events, errors): ([SlideMachine.Event], [Double]) = ([], [])
        for sample in samples {
            let new = machine.handle(.sample(sample.lines), at: start + sample.at)
            if let place = sample.place { errors += new.map { abs(Double($0.position) - place) } }
            events += new
        }
        let end = start + (samples.last?.at ?? .zero)
        for untouched in 1...10 {
            let lines = [UInt8](repeating: 0, count: 12)
            events += machine.handle(.sample(lines), at: end + .milliseconds(40 * untouched))
        }
        return (events, errors)
    }

    @Test("are one begin and one end each; 90 % of the places are wrong by less than 8 of 100")
    func strokes() {
        var hands = Hands()
        var machine = SlideMachine()
        var errors: [Double] = []
        var (strokes, missed) = (0, 0)
        for user in (0..<20).map({ _ in hands.user() }) {
            for stroke in Hands.strokes {
                for _ in 0..<5 {
                    let (samples, name) = (hands.perform(stroke, by: user), stroke.name)
                    let played = Self.play(samples, on: &machine, at: Self.start + .seconds(10 * strokes))
                    let phases = played.events.map(\.phase)
                    strokes += 1
                    if phases.isEmpty { missed += 1 }
                    #expect(phases.isEmpty || (phases.first == .begin && phases.last == .end), "\(name): \(phases)")
                    #expect(phases.filter { $0 == .begin || $0 == .end }.count <= 2, "\(name): \(phases)")
                    let places = played.events.map(\.position)
                    #expect(played.events.map(\.delta).reduce(0, +) == (places.last ?? 0) - (places.first ?? 0))
                    errors += played.errors
                }
            }
        }
        let sorted = errors.sorted()
        #expect(sorted[sorted.count * 9 / 10] < 8, "median \(sorted[sorted.count / 2])")
        #expect(missed * 200 <= strokes, "\(missed) of \(strokes)")
    }

    @Test("worn cloth that touches the lines twelve times an hour begins less than one slide an hour")
    func cloth() {
        var hands = Hands()
        var machine = SlideMachine()
        let (hours, folds) = (500, 12)
        var begins = 0
        for hour in 0..<hours {
            for fold in 0..<folds {
                let at = Self.start + .seconds(3_600 * hour + 300 * fold)
                begins += Self.play(hands.cloth(), on: &machine, at: at).events.count { $0.phase == .begin }
            }
        }
        #expect(begins < hours, "\(begins) in \(hours) hours")
    }
}
