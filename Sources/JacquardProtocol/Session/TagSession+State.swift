import Time

extension TagSession {
    /// Where a session stands.
    enum State: Sendable {
        /// Nobody wants a connection.
        case stopped
        /// The next attempt begins then; why the last one failed.
        case waiting(until: Instant, after: TagConnectionError)
        /// A link is being made.
        case linking(deadline: Instant)
        /// A bond is being made; a person may have to press the tag's button.
        case bonding(deadline: Instant)
        /// The service is being looked for.
        case discovering(deadline: Instant)
        /// Notifications are being switched on; so many are.
        case subscribing(deadline: Instant, confirmed: Int)
        /// Hello, begin, device information, configuration.
        case starting
        /// Commands reach the tag.
        case connected(since: Instant)
        /// The link is on its way down.
        case closing(deadline: Instant, then: Ending)
    }

    /// What comes after the link is down.
    enum Ending: Sendable {
        /// Another attempt, after a pause.
        case retry(TagConnectionError, pause: Duration)
        /// A new beginning: somebody has changed his mind.
        case restart
        /// Nothing: asked for, or for the error not recoverable.
        case stop(TagConnectionError?)
    }
}
