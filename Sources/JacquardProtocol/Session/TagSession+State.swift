extension TagSession {
    enum State: Sendable {
        /// Nobody wants a connection.
        case stopped
        /// The next attempt begins then.
        case waiting(until: ContinuousClock.Instant)
        /// A link is being made.
        case linking(deadline: ContinuousClock.Instant)
        /// The service is being looked for.
        case discovering(deadline: ContinuousClock.Instant)
        /// Notifications are being switched on; so many are.
        case subscribing(deadline: ContinuousClock.Instant, confirmed: Int)
        /// Hello, begin, device information, configuration.
        case starting
        /// Commands reach the tag.
        case connected(since: ContinuousClock.Instant)
        /// The link is on its way down.
        case closing(deadline: ContinuousClock.Instant, then: Ending)
    }

    /// What comes after the link is down.
    enum Ending: Sendable {
        case retry(TagConnectionError)
        case stop(TagConnectionError?)
    }
}
