extension TagSession {
    mutating func gearChanged(to gear: Component?, at now: ContinuousClock.Instant) -> [Action] {
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
