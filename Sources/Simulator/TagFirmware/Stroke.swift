/// A finger that slides over the twelve lines, rests, and is lifted.
public struct Stroke: Hashable, Sendable {
    /// The first place, 0 to 100.
    public let from: Int
    /// The last place, 0 to 100.
    public let to: Int
    /// How long it slides.
    public let milliseconds: Int
    /// How long it rests at the end.
    public let rest: Int

    /// Samples a second, as in the SDK's continuous mode.
    private static let rate = 25
    /// The samples of untouched lines at the end.
    private static let untouched = 10

    /// Describes a stroke.
    public init(from: Int, to: Int, milliseconds: Int = 600, rest: Int = 0) {
        self.from = from
        self.to = to
        self.milliseconds = milliseconds
        self.rest = rest
    }

    /// The stroke as samples at their rate.
    public var burst: Burst {
        Burst(.slide(self), count: samples(in: milliseconds + rest) + Self.untouched, rate: Double(Self.rate))
    }

    /// The proximity and the twelve lines of a sample.
    func sample(_ index: Int) -> [UInt8] {
        guard index < samples(in: milliseconds + rest) else { return [UInt8](repeating: 0, count: 13) }
        let progress = min(1, Double(index) / Double(max(1, samples(in: milliseconds) - 1)))
        let place = (Double(from) + Double(to - from) * progress) * 11 / 100
        return [100] + (0..<12).map { line in UInt8(max(0, 110 - 45 * abs(Double(line) - place))) }
    }

    private func samples(in milliseconds: Int) -> Int { max(1, milliseconds * Self.rate / 1_000) }
}
