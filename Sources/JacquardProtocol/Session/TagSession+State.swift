extension TagSession {
    /// Where a session stands.
    enum State: Sendable {
        /// Nobody wants a connection.
        case stopped
        /// The next attempt begins then; why the last one failed.
        case waiting(until: ContinuousClock.Instant, after: TagConnectionError)
        /// A link is being made.
        case linking(deadline: ContinuousClock.Instant)
        /// A bond is being made; a person may have to press the tag's button.
        case bonding(deadline: ContinuousClock.Instant)
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
        /// Another attempt, after a pause.
        case retry(TagConnectionError, pause: Duration)
        /// A new beginning: somebody has changed his mind.
        case restart
        /// Nothing: asked for, or for the error not recoverable.
        case stop(TagConnectionError?)
    }
}
