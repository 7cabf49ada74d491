import Time

extension TagSession {
    /// The state of one link.
    struct Link: Sendable {
        var properties: Properties = []
        /// Whether the command characteristic is written with response.
        var writesWithResponse = true
        /// Offset of all later step numbers: 1 after hello had to be repeated.
        var extraSteps = 0
        var responses = Reassembler()
        var notifications = Reassembler()
        var requests = RequestQueue<Purpose>()
        var fragments = FragmentQueue()
        /// The maximum length of a fragment in bytes. Until the link's MTU is known, that of an MTU of 64.
        var fragmentLength = Fragment.maximumLength
        /// The number of requests that have timed out since the last value from the tag.
        var unanswered = 0
        /// When to request the battery status; nil before the tag is connected.
        var batteryDue: Instant?
        /// Whether the tag has sent its battery status on this link.
        var isBatteryKnown = false
        /// The touch mode of the gear, and when the gear confirmed it.
        var touchMode = (mode: TouchMode.gesture, confirmedAt: Instant?.none)
        var gear = AttachedGear.unknown
        /// The tag's device information; nil until it was received.
        var tag: Component?
        /// The tag's name; nil until it was received.
        var tagName: String?

        /// The earliest deadline; nil if there is none.
        var deadline: Instant? {
            var deadline = requests.inFlight?.deadline
            deadline.lower(to: fragments.deadline)
            deadline.lower(to: gear.deadline)
            deadline.lower(to: batteryDue)
            return deadline
        }
    }

    /// What is known about the tag's gear.
    enum AttachedGear: Sendable {
        /// Nothing.
        case unknown
        /// Nothing yet. Without a report by this time, no gear is attached.
        case expected(by: Instant)
        /// The attached gear; nil if there is none.
        case known(Component?)

        var component: Component? {
            if case .known(let component) = self { component } else { nil }
        }

        var deadline: Instant? {
            if case .expected(let deadline) = self { deadline } else { nil }
        }

        /// Whether this component is attached now. Gear gets a new component id each time it is attached.
        func isAttached(_ componentID: UInt32) -> Bool {
            component?.componentID == componentID
        }
    }
}
