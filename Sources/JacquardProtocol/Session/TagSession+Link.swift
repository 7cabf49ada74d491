import Time

extension TagSession {
    /// What lives as long as one link.
    struct Link: Sendable {
        var properties: Properties = []
        /// Whether the command characteristic is written with response.
        var writesWithResponse = true
        /// 1 once hello had to be sent again: all later steps are so many higher.
        var extraSteps = 0
        var responses = Reassembler()
        var notifications = Reassembler()
        var requests = RequestQueue<Purpose>()
        var fragments = FragmentQueue()
        /// Bytes that a fragment may have; that of an MTU of 64 or more until the link's own is known.
        var fragmentLength = Fragment.maximumLength
        /// How many requests in a row have timed out since the tag sent its last value.
        var unanswered = 0
        /// When the tag is asked for its battery; nil before it is connected.
        var batteryDue: Instant?
        /// Whether the tag has sent its battery on this link.
        var isBatteryKnown = false
        /// What the gear reports, and when it confirmed that.
        var touchMode = (mode: TouchMode.gesture, confirmedAt: Instant?.none)
        var gear = AttachedGear.untold
        /// What the tag is; nil until it has told.
        var tag: Component?
        /// What the tag is called; nil unless it has told.
        var tagName: String?

        /// The first thing that is waited for; nil while there is none.
        var deadline: Instant? {
            var deadline = requests.inFlight?.deadline
            deadline.lower(to: fragments.deadline)
            deadline.lower(to: gear.deadline)
            deadline.lower(to: batteryDue)
            return deadline
        }
    }

    /// What the tag has told of its gear.
    enum AttachedGear: Sendable {
        /// Nothing yet.
        case untold
        /// Nothing yet, and if nothing comes until then, there is none.
        case expected(by: Instant)
        /// This, or that there is none.
        case told(Component?)

        var component: Component? {
            if case .told(let component) = self { component } else { nil }
        }

        var deadline: Instant? {
            if case .expected(let deadline) = self { deadline } else { nil }
        }

        /// Whether this component is attached now. Gear has a new number after each attachment.
        func isAttached(_ componentID: UInt32) -> Bool {
            component?.componentID == componentID
        }
    }
}
