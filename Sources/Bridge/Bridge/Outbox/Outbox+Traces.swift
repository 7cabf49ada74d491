public import Time

/// The traces of the gestures.
extension Outbox {
    /// The socket has accepted everything that was passed to the client.
    public mutating func written(at now: Instant) {
        traces.written(at: now)
    }

    /// Returns the traces of the latest gestures of a selection, oldest first.
    public func gestures(_ query: TraceQuery) -> [GestureTrace] { traces.latest(query) }

    /// The times from the notification of a gesture to its acknowledgement.
    public var gestureDurations: DurationHistogram { traces.durations }

    /// Ends the traces of the gestures that were dropped from the queue.
    mutating func traceDropped(at now: Instant) {
        for dropped in backlog.takeDroppedGestures() {
            traces.ended(dropped.gesture.number, dropped.outcome, at: now)
        }
    }
}
