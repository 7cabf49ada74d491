import JacquardProtocol
import Time

/// The touch mode `slide` of a tag that has used it.
struct SlideState: Sendable {
    /// Whether the latest change of the touch mode asks for `slide`.
    var isRequested = false
    /// Whether the gear streams for it.
    private(set) var isOn = false
    /// Whether it is switched on again after the link was lost.
    private var isKept = false
    /// After which time without a touch it ends.
    var idle: Duration {
        didSet { if isOn, isRequested { idleAt? += idle - oldValue } }
    }
    /// When it ends, or the attempt to end it is repeated.
    private var idleAt: Instant?
    private var machine = SlideMachine()

    /// The pause before another attempt to end it.
    private static let repetition = Duration.seconds(60)

    init(idle: Duration) {
        self.idle = idle
    }

    /// Whether to switch it on again after the link was lost: the session sets the gear to gestures at each connection.
    var isToBeResumed: Bool { isRequested && isKept && !isOn }

    /// When to call ``due(isConnected:at:)``; nil if it is off.
    var deadline: Instant? {
        var deadline = idleAt
        deadline.lower(to: machine.deadline)
        return deadline
    }

    /// Handles a touch mode that the gear has confirmed.
    mutating func confirmed(_ mode: TouchMode, at now: Instant) -> [SlideMachine.Event] {
        let isNew = mode == .continuous && isRequested
        guard isNew != isOn else {
            if isOn {
                idleAt = now + idle
            } else if !isRequested {
                stopKeeping()
            }
            return []
        }
        isOn = isNew
        guard isOn else {
            if !isRequested { stopKeeping() }
            return machine.end()
        }
        isKept = true
        idleAt = now + idle
        return []
    }

    /// Handles a sample.
    mutating func sampled(_ touch: TouchData, at now: Instant) -> [SlideMachine.Event] {
        let events = machine.handle(touch, at: now)
        if machine.isTouched, isRequested { idleAt = now + idle }
        return events
    }

    /// Handles elapsed time.
    ///
    /// - Returns: what the finger does, and whether to set the gear to gestures.
    mutating func due(isConnected: Bool, at now: Instant) -> (events: [SlideMachine.Event], ends: Bool) {
        let events = machine.deadlineReached(at: now)
        guard let idleAt, idleAt <= now else { return (events, false) }
        return (events, end(isConnected: isConnected, at: now))
    }

    /// Decides to end it.
    ///
    /// - Returns: whether to set the gear to gestures.
    mutating func end(isConnected: Bool, at now: Instant) -> Bool {
        let ends = isOn && isConnected
        isRequested = false
        isKept = false
        // A refused change is repeated.
        idleAt = ends ? now + Self.repetition : nil
        return ends
    }

    /// Handles the end of the link, or of the tag: the finger is gone.
    mutating func interrupted() -> [SlideMachine.Event] { machine.end() }

    /// Handles gear that was taken off: other gear begins with gestures.
    mutating func detached() -> [SlideMachine.Event] {
        isRequested = false
        isOn = false
        stopKeeping()
        return machine.end()
    }

    private mutating func stopKeeping() {
        isKept = false
        idleAt = nil
    }
}
