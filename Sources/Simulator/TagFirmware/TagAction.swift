import JacquardProtocol

/// An action of a person with a tag.
public enum TagAction: Hashable, Sendable {
    /// Makes gestures or touches.
    case play(Burst)
    /// Sets the battery level; charging is unchanged where nil.
    case battery(level: UInt8, isCharging: Bool?)
    /// Sends a packet as a notification, whatever it holds.
    case notify([UInt8])
    /// Attaches gear.
    case attach(SimulatedGear)
    /// Detaches the gear.
    case detach
    /// Carries the tag out of range, or back.
    case range(isIn: Bool)
    /// Carries the tag to a place, in metres.
    case carry(x: Double, y: Double)
    /// Puts the tag to sleep until its button is pressed.
    case sleep
    /// Presses the button, which wakes the tag.
    case button
    /// Moves the tag, which wakes it.
    case move
    /// Sets the fault of its responses; nil for none.
    case fault(FirmwareFaults.AnswerFault?, isOnce: Bool)
    /// Rejects writes with response.
    case refusesWrites
    /// Stores a session with so many samples.
    case storeSession(String, sampleCount: Int)
    /// Sets the fault of its motion data; nil for none.
    case motionFault(MotionFault?)
}
