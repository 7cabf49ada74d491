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
        var gear = AttachedGear.untold
        /// What the tag is; nil until it has told.
        var tag: Component?
        /// What the tag is called; nil unless it has told.
        var tagName: String?

        /// The first thing that is waited for; nil while there is none.
        var deadline: ContinuousClock.Instant? {
            earlier(earlier(requests.inFlight?.deadline, fragments.deadline), gear.deadline)
        }

        /// Read after every event: no array is made of them.
        private func earlier(
            _ one: ContinuousClock.Instant?, _ other: ContinuousClock.Instant?
        ) -> ContinuousClock.Instant? {
            guard let one, let other else { return one ?? other }
            return min(one, other)
        }
    }

    /// What the tag has told of its gear.
    enum AttachedGear: Sendable {
        /// Nothing yet.
        case untold
        /// Nothing yet, and if nothing comes until then, there is none.
        case expected(by: ContinuousClock.Instant)
        /// This, or that there is none.
        case told(Component?)

        var component: Component? {
            if case .told(let component) = self { component } else { nil }
        }

        var deadline: ContinuousClock.Instant? {
            if case .expected(let deadline) = self { deadline } else { nil }
        }

        /// Whether this component is attached now. Gear has a new number after each attachment.
        func isAttached(_ componentID: UInt32) -> Bool {
            component?.componentID == componentID
        }
    }
}
