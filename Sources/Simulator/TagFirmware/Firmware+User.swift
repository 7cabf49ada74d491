public import JacquardProtocol
public import Time

/// The actions of a person with a tag.
extension Firmware {
    /// Makes a gesture on the gear.
    ///
    /// - Throws: ``FirmwareError`` without a connection or gear, or the gear reports touches instead.
    public mutating func gesture(
        _ gesture: Gesture, at now: Instant
    ) throws(FirmwareError) -> [FirmwareAction] {
        let gear = try reportingGear(in: .gesture)
        return report(DataChannelNotification(gesture), of: gear, at: now)
    }

    /// Touches the lines of the gear. The sequence number is the tag's own and grows with each sample.
    ///
    /// - Parameters:
    ///   - scaled: proximity and twelve lines, 0 to 128 each.
    ///   - now: the time.
    /// - Returns: what is to be done.
    /// - Throws: ``FirmwareError`` without a connection or gear, or the gear reports gestures instead.
    public mutating func touch(
        _ scaled: [UInt8], at now: Instant
    ) throws(FirmwareError) -> [FirmwareAction] {
        let gear = try reportingGear(in: .continuous)
        guard let touch = TouchData(sequence: touchSequence, scaled: scaled) else {
            throw FirmwareError("a touch has 13 values, proximity and twelve lines")
        }
        touchSequence &+= 1
        return report(DataChannelNotification(touch), of: gear, at: now)
    }

    /// Charges or drains the battery.
    public mutating func setBattery(_ status: BatteryStatus) -> [FirmwareAction] {
        battery = status
        return link?.isConfigured == true ? announcedBattery : []
    }

    /// The tag's own reports of its battery.
    var announcedBattery: [FirmwareAction] {
        announcesBattery ? notify(.batteryStatus(battery)) : []
    }

    /// Clips the tag into gear, out of other gear first if need be.
    public mutating func attach(_ gear: SimulatedGear) -> [FirmwareAction] {
        let detached = self.gear == nil ? [] : unclip()
        let notification = clip(into: gear)
        return detached + (link?.isConfigured == true ? notify(notification) : [])
    }

    /// Takes the tag out of its gear.
    ///
    /// - Throws: ``FirmwareError`` when it is in none.
    public mutating func detach() throws(FirmwareError) -> [FirmwareAction] {
        guard gear != nil else { throw FirmwareError("nothing is attached") }
        return unclip()
    }

    /// Sends the tag to sleep: it drops the link and does not advertise until its button is pressed.
    public mutating func sleep() -> [FirmwareAction] {
        guard link != nil else {
            life = .asleep
            return [.advertise(nil)]
        }
        link?.sleepsAfterwards = true
        return [.dropLink]
    }

    /// Presses the button, or moves the tag, which wakes it.
    public mutating func pressButton() -> [FirmwareAction] {
        guard isAsleep else { return [] }
        life = .advertising
        return [.advertise(advertisement)]
    }

    /// Remembers the gear under a new number.
    @discardableResult
    mutating func clip(into gear: SimulatedGear) -> Notification {
        let firstNumber: UInt32 = 101
        let attached = AttachedGear(gear: gear, componentID: firstNumber &+ attachments)
        attachments &+= 1
        self.gear = attached
        return attached.notification
    }

    private mutating func unclip() -> [FirmwareAction] {
        gear = nil
        var body = AttachedNotification()
        body.isAttached = false
        return link?.isConfigured == true ? notify(.attached(body)) : []
    }

    private func reportingGear(in mode: TouchMode) throws(FirmwareError) -> AttachedGear {
        guard let link else { throw FirmwareError("it is not connected") }
        guard link.subscriptions.contains(.notify) else {
            throw FirmwareError("nobody has subscribed to its notifications")
        }
        guard let gear else { throw FirmwareError("nothing is attached") }
        guard gear.touchMode == mode else {
            throw FirmwareError(
                mode == .gesture
                    ? "its gear is in continuous mode and reports touches" : "its gear reports gestures")
        }
        return gear
    }

    private mutating func report(
        _ body: DataChannelNotification, of gear: AttachedGear, at now: Instant
    ) -> [FirmwareAction] {
        link?.lastActivity = now
        // The distance of two samples on a real tag; only that it grows is known.
        ticks &+= 640
        var body = body
        body.timestampTicks = ticks
        return notify(.dataChannel(body, component: gear.componentID))
    }
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
        case .notify(let packet):
            guard link?.isConfigured == true else { throw FirmwareError("it is not connected") }
            return notify(packet, on: .notify)
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
