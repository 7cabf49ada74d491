import Time

/// Plans repetitions of `G/state` at a node of a cluster.
///
/// A node may publish the will of a former connection after the bridge has published `online` at another node, and the
/// nodes may store the two messages in another order than the bridge receives them. So `online` is repeated some times
/// after each connection, and after each will that the bridge has received.
struct StateReminders: Sendable {
    private var begin: Instant?
    private var step = 0

    /// The times of the repetitions. A NATS cluster needs up to 12 s after the end of a node.
    static let times: [Duration] = [.seconds(2), .seconds(6), .seconds(15), .seconds(40)]

    /// When the next repetition is due; nil if there is none.
    var deadline: Instant? {
        begin.flatMap { Self.times.indices.contains(step) ? $0 + Self.times[step] : nil }
    }

    /// Plans all repetitions from now on, instead of the remaining ones.
    mutating func start(at now: Instant) {
        (begin, step) = (now, 0)
    }

    /// Plans none.
    mutating func stop() {
        begin = nil
    }

    /// - Returns: whether a repetition is due. Late ones are made once.
    mutating func takeDue(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        while let deadline = self.deadline, deadline <= now { step += 1 }
        return true
    }
}
