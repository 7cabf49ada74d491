import JacquardProtocol

/// An action of a person with a tag.
public enum TagAction: Hashable, Sendable {
    /// Makes gestures or touches.
    case play(Burst)
    /// Sets the battery level; charging is unchanged where nil.
    case battery(level: UInt8, isCharging: Bool?)
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

extension Firmware {
    /// Performs an action that takes no time and needs no radio; ``TagAction/play(_:)`` and ``TagAction/range(isIn:)`` do.
    ///
    /// - Returns: what is to be done.
    /// - Throws: ``FirmwareError`` when the action is impossible now.
    public mutating func execute(_ action: TagAction) throws(FirmwareError) -> [FirmwareAction] {
        switch action {
        case .battery(let level, let isCharging):
            return setBattery(
                BatteryStatus(level: UInt32(level), isCharging: isCharging ?? battery.isCharging))
        case .attach(let gear): return attach(gear)
        case .detach: return try detach()
        case .sleep: return sleep()
        case .button, .move: return pressButton()
        case .fault(nil, _): faults = FirmwareFaults()
        case .fault(let fault, let isOnce): (faults.answer, faults.isOnce) = (fault, isOnce)
        case .refusesWrites: faults.refusesWriteWithResponse = true
        case .storeSession(let name, let count): store(MotionSessionID(session: name), sampleCount: count)
        case .motionFault(let fault): faults.motion = fault
        case .play, .range, .carry: break
        }
        return []
    }
}
