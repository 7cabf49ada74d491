public import JacquardProtocol
public import Time

/// Finds the finger in the samples of the twelve lines, and the place to which it slides.
///
/// Pure: the driver passes samples, and calls ``deadlineReached(at:)`` at the ``deadline``. Each `begin` is followed by
/// exactly one `end`.
public struct SlideMachine: Hashable, Sendable {
    /// The phase of a slide.
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        case begin, move, hold, end
    }

    /// An event.
    public struct Event: Hashable, Sendable {
        /// The phase.
        public let phase: Phase
        /// The place, 0 (first line) to 100 (last line).
        public let position: Int
        /// The change of ``position`` since the event before.
        public let delta: Int
        /// The value of the strongest line, 0 to 100.
        public let strength: Int
    }

    /// The contact with the lines. A finger covers a few lines at once; folds of the worn cloth are wide, or grow slowly.
    private enum Contact: Hashable {
        case none
        /// Something touches the lines since this time, and the latest samples could be those of a finger.
        case unknown(since: Instant, fingerSamples: Int)
        /// Not a finger; ignored until it ends.
        case cloth
        case finger(Finger)
    }

    fileprivate struct Finger: Hashable {
        /// The latest place.
        var position: Int
        var strength: Int
        /// The strongest value of this touch.
        var peak: Int
        /// The place of the latest event, and when it was published.
        var published: Int
        var publishedAt: Instant
        /// The place from which a movement is measured, and when the finger was last somewhere else.
        var rest: Int
        var restSince: Instant
        var isHeld = false
    }

    private var contact = Contact.none
    /// When the latest sample was received.
    private var sampledAt: Instant?
    /// Since when no line is above the noise; nil while one is.
    private var quietSince: Instant?

    /// Creates a machine of untouched lines.
    public init() {}

    /// When to call ``deadlineReached(at:)``; nil while no finger is on the lines.
    public var deadline: Instant? {
        guard case .finger(let finger) = contact else { return nil }
        var deadline = quietSince.map { $0 + Self.pause }
        deadline.lower(to: sampledAt.map { $0 + Self.silence })
        if !finger.isHeld { deadline.lower(to: finger.restSince + Self.holdTime) }
        return deadline
    }

    /// Whether a finger is on the lines.
    public var isTouched: Bool { if case .finger = contact { true } else { false } }

    /// Handles a sample.
    public mutating func handle(_ sample: TouchData, at now: Instant) -> [Event] {
        let events = deadlineReached(at: now)
        if let sampledAt, now - sampledAt >= Self.silence { contact = .none }
        sampledAt = now
        guard let touch = LineTouch(sample.lines) else { return events + untouched(at: now) }
        quietSince = nil
        return events + touched(touch, at: now)
    }

    /// Handles elapsed time.
    public mutating func deadlineReached(at now: Instant) -> [Event] {
        guard case .finger(var finger) = contact else { return [] }
        let isQuiet = quietSince.map { now - $0 >= Self.pause } ?? false
        let isSilent = sampledAt.map { now - $0 >= Self.silence } ?? false
        if isQuiet || isSilent { return end() }
        guard !finger.isHeld, now - finger.restSince >= Self.holdTime else { return [] }
        finger.isHeld = true
        let event = finger.event(.hold, at: now)
        contact = .finger(finger)
        return [event]
    }

    /// Ends the touch, because samples no longer arrive.
    public mutating func end() -> [Event] {
        defer { (contact, quietSince, sampledAt) = (.none, nil, nil) }
        guard case .finger(var finger) = contact, let sampledAt else { return [] }
        return [finger.event(.end, at: sampledAt)]
    }

    private mutating func untouched(at now: Instant) -> [Event] {
        let since = quietSince ?? now
        quietSince = since
        if !isTouched, now - since >= Self.pause { contact = .none }
        return []
    }

    private mutating func touched(_ touch: LineTouch, at now: Instant) -> [Event] {
        switch contact {
        case .cloth: return []
        case .none:
            contact = .unknown(since: now, fingerSamples: touch.isFinger ? 1 : 0)
            return []
        case .unknown(let since, let count):
            let count = touch.isFinger ? count + 1 : 0
            contact = .unknown(since: since, fingerSamples: count)
            // The first of the samples that follow each other must be early.
            if count <= 1, now - since > Self.landing { contact = .cloth }
            guard count >= Self.fingerSamples else { return [] }
            var finger = Finger(
                position: touch.position, strength: touch.strength, peak: touch.peak, published: touch.position,
                publishedAt: now, rest: touch.position, restSince: now)
            let event = finger.event(.begin, at: now)
            contact = .finger(finger)
            return [event]
        case .finger(var finger):
            finger.peak = max(finger.peak, touch.peak)
            // The place of a finger that is being lifted is wrong.
            if touch.peak * 2 >= finger.peak { finger.moved(to: touch, at: now) }
            // A move has the place of this sample: between two samples, the place is unknown.
            let isDue = finger.isMoved && now - finger.publishedAt >= Self.interval
            let events = isDue ? [finger.event(.move, at: now)] : []
            contact = .finger(finger)
            return events
        }
    }
}

