import Time

extension TagSession {
    /// The state of a session.
    enum State: Sendable {
        /// No connection is requested.
        case stopped
        /// Waiting for the next attempt. `after` is the error of the last one.
        case waiting(until: Instant, after: TagConnectionError)
        /// A link is being made.
        case linking(deadline: Instant)
        /// A bond is being made. The user may have to press the tag's button.
        case bonding(deadline: Instant)
        /// Service discovery is in progress.
        case discovering(deadline: Instant)
        /// Subscriptions are in progress. `confirmed` is the number of successful ones.
        case subscribing(deadline: Instant, confirmed: Int)
        /// Hello, begin, device information, configuration.
        case starting
        /// The tag accepts commands.
        case connected(since: Instant)
        /// The link is being disconnected.
        case closing(deadline: Instant, then: Ending)
    }

    /// What follows once the link is down.
    enum Ending: Sendable {
        /// Another attempt, after a pause.
        case retry(TagConnectionError, pause: Duration)
        /// A new connection: it was requested while the session was stopping.
        case restart
        /// The end: requested, or after an error that no retry can fix.
        case stop(TagConnectionError?)
    }
}
