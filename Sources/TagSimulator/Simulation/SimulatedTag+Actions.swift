import JacquardProtocol

extension SimulatedTag {
    /// Does what a person wants of it.
    ///
    /// - Throws: ``FirmwareRefusal`` when it cannot be done now.
    public func execute(_ action: TagAction) throws(FirmwareRefusal) {
        switch action {
        case .play(let burst): try self.burst.begin(burst)
        case .range(let isIn): setInRange(isIn)
        default: try act { firmware, _ throws(FirmwareRefusal) in try firmware.execute(action) }
        }
    }
}

extension Firmware {
    fileprivate mutating func execute(_ action: TagAction) throws(FirmwareRefusal) -> [FirmwareAction] {
        switch action {
        case .battery(let level, let isCharging):
            return setBattery(
                BatteryStatus(level: UInt32(level), isCharging: isCharging ?? battery.isCharging))
        case .attach(let gear): return attach(gear)
        case .detach: return try detach()
        case .sleep: return sleep()
        case .button: return pressButton()
        case .fault(nil, _): faults = Faults()
        case .fault(let fault, let isOnce): (faults.answer, faults.isOnce) = (fault, isOnce)
        case .refusesWrites: faults.refusesWriteWithResponse = true
        case .play, .range: break
        }
        return []
    }
}
