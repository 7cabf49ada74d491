extension TagSession {
    /// A characteristic notified a value.
    public mutating func received(
        _ value: [UInt8], on characteristic: TagCharacteristic, at now: ContinuousClock.Instant
    ) -> [Action] {
        switch characteristic {
        case .notify:
            let lost = link.notifications.lostPackets
            let outcome = link.notifications.receive(value)
            let news = lost == link.notifications.lostPackets ? [] : [Action.emit(.fragmentsLost)]
            guard case .packet(let packet) = outcome else { return news }
            return news + notified(packet, at: now)
        case .response:
            let lost = link.responses.lostPackets
            let outcome = link.responses.receive(value)
            let news = lost == link.responses.lostPackets ? [] : [Action.emit(.fragmentsLost)]
            guard case .packet(let packet) = outcome else { return news }
            return news + answered(packet, at: now)
        case .command, .rawData: return []
        }
    }

    /// A notification is known by the bodies that it has, never by domain and opcode, as both SDKs do it.
    private mutating func notified(_ packet: ArraySlice<UInt8>, at now: ContinuousClock.Instant) -> [Action] {
        guard let notification = try? Notification.decode(packet) else { return [] }
        var actions: [Action] = []
        if let data = notification.dataChannel {
            if let gesture = data.gesture { actions.append(.emit(.gesture(gesture))) }
            if let touch = data.touch { actions.append(.emit(.touch(touch))) }
        }
        if let status = notification.batteryStatus?.status { actions.append(.emit(.battery(status))) }
        if let attached = notification.attached {
            actions += gearChanged(to: attached.gear(in: catalogue), at: now)
        }
        return actions
    }

    // MARK: Gear

    private mutating func gearChanged(to gear: Component?, at now: ContinuousClock.Instant) -> [Action] {
        link.gear = gear
        link.isGearKnown = true
        link.gearDeadline = nil
        guard let gear, isConnected else { return [.emit(.gear(gear))] }
        setUp(gear)
        return [.emit(.gear(gear))] + sendNext(at: now)
    }

    /// What the SDK does with every new gear: gesture mode in two requests, then its details. Gear that the catalogue does
    /// not know is set up too: its gestures come all the same.
    mutating func setUp(_ gear: Component) {
        link.requests.enqueue(
            .touchMode(.gesture, component: gear.componentID), for: .gearTouchMode(component: gear.componentID),
            timeout: timing.request)
    }

    mutating func didSetGestureMode(_ component: UInt32) -> [Action] {
        guard component == link.gear?.componentID else { return [] }
        link.requests.enqueue(
            .deviceInformation(ofGear: component), for: .gearInformation(component: component),
            timeout: timing.request)
        return [.emit(.touchMode(.gesture))]
    }

    mutating func didLearn(_ information: DeviceInfoResponse, of component: UInt32) -> [Action] {
        guard component == link.gear?.componentID else { return [] }
        link.gear?.version = information.firmware
        link.gear?.uuid = information.uuid
        return [.emit(.gear(link.gear))]
    }

    mutating func gearAnnouncementMissed(at now: ContinuousClock.Instant) -> [Action] {
        guard let due = link.gearDeadline, due <= now else { return [] }
        return gearChanged(to: nil, at: now)
    }
}