extension SlideMachine {
    /// How long the lines are quiet after a touch.
    private static let pause = Duration.milliseconds(120)
    /// A touch ends if no sample arrives for this time.
    private static let silence = Duration.milliseconds(500)
    /// The shortest time between two moves.
    private static let interval = Duration.milliseconds(100)
    /// After this time without movement the finger holds.
    private static let holdTime = Duration.milliseconds(600)
    /// How long a finger takes to land: from the first value above the noise to one as strong as a finger.
    private static let landing = Duration.milliseconds(100)
    /// So many samples in a row are a finger.
    private static let fingerSamples = 3
    /// The smallest change of the place that is published.
    fileprivate static let step = 2
    /// A change of the place by so much ends a rest.
    fileprivate static let movement = 4
}

extension SlideMachine.Finger {
    /// Whether the place has changed since the latest event.
    fileprivate var isMoved: Bool { abs(position - published) >= SlideMachine.step }

    fileprivate mutating func moved(to touch: LineTouch, at now: Instant) {
        position = touch.position
        strength = touch.strength
        guard abs(position - rest) >= SlideMachine.movement else { return }
        (rest, restSince, isHeld) = (position, now, false)
    }

    /// Makes an event with the present place.
    fileprivate mutating func event(_ phase: SlideMachine.Phase, at now: Instant) -> SlideMachine.Event {
        defer { (published, publishedAt) = (position, now) }
        return SlideMachine.Event(
            phase: phase, position: position, delta: position - published, strength: strength)
    }
}

/// The touch in a sample of the lines.
private struct LineTouch {
    /// The strongest line.
    let peak: Int
    /// The weighted centre of the lines around the strongest one, 0 to 100.
    let position: Int
    /// The standard deviation of all lines above the noise around their centre, in lines.
    private let width: Double

    /// Values up to this one are noise.
    private static let noise = 12
    /// The centre is computed from so many lines on each side of the strongest one.
    private static let reach = 3
    /// The narrowest and the strongest that is a finger.
    private static let fingerPeak = 45
    private static let fingerWidth = 1.55

    /// - Returns: nil if all lines are at the level of noise.
    init?(_ lines: [UInt8]) {
        guard let peak = lines.max(), peak > Self.noise, lines.count > 1,
            let strongest = lines.firstIndex(of: peak)
        else { return nil }
        self.peak = Int(peak)
        let near = Self.centre(of: lines, in: strongest - Self.reach...strongest + Self.reach)
        position = Int((near.centre * 100 / Double(lines.count - 1)).rounded())
        width = Self.centre(of: lines, in: lines.indices.lowerBound...lines.indices.upperBound).width
    }

    /// 0 to 100.
    var strength: Int { (min(peak, 128) * 100 + 64) / 128 }

    /// Whether a finger may be the cause.
    var isFinger: Bool { peak >= Self.fingerPeak && width <= Self.fingerWidth }

    private static func centre(of lines: [UInt8], in range: ClosedRange<Int>) -> (centre: Double, width: Double) {
        var (weight, first, second) = (0.0, 0.0, 0.0)
        for (index, value) in lines.enumerated() where range.contains(index) && value > noise {
            let (at, value) = (Double(index), Double(value))
            weight += value
            first += value * at
            second += value * at * at
        }
        let centre = first / weight
        return (centre, max(0, second / weight - centre * centre).squareRoot())
    }
}
