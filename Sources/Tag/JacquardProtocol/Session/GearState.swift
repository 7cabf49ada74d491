import Time

/// The gear attached to a tag, and its touch mode.
struct GearState: Sendable {
    private enum Knowledge {
        /// Nothing was reported.
        case unknown
        /// Nothing was reported. Without a report by this time, no gear is attached.
        case expected(by: Instant)
        /// The attached gear; nil if there is none.
        case known(Component?)
    }

    private let timing: TagSession.SharedTiming
    private var knowledge = Knowledge.unknown
    private var touchMode = TouchMode.gesture
    /// When the gear confirmed the touch mode; nil if the mode follows from values of the gear.
    private var touchModeConfirmedAt: Instant?
    /// The touch mode of the last request.
    private var requestedTouchMode = TouchMode.gesture
    /// Whether the gear may have another mode than ``touchMode``: it is new, or a request was not answered. A refusal of a
    /// later request confirms nothing.
    private var isTouchModeUncertain = false
    /// The mode of the latest request that was not answered; nil if there is none.
    private var unansweredTouchMode: TouchMode?
    /// The number of refusals since the latest request by the user or the set-up.
    private var refusals = 0
    /// When to repeat the request for ``requestedTouchMode``; nil if it is not to be repeated.
    private var touchModeDue: Instant?

    /// Creates the gear of a new link: nothing is known.
    init(timing: TagSession.SharedTiming) {
        self.timing = timing
    }

    /// The attached gear; nil if there is none or it was not reported.
    var component: Component? {
        if case .known(let component) = knowledge { component } else { nil }
    }

    /// When gear that was not reported counts as not attached; nil if it is known, or before the tag is connected.
    var announcementDeadline: Instant? {
        if case .expected(let deadline) = knowledge { deadline } else { nil }
    }

    /// When something is to be done about the gear; nil if nothing is.
    var deadline: Instant? { announcementDeadline ?? touchModeDue }

    /// Whether this component is attached now. Gear gets a new component id each time it is attached.
    func isAttached(_ componentID: UInt32) -> Bool {
        component?.componentID == componentID
    }

    /// Sets the time by which the tag must report gear, unless it is already known.
    mutating func expect(by deadline: Instant) {
        switch knowledge {
        case .unknown, .expected: knowledge = .expected(by: deadline)
        case .known: break
        }
    }

    /// Sets the attached gear; nil if there is none.
    mutating func change(to component: Component?) {
        knowledge = .known(component)
        touchModeIsCertain()
        isTouchModeUncertain = component != nil
    }

    /// Adds device information of this gear.
    ///
    /// - Returns: the gear; nil if it is no longer attached.
    mutating func describe(_ componentID: UInt32, _ information: DeviceInfoResponse) -> Component? {
        guard var gear = component, gear.componentID == componentID else { return nil }
        gear.version = information.firmware
        gear.uuid = information.uuid
        knowledge = .known(gear)
        return gear
    }

    /// Takes names and capabilities from another catalogue.
    ///
    /// - Returns: the gear if its description changes.
    mutating func adopt(_ catalogue: GearCatalogue) -> Component? {
        guard let gear = component else { return nil }
        var renamed = catalogue.component(
            vendorID: gear.vendor.id, productID: gear.product.id, componentID: gear.componentID)
        renamed.version = gear.version
        renamed.uuid = gear.uuid
        guard renamed != gear else { return nil }
        knowledge = .known(renamed)
        return renamed
    }

    /// Handles a new request for a touch mode, which replaces an earlier one.
    mutating func request(_ mode: TouchMode) {
        requestedTouchMode = mode
        touchModeDue = nil
        refusals = 0
    }

    /// Sets the touch mode that the gear has confirmed.
    mutating func confirm(_ mode: TouchMode, at now: Instant) {
        touchMode = mode
        touchModeConfirmedAt = now
        touchModeIsCertain()
    }

    /// Handles a failed request for a touch mode. Without an answer, the gear may have another mode than the reported
    /// one, for as long as it is not touched: the request is repeated until gear confirms a mode.
    mutating func failed(_ error: TagCommandError, _ mode: TouchMode, at now: Instant) {
        var pause = timing.values.touchModeRepeat
        switch error {
        case .status where isTouchModeUncertain:
            refusals += 1
            // The gear may take only the mode that it has.
            if refusals > 1, let other = unansweredTouchMode, other != requestedTouchMode {
                (requestedTouchMode, unansweredTouchMode) = (other, requestedTouchMode)
            }
            for _ in 1..<min(refusals, Self.mostDoublings) { pause *= 2 }
        case .status: requestedTouchMode = touchMode
        case .timeout, .writeFailed, .malformedResponse: (isTouchModeUncertain, unansweredTouchMode) = (true, mode)
        // Nothing was sent.
        default: break
        }
        if isTouchModeUncertain { touchModeDue = now + pause }
    }

    /// The pause before a refused request is repeated doubles so often.
    private static let mostDoublings = 8

    /// Returns the touch mode whose request is to be repeated now, and its gear; nil if there is none.
    mutating func takeDueTouchMode(at now: Instant) -> (mode: TouchMode, gear: UInt32)? {
        guard let due = touchModeDue, due <= now, let component else { return nil }
        touchModeDue = nil
        return (requestedTouchMode, component.componentID)
    }

    private mutating func touchModeIsCertain() {
        isTouchModeUncertain = false
        unansweredTouchMode = nil
        refusals = 0
        touchModeDue = nil
    }

    /// Updates the touch mode from a value that gear sends in this mode only, in case the response to a change was
    /// lost.
    ///
    /// Values that arrive shortly after a confirmed change may still be of the previous mode and are ignored.
    ///
    /// - Returns: whether the mode changes.
    mutating func follow(_ mode: TouchMode, at now: Instant) -> Bool {
        guard mode != touchMode else { return false }
        if let touchModeConfirmedAt, now - touchModeConfirmedAt < timing.values.touchModeChange { return false }
        touchMode = mode
        touchModeConfirmedAt = nil
        if mode == requestedTouchMode { touchModeIsCertain() }
        return true
    }
}
