import JacquardProtocol
import Time

/// The LEDs of a tag and of its gear.
struct TagLights: Sendable {
    private(set) var tag = LEDState()
    private(set) var gear = LEDState()

    subscript(target: TagCommand.Target) -> LEDState {
        get { target == .tag ? tag : gear }
        _modify { if target == .tag { yield &tag } else { yield &gear } }
    }

    /// When a pattern of the tag or the gear ends; nil if none does.
    var deadline: Instant? {
        var deadline = tag.offAt
        deadline.lower(to: gear.offAt)
        return deadline
    }

    /// Handles elapsed time.
    ///
    /// - Returns: whether a pattern of the tag has ended.
    mutating func deadlineReached(at now: Instant) -> Bool {
        if let offAt = gear.offAt, offAt <= now { gear.turnOff() }
        guard let offAt = tag.offAt, offAt <= now else { return false }
        tag.turnOff()
        return true
    }
}
