import Time

extension TagSession {
    /// Replaces the gear catalogue. Attached gear is reported again if its description changes.
    public mutating func adopt(_ catalogue: GearCatalogue) -> [Action] {
        self.catalogue = catalogue
        guard let gear = link.gear.component else { return [] }
        var renamed = catalogue.component(
            vendorID: gear.vendor.id, productID: gear.product.id, componentID: gear.componentID)
        renamed.version = gear.version
        renamed.uuid = gear.uuid
        guard renamed != gear else { return [] }
        link.gear = .known(renamed)
        return [.emit(.gear(renamed))]
    }

    /// Handles attached gear; nil if there is none.
    mutating func gearChanged(to gear: Component?, at now: Instant) -> [Action] {
        link.gear = .known(gear)
        let actions = [.emit(.gear(gear))] + withdrawRequestsToFormerGear()
        guard let gear, isConnected else { return actions }
        setUp(gear)
        return actions + sendNext(at: now)
    }

    /// Removes waiting requests for gear that is no longer attached, and all set-up requests, which start again.
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

    /// Sets up new gear as the SDK does: gesture mode in two requests, then device information. This includes gear
    /// that is
    /// not in the catalogue, because it reports gestures too.
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
        link.gear = .known(gear)
        return [.emit(.gear(gear))]
    }

    mutating func gearAnnouncementMissed(at now: Instant) -> [Action] {
        guard let due = link.gear.deadline, due <= now else { return [] }
        return gearChanged(to: nil, at: now)
    }
}
