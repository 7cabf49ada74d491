import Time

extension TagSession {
    /// Takes other names and capabilities of gear, also for gear that is attached now.
    public mutating func adopt(_ catalogue: GearCatalogue) -> [Action] {
        self.catalogue = catalogue
        guard let gear = link.gear.component else { return [] }
        var renamed = catalogue.component(
            vendorID: gear.vendor.id, productID: gear.product.id, componentID: gear.componentID)
        renamed.version = gear.version
        renamed.uuid = gear.uuid
        guard renamed != gear else { return [] }
        link.gear = .told(renamed)
        return [.emit(.gear(renamed))]
    }

    /// Gear was attached, or there is none.
    mutating func gearChanged(to gear: Component?, at now: Instant) -> [Action] {
        link.gear = .told(gear)
        let actions = [.emit(.gear(gear))] + withdrawRequestsToFormerGear()
        guard let gear, isConnected else { return actions }
        setUp(gear)
        return actions + sendNext(at: now)
    }

    /// What waits for gear that is no longer attached has nowhere to go, and a set-up has to begin anew.
    private mutating func withdrawRequestsToFormerGear() -> [Action] {
        let gear = link.gear
        let withdrawn = link.requests.withdraw { purpose in
            purpose.isGearSetUp || purpose.gear.map { !gear.isAttached($0) } ?? false
        }
        return withdrawn.compactMap { purpose in
            guard case .command(let token, _) = purpose else { return nil }
            return ended(token, .failure(.gearNotAttached))
        }
    }

    /// What the SDK does with every new gear: gesture mode in two requests, then its details. Gear that the catalogue does
    /// not know is set up too: its gestures come all the same.
    mutating func setUp(_ gear: Component) {
        link.requests.enqueue(
            .touchMode(.gesture, component: gear.componentID), for: .gearTouchMode(component: gear.componentID),
            timeout: timing.request)
    }

    mutating func didSetTouchMode(ofGear gear: UInt32, at now: Instant) -> [Action] {
        guard link.gear.isAttached(gear) else { return [] }
        link.requests.enqueueNext(
            .notificationQueueDepth(TouchMode.gesture.notificationQueueDepth), for: .gearQueueDepth(component: gear),
            timeout: timing.request)
        return touchModeConfirmed(.gesture, at: now)
    }

    mutating func didSetQueueDepth(forGear gear: UInt32) -> [Action] {
        guard link.gear.isAttached(gear) else { return [] }
        link.requests.enqueueNext(
            .deviceInformation(ofGear: gear), for: .gearInformation(component: gear), timeout: timing.request)
        return []
    }

    mutating func didLearn(_ information: DeviceInfoResponse, ofGear number: UInt32) -> [Action] {
        guard var gear = link.gear.component, gear.componentID == number else { return [] }
        gear.version = information.firmware
        gear.uuid = information.uuid
        link.gear = .told(gear)
        return [.emit(.gear(gear))]
    }

    mutating func gearAnnouncementMissed(at now: Instant) -> [Action] {
        guard let due = link.gear.deadline, due <= now else { return [] }
        return gearChanged(to: nil, at: now)
    }
}
