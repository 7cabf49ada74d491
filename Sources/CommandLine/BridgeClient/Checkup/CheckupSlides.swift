import Bridge
import JSON
import JacquardProtocol
import Text
import Time

/// The slides of a finger that a checkup has seen, found as in the touch mode `slide`.
struct CheckupSlides: Sendable {
    private var machine = SlideMachine()
    /// The first place of the present slide.
    private var first: Int?
    /// The first and the last place of each slide.
    private(set) var places: [(first: Int, last: Int)] = []
    private(set) var samples = 0

    /// How many the checkup asks for.
    static let wanted = 10
    /// A touch is a slide if its ends differ by so much.
    private static let shortest = 20

    /// Handles a message of the topic `touch`.
    mutating func add(_ message: JSONValue, at now: Instant) {
        let values = [message["proximity"]] + (message["lines"]?.elements ?? []).map(Optional.some)
        let scaled = values.compactMap { $0?.integer.flatMap(UInt8.init(exactly:)) }
        guard let sample = TouchData(sequence: 0, scaled: scaled) else { return }
        samples += 1
        for event in machine.handle(sample, at: now) { add(event) }
    }

    private mutating func add(_ event: SlideMachine.Event) {
        switch event.phase {
        case .begin: first = event.position
        case .move, .hold: break
        case .end:
            guard let first else { return }
            self.first = nil
            if abs(event.position - first) >= Self.shortest { places.append((first, event.position)) }
        }
    }

    /// The result, for people.
    var text: String {
        let all = places.flatMap { [$0.first, $0.last] }
        guard let least = all.min(), let most = all.max() else { return "no slide in \(counted(samples, "sample"))" }
        return
            "\(counted(places.count, "slide")) between \(least) and \(most) of 100, \(counted(samples, "sample"))"
    }
}
